"""Graphs a second and peak memory of networks on windows relative to their vehicle.

  scripts/bench relative --logs DIR [--peer PYTHON] [--network student|teacher]

The student, which reads no edges, and the teacher of profiles/kdgat_relative.yaml. PYTHON trains
the same networks on the same graphs in three forms (benches/peers/labelled.py). Batches of 256."""
import json
import tempfile

from benches.common import Setup
from benches.labelled import compared

SETUP = Setup(needs=("logs",), pair=None)
EPOCHS = 2
NETWORKS = {"student": {"conv": "none", "hidden": 32, "layers": 2},
            "teacher": {"conv": "gin", "hidden": 96, "layers": 3}}
SAME = {"pooling": "max", "dropout": 0.1, "lr": 0.01, "batch_size": 256}
OURS = ("norm=batch", "monotone=true", "fc_layers=2", f"max_epochs={EPOCHS}",
        "optimize_batch_size=false", "monitor_metric=train_loss", "gradient_checkpointing=false")


def add_arguments(parser):
    parser.add_argument("--network", default="", choices=["", *NETWORKS], help="only this one")


def ours(build, store, options, args):
    settings = [f"{name}={value}" for name, value in options.items()]
    answer = json.loads(build.kdgat(
        "run", "classifier", "--data", store, "--root", tempfile.mkdtemp(dir=build.scratch),
        "--json", *settings, *OURS, "--threads", args.threads))
    step = answer["steps"][-1]
    return step["result"]["metrics"]["graphs_per_second"], step["peak_resident_bytes"] / 2**20


def measure(build, args):
    store = build.once("store", lambda path: build.kdgat(
        "data", "import", args.logs, "-o", path, "features=relative"))
    for name, network in NETWORKS.items():
        if args.network not in ("", name):
            continue
        options = network | SAME
        words = [store, "--epochs", EPOCHS, "--monotone"]
        for option, value in options.items():
            words += ["--" + option.replace("_", "-"), value]
        yield from compared(lambda: ours(build, store, options, args), words, args, f"{name}: ")
