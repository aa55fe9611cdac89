"""One window, from its rows to a score, by the student's and the teacher's classifier and the detector.

  scripts/bench latency --logs DIR

The classifiers are those of one epoch: the time does not depend on the weights. The detector is a whole one, its
windows are those behind the beginning of the log, and the rule that it is held against is part of its time. What made
the score of a window is asked of flagged ones alone, beside that time."""
import pathlib

from benches.common import Failed, Figure, Setup, median

SETUP = Setup(needs=("logs",), targets=("kdgat_all", "kdgat_score_bench"), threads=1, pair=())


def add_arguments(parser):
    parser.add_argument("--size", default="", choices=["", "student", "teacher", "detector"], help="only this model")


def measure(build, args):
    logs = sorted(p for p in pathlib.Path(args.logs).glob("test_*/*"))
    if not logs:
        raise Failed("latency needs a folder test_... with a log")
    if args.size in ("", "detector"):
        model = build.detector(args.logs)
        runs = [build.json("kdgat_score_bench", model, logs[0], 2) for _ in range(args.repeat)]
        for share in ("p50", "p99"):
            yield Figure(f"detector, a window, {share}", median(r["window_us"][share] for r in runs), "us", less=True,
                         goal="goal 500 us" if share == "p99" else "")
        for part in ("text", "detector", "rule"):
            yield Figure(f"  of it {part}, p50", median(r[part + "_us"]["p50"] for r in runs), "us", less=True)
        for share in ("p50", "p99"):
            if all(r["flagged"] for r in runs):
                yield Figure(f"reasons of a flagged window, {share}", median(r["reasons_us"][share] for r in runs), "us", less=True,
                             goal="goal 20,000 us" if share == "p99" else "")
    for size in ("student", "teacher"):
        if args.size not in ("", size):
            continue
        root = build.networks(args.logs, size, "classifier", "--preset", f"gat,{size}")
        model = next(root.glob("*/*/classifier/model.safetensors"))
        runs = [build.json("kdgat_score_bench", model, logs[0], 2) for _ in range(args.repeat)]
        goal = {"p99": "goal 500 us" if size == "student" else ""}
        for share in ("p50", "p99"):
            yield Figure(f"{size} classifier, a window, {share}", median(r["window_us"][share] for r in runs), "us",
                         less=True, goal=goal.get(share, ""))
        for part in ("graph", "model"):
            yield Figure(f"  of it {part}, p50", median(r[part + "_us"]["p50"] for r in runs), "us", less=True)
