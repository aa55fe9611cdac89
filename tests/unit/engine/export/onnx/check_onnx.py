"""Checks ONNX files with ONNX's own checker, and what ONNX Runtime makes of them. check_onnx.py FOLDER...

A folder holds *.onnx, and as case_*.safetensors batches: the inputs x, edge_index, edge_attr and batch, and `raw` and
`expected`, the raw score and the score of each graph. Files that know an input "edge_attr" are given it. Prints as JSON how many scores were compared,
in how many cases, the largest difference (of log-odds above 1 in parts of them), and how far scores lie apart; ends with 1 where a file is not accepted or is not what it should be."""
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from safetensors.numpy import load_file

PLACES = {"x": ["nodes", None], "edge_index": [2, "edges"], "edge_attr": ["edges", None], "batch": ["nodes"],
          "logits": ["graphs", 2], "score": ["graphs"]}


def problems_of(file):
    """What is wrong with the file itself."""
    onnx.checker.check_model(str(file), full_check=True)
    model = onnx.load(file)
    wrong = []
    opset = int(file.stem.split("opset")[1])
    if [(o.domain, o.version) for o in model.opset_import] != [("", opset)]:
        wrong.append(f"operators of {model.opset_import}")
    if model.producer_name != "kdgat" or not model.producer_version:
        wrong.append(f"made by {model.producer_name} {model.producer_version}")
    for value in [*model.graph.input, *model.graph.output]:
        shape = [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]
        wanted = [b if w is None else w for b, w in zip(shape, PLACES[value.name])]
        if shape != wanted or not value.doc_string:
            wrong.append(f"{value.name}: shape {shape}, doc {value.doc_string!r}")
    facts = {entry.key: entry.value for entry in model.metadata_props}
    if set(facts) < {"kind", "hash", "vocabulary_size"} or len(facts["hash"]) != 32:
        wrong.append(f"metadata {facts}")
    names = {value.name for value in model.graph.output}
    if names != ({"logits", "score"} if facts["kind"] == "classifier" else {"score"}):
        wrong.append(f"outputs {names}")
    return [f"{file}: {w}" for w in wrong]


def main(folders):
    wrong, worst, compared, cases, seen = [], 0.0, 0, 0, []
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    for file in sorted(f for folder in folders for f in pathlib.Path(folder).glob("*.onnx")):
        wrong += problems_of(file)
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        inputs = [i.name for i in session.get_inputs()]
        for case in sorted(file.parent.glob("case_*.safetensors")):
            arrays = load_file(case)
            out = dict(zip([o.name for o in session.get_outputs()], session.run(None, {n: arrays[n] for n in inputs})))
            score, expected = out["score"], arrays["expected"]
            if score.shape != expected.shape:
                wrong.append(f"{file}, {case.name}: scores {score.shape}, expected {expected.shape}")
                continue
            difference = float(np.abs(score - expected).max(initial=0))
            if "logits" in out:
                odds, raw = out["logits"][:, 1] - out["logits"][:, 0], arrays["raw"]
                difference = max(difference, float((np.abs(odds - raw) / np.maximum(np.abs(raw), 1)).max(initial=0)))
            if not np.isfinite(score).all() or not np.isfinite(difference):
                wrong.append(f"{file}, {case.name}: scores {score}")
            seen += list(score)
            if difference > worst:
                worst = difference
                print(f"{file.parent.name}/{file.name}, {case.name}: {difference:.3g}", file=sys.stderr)
            compared += len(score)
            cases += 1
    print(json.dumps({"cases": cases, "scores": compared, "worst": worst, "spread": float(np.std(seen))}))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
