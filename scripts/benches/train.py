"""Seconds an epoch and peak memory of the detector's trainings.

  scripts/bench train --logs DIR --peer "PYTHON kdgat_pyg.py"
"""
import json
import tempfile

from benches.common import PUBLISHED, TRAININGS, Figure, Setup, median

SETUP = Setup(needs=("logs",), pair=("--size", "student"))


def add_arguments(parser):
    parser.add_argument("--size", default="", choices=["", "student", "teacher"], help="only models of this size")


def measure(build, args):
    # With the test folders, so that all of the training folders is trained on, as by the peer.
    store = build.once("store", lambda path: build.kdgat("data", "import", args.logs, "-o", path, *PUBLISHED,
                                                         "val_fraction=0.0"))
    graphs = build.scratch / "graphs.pt"
    if args.peer:
        args.peer.answer("preprocess", build.training_logs(args.logs), "-o", graphs)
    for stage, model, size, goal, memory_goal in TRAININGS:
        if args.size not in ("", size):
            continue
        seconds, memory, peers = [], [], []
        for run in range(args.repeat):
            answer = json.loads(build.kdgat(
                "run", stage, "--preset", size, "--data", store, "--root", tempfile.mkdtemp(dir=build.scratch),
                f"max_epochs={3 if size == 'student' else 2}", "batch_size=512", "optimize_batch_size=false",
                "monitor_metric=train_loss", "gradient_checkpointing=false", "--threads", args.threads, "--force", "--json",
                *(["train_on=all"] if stage == "autoencoder" else [])))
            step = answer["steps"][-1]
            metrics = step["result"]["metrics"]
            seconds.append(metrics["train_graphs"] / metrics["graphs_per_second"])
            memory.append(step["peak_resident_bytes"] / 2**20)
            if args.peer and run < args.peer_repeat:
                peers.append(args.peer.answer("train", graphs, "-m", model, "-s", size, "-b", 512, "-e", 2))
        name = f"{stage} {size}"
        yield Figure(f"{name}, epoch", median(seconds), "s", less=True,
                     peer=median(min(p["epoch_s"]) for p in peers), goal=f"goal {goal}x")
        yield Figure(f"{name}, peak memory", median(memory), "MiB", less=True,
                     peer=median(p["peak_rss_mb"] for p in peers), goal=f"goal {memory_goal}x")
