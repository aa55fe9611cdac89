#!/usr/bin/env python3
"""Turns a published PyTorch checkpoint into a model file of kdgat, for teacher_path, evaluate and score.

  convert_checkpoint.py best_model.pt --store DATA -o teacher.safetensors [--config config.json]

best_model.pt: a state dict of GATWithJK or GraphAutoencoderNeighborhood (or of kdgat's own names), alone,
or inside a checkpoint under "state_dict". DATA: the imported data set (kdgat data import) the model was
trained on; its vocabulary and features are written into the model file. config.json stands beside the
checkpoint unless named: heads and dropout cannot be read off the weights. Needs torch, numpy, safetensors
and xxhash; everything that cannot be mapped is named, and then nothing is written."""
import argparse
import json
import pathlib
import re
import sys

PUBLISHED = {
    "gat": [(r"id_embedding\.", "input.embedding."), (r"fc_layers\.", "head.")],
    "vgae": [(r"id_embedding\.", "input.embedding."), (r"encoder_layers\.(\d+)\.", r"encoder.\1.conv."),
             (r"encoder_bns\.(\d+)\.", r"encoder.\1.norm."), (r"z_mean\.", "mean."), (r"z_logvar\.", "logvar."),
             (r"decoder_bns\.0\.", "decoder.norm."), (r"canid_classifier\.", "ids."),
             (r"neighborhood_decoder\.", "neighbours.")],
}


def fail(*problems):
    for problem in problems:
        print("error: " + problem, file=sys.stderr)
    sys.exit(2)


def read_state(path):
    """The tensors of a PyTorch file, without running what it may hold."""
    import torch
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # of many kinds, all of which mean: not a plain state dict
        fail(f"{path}: not a plain state dict: {str(error).splitlines()[0]}")
    state = state.get("state_dict", state) if isinstance(state, dict) else {}
    for prefix in ("model.", "student."):  # as Lightning modules keep the network
        if state and all(name.startswith(prefix) for name in state if not name.startswith("teacher.")):
            state = {name[len(prefix):]: value for name, value in state.items() if name.startswith(prefix)}
    if not state or not all(isinstance(value, torch.Tensor) for value in state.values()):
        fail(f"{path}: holds no state dict of tensors")
    return state


def kind_of(state):
    if any(name.startswith(("z_mean.", "mean.", "canid_classifier.")) for name in state):
        return "vgae"
    if any(name.startswith("convs.") for name in state):
        return "gat"
    fail("neither GATWithJK nor GraphAutoencoderNeighborhood: there are " + ", ".join(sorted(state)[:5]) + ", ...")


def renamed(state, kind):
    """kdgat's names; problems of those that have none."""
    layers = [int(m.group(1)) for m in (re.match(r"decoder_layers\.(\d+)\.", name) for name in state) if m]
    last = max(layers, default=0)
    out, problems = {}, []
    if layers and last != 1:
        problems.append(f"the decoder has {last + 1} layers, kdgat's has 2 (hidden_dims of three entries)")
    for name, value in state.items():
        if kind == "vgae" and name.startswith("decoder_layers."):
            own = re.sub(r"decoder_layers\.\d+\.", "output." if f"s.{last}." in name else "decoder.conv.", name)
        else:
            own = name
            for pattern, replacement in PUBLISHED[kind]:
                own = re.sub("^" + pattern, replacement, own)
        own = own.replace(".lin_src.weight", ".lin.weight")  # of older versions of PyTorch Geometric
        if own.endswith(".lin_dst.weight"):
            continue  # shared with lin_src
        if own in out:
            problems.append(f"{name}: a second tensor for {own}")
        out[own] = value
    return out, problems


def setting(config, kind, name, default):
    """`name` of a flat (gat_heads), nested (gat.heads) or plain (heads) configuration."""
    nested = config.get(kind)
    if isinstance(nested, dict) and name in nested:
        return nested[name]
    for key in (f"{kind}_{name}", name):
        if key in config:
            return config[key]
    return default


def make_config(state, kind, config, num_ids, node_features):
    embedding = state["input.embedding.weight"].shape[1]
    out = {"num_ids": num_ids, "node_features": node_features, "embedding_dim": embedding}
    if kind == "gat":
        _, heads, hidden = state["convs.0.att_src"].shape
        out |= {"hidden": hidden, "heads": heads, "dropout": setting(config, kind, "dropout", 0.2),
                "layers": len({name.split(".")[1] for name in state if name.startswith("convs.")}),
                "fc_layers": len([name for name in state if re.match(r"head\.\d+\.weight", name)])}
    else:
        latent = state["mean.weight"].shape[0]
        count = len({name.split(".")[1] for name in state if name.startswith("encoder.")})
        widths = [state[f"encoder.{i}.norm.weight"].shape[0] for i in range(count)]
        out |= {"hidden_dims": widths + [latent], "latent_dim": latent,
                "heads": state["encoder.0.conv.att_src"].shape[1],
                "dropout": setting(config, kind, "dropout", 0.15)}
    return {name: (float(value) if name == "dropout" else value) for name, value in out.items()}


def layout_of(store):
    """What a model file says of its graphs, from the header of a graph store."""
    from safetensors import safe_open
    path = store / "graphs.safetensors" if store.is_dir() else store
    with safe_open(path, "np") as file:
        metadata = file.metadata()
        vocabulary = [int(raw) for raw in file.get_tensor("vocabulary")]
    return {"node_features": json.loads(metadata["node_feature_names"]),
            "edge_features": json.loads(metadata["edge_feature_names"]),
            "vocabulary": vocabulary, "import": json.loads(metadata["options"])}


def save_model(path, state, metadata):
    """A safetensors file with the hashes by which kdgat knows that nothing was altered; whole or absent."""
    import xxhash
    from safetensors.torch import save
    raw = save({name: value.contiguous() for name, value in state.items()})
    length = int.from_bytes(raw[:8], "little")
    header, body = json.loads(raw[8:8 + length]), raw[8 + length:]
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        metadata["hash." + name] = xxhash.xxh3_128_hexdigest(body[begin:end])
    header["__metadata__"] = metadata
    dump = lambda: json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    metadata["hash.header"] = xxhash.xxh3_128_hexdigest(dump())
    text = dump()
    text += b" " * (-(8 + len(text)) % 64)
    unfinished = path.with_name(f".{path.name}.tmp")
    unfinished.write_bytes(len(text).to_bytes(8, "little") + text + body)
    unfinished.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("--store", type=pathlib.Path, required=True, help="imported data set, or its graphs.safetensors")
    parser.add_argument("--config", type=pathlib.Path, help="frozen configuration (default: beside the checkpoint)")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    args = parser.parse_args()
    for path in (args.checkpoint, args.store):
        if not path.exists():
            fail(f"{path}: there is no such file or folder")
    config_file = args.config or args.checkpoint.parent / "config.json"
    if not config_file.exists():
        fail(f"{config_file}: the frozen configuration is missing; name it with --config")
    config = json.loads(config_file.read_text())

    state = read_state(args.checkpoint)
    kind = kind_of(state)
    state, problems = renamed(state, kind)
    data = layout_of(args.store)
    num_ids, node_features = len(data["vocabulary"]) + 1, len(data["node_features"])
    if problems:
        fail(*problems)
    try:
        frozen = make_config(state, kind, config, num_ids, node_features)
    except KeyError as error:
        fail(f"{args.checkpoint}: no tensor for {error.args[0]}; there are " + ", ".join(sorted(state)))
    if len(state["input.embedding.weight"]) != num_ids:
        fail(f"{args.checkpoint}: an embedding of {len(state['input.embedding.weight'])} ids, the data set has "
             f"{num_ids} (with that of unknown ids): import the data as the model was trained (data.split=random "
             "data.deduplicate=false data.chunk_rows=5000)")
    heads = setting(config, kind, "heads", frozen["heads"])
    if heads != frozen["heads"]:
        fail(f"{config_file}: {heads} heads, the weights have {frozen['heads']}")
    unknown = [name for name in state if not re.match(
        r"(input\.embedding|convs\.\d+|head\.\d+|encoder\.\d+\.(conv|norm)|mean|logvar|ids|decoder\.(conv|norm)|output|"
        r"neighbours\.\d+)\.", name)]
    if unknown:
        fail(*[f"{name} is no part of a {kind} model" for name in sorted(unknown)])

    save_model(args.output, state, {"model": kind, "config": json.dumps(frozen), "data": json.dumps(data)})
    print(f"{args.output}: {kind}, {sum(value.numel() for value in state.values()):,} numbers in {len(state)} tensors, "
          f"{num_ids} ids")


if __name__ == "__main__":
    main()
