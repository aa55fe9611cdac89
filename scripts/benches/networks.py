"""Graphs a second of a network of each graph convolution, and of the same in PyTorch Geometric.

  scripts/bench networks --logs DIR [--peer PYTHON] [--network gcn]

On windows of `data.features=relative`, which have features of edges: three layers of 64 (attention:
4 heads of 16), batch norms, means over the nodes, batches of 64. PYTHON trains the same networks on
the same graphs, as they are and compiled (benches/peers/networks.py)."""
import json
import pathlib
import tempfile

from benches.common import Figure, Setup, median, output

SETUP = Setup(needs=("logs",), pair=None)
PROGRAM = pathlib.Path(__file__).parent / "peers" / "networks.py"
EPOCHS, HEADS, WIDTH = 2, 4, 64
ATTENTION = ("gat", "gatv2", "transformer")
NETWORKS = ("gcn", "sage", "gin", "gine", "gat", "gatv2", "pna", "transformer")
FORMS = {"pyg": "PyTorch Geometric", "compiled": "compiled"}
SETTINGS = ("norm=batch", "pooling=mean", "layers=3", "fc_layers=2", "dropout=0.1", "lr=0.001",
            "batch_size=64", f"max_epochs={EPOCHS}", "optimize_batch_size=false",
            "monitor_metric=train_loss", "gradient_checkpointing=false")


def add_arguments(parser):
    parser.add_argument("--network", default="", choices=["", *NETWORKS], help="only this one")


def ours(build, store, conv, args):
    width, heads = (WIDTH // HEADS, HEADS) if conv in ATTENTION else (WIDTH, 1)
    answer = json.loads(build.kdgat(
        "run", "classifier", "--data", store, "--root", tempfile.mkdtemp(dir=build.scratch),
        "--json", f"conv={conv}", f"hidden={width}", f"heads={heads}", *SETTINGS,
        "--threads", args.threads))
    step = answer["steps"][-1]
    return step["result"]["metrics"]["graphs_per_second"], step["peak_resident_bytes"] / 2**20


def peer(store, conv, form, args):
    words = [PROGRAM, store, "--conv", conv, "--form", form, "--epochs", EPOCHS]
    return json.loads(output([*args.peer.words, *words], args.peer.env).splitlines()[-1])


def measure(build, args):
    store = build.once("store", lambda path: build.kdgat(
        "data", "import", args.logs, "-o", path, "features=relative"))
    for conv in NETWORKS:
        if args.network not in ("", conv):
            continue
        own, peers = [], {form: [] for form in FORMS}
        for run in range(args.repeat):
            own.append(ours(build, store, conv, args))
            if args.peer and run < args.peer_repeat:
                for form, answers in peers.items():
                    answers.append(peer(store, conv, form, args))
        for form, name in FORMS.items():
            yield Figure(f"{conv}: graphs/s, {name}", median(speed for speed, _ in own), "graphs/s",
                         peer=median(a["graphs"] / median(a["epoch_s"]) for a in peers[form]))
        yield Figure(f"{conv}: peak memory", median(memory for _, memory in own), "MiB", less=True,
                     peer=median(a["peak_rss_mb"] for a in peers["pyg"]))
