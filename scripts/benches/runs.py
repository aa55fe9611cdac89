"""Thousands of runs, and of numbers of one run.

  scripts/bench runs

A short smoke run is copied --runs times (5,000): how long it takes to list all, and to plan another where the newest
has every step, where none has. Then a journal of --numbers numbers (100,000) in ten series: to a folder of MLflow, and
its curves in a report."""
import json
import os
import shutil

from benches.common import Figure, Setup, median

SETUP = Setup(threads=1)
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SMOKE = ["--preset", "smoke", "data.synth.seconds=20", "max_epochs=2"]


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--numbers", type=int, default=100_000)


def run_id(like, number):
    """An id of the same time, and later than `like`."""
    digits = ""
    for _ in range(6):
        digits = ALPHABET[number % 32] + digits
        number //= 32
    return like[:10] + "Z" + like[11:20] + digits


def copy_run(source, target):
    """JSON is copied, as each run has its own; what is large and never read here is linked."""
    for folder, _, files in os.walk(source):
        to = target / os.path.relpath(folder, source)
        to.mkdir(parents=True)
        for name in files:
            (shutil.copyfile if name.endswith(".json") else os.link)(os.path.join(folder, name), to / name)
    document = (target / "run.json").read_text()
    (target / "run.json").write_text(document.replace(source.name, target.name))


def write_long_journal(run, numbers):
    """The journal of the classifier as if it had trained for numbers/10 epochs, and a run that has nothing else."""
    step = run / "classifier"
    document = json.loads((run / "run.json").read_text())
    document["steps"] = [state for state in document["steps"] if state["step"] == "classifier"]
    (run / "run.json").write_text(json.dumps(document))
    names = ["train_loss", "val_loss", "val_auc", "val_f1", "lr", "a", "b", "c", "d", "e"]
    with open(step / "journal.jsonl", "w") as out:
        def say(unix, **event):
            out.write(json.dumps({**event, "unix": unix, "time": "2026-03-01T18:04:00Z"}) + "\n")

        say(1e9, event="start")
        for epoch in range(1, numbers // len(names) + 1):
            values = {name: (1 + i + (epoch * 7919 % 1000) / 1000) / epoch for i, name in enumerate(names)}
            say(1e9 + epoch, event="metrics", what="epoch", index=epoch, values=values)
        say(1e9 + numbers, event="end", code=0)


def measure(build, args):
    root = build.scratch / "runs"
    build.kdgat("run", *SMOKE, "--root", root, "--threads", args.threads, cwd=build.scratch)
    made = next(root.glob("*/*/run.json")).parent
    for number in range(1, args.runs):
        copy_run(made, made.parent / run_id(made.name, number))

    def milliseconds(*words):
        return 1e3 * median(build.seconds("kdgat", *words, "--root", root, cwd=build.scratch) for _ in range(args.repeat))

    count = f"{args.runs:,} runs, "
    yield Figure(count + "runs list", milliseconds("runs", "list"), "ms", less=True, goal="goal 500 ms")
    yield Figure(count + "run -n, kept", milliseconds("run", *SMOKE, "-n"), "ms", less=True, goal="goal 200 ms")
    yield Figure(count + "run -n, new", milliseconds("run", *SMOKE, "-n", "seed=7"), "ms", less=True, goal="goal 200 ms")

    alone = build.scratch / "long" / made.parent.name / made.name
    copy_run(made, alone)
    (alone / "classifier" / "journal.jsonl").unlink()  # it is a link
    write_long_journal(alone, args.numbers)
    times = []
    for i in range(args.repeat):
        (alone / "mlflow.json").unlink(missing_ok=True)
        times.append(build.seconds("kdgat", "sync", alone, "--to", build.scratch / f"mlruns{i}", cwd=build.scratch))
    yield Figure(f"{args.numbers:,} numbers to a folder of MLflow", median(times), "s", less=True, goal="goal 10 s")
    page = build.scratch / "report.html"
    seconds = median(build.seconds("kdgat", "report", alone, "-o", page, cwd=build.scratch) for _ in range(args.repeat))
    yield Figure("report of them", seconds, "s", less=True)
    yield Figure("  its page", page.stat().st_size / 1024, "KiB", less=True)
