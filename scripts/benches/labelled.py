"""Seconds an epoch and peak memory of the network of labelled graphs.

  scripts/bench labelled --data DIR [--peer PYTHON]

DIR is a folder in the TUDataset layout. PYTHON has PyTorch and PyTorch Geometric; it trains the same network on all
graphs in three forms (benches/peers/labelled.py): PyTorch Geometric, flat tensors, and these compiled. Batches of 64."""
import json
import pathlib

from benches.common import Figure, Setup, median, output

SETUP = Setup(needs=("data",), pair=None)
PROGRAM = pathlib.Path(__file__).parent / "peers" / "labelled.py"
EPOCHS = 10
FORMS = {"pyg": "PyTorch Geometric", "flat": "flat tensors", "compiled": "flat tensors, compiled"}
GOALS = {"pyg": "goal 3x"}


def add_arguments(parser):
    parser.add_argument("--data", type=pathlib.Path, help="labelled graphs")


def ours(build, args):
    """Graphs a second, peak memory and parameters of one training."""
    answer = json.loads(build.kdgat(
        "run", "classifier", "--preset", "graphs", "--data", args.data.resolve(), "--root", build.scratch / "runs",
        f"max_epochs={EPOCHS}", "data.attributes=false", "data.split=random", "data.val_fraction=0.1",
        "optimize_batch_size=false", "--threads", args.threads, "--force", "--json"))
    step = next(step for step in answer["steps"] if step["step"] == "classifier")
    return step["result"]["metrics"]["graphs_per_second"], step["peak_resident_bytes"] / 2**20


def compared(measured, words, args, of="", goals=None):
    """Alternates `measured()`, of graphs a second and MiB, with the forms of the peer."""
    speeds, memory, peers = [], [], {form: [] for form in FORMS}
    for run in range(args.repeat):
        speed, resident = measured()
        speeds.append(speed)
        memory.append(resident)
        if args.peer and run < args.peer_repeat:
            for form, answers in peers.items():
                said = output([*args.peer.words, PROGRAM, *words, "--form", form], args.peer.env)
                answers.append(json.loads(said.splitlines()[-1]))
    for form, name in FORMS.items():
        yield Figure(f"{of}graphs/s, {name}", median(speeds), "graphs/s",
                     goal=(goals or {}).get(form, ""),
                     peer=median(a["graphs"] / median(a["epoch_s"]) for a in peers[form]))
    yield Figure(f"{of}peak memory", median(memory), "MiB", less=True,
                 peer=median(a["peak_rss_mb"] for a in peers["pyg"]))


def measure(build, args):
    words = [args.data.resolve(), "--epochs", EPOCHS]
    yield from compared(lambda: ours(build, args), words, args, goals=GOALS)
