"""Thousands of runs, and of numbers of one run.

  scripts/bench runs

A short smoke run is copied --runs times (10,000), each with a learning rate and a loss of its own, every tenth with a
name and a tag: how long it takes to list all, without an index and with one, to list those that a filter lets through,
to lay them out and to export them, and to plan another where the newest has every step, where none has. The files of the
runs are in the system's cache, as after any look at them. Then a journal of --numbers numbers (100,000) in ten series: to a folder of MLflow, and
its curves in a report."""
import json
import os
import shutil
import time

from benches.common import Figure, Setup, median

SETUP = Setup(threads=1)
LEARNING_RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01)
YOUNG_SECONDS = 2.5  # what is younger is not kept in an index
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SMOKE = ["--preset", "smoke", "data.synth.seconds=20", "max_epochs=2"]


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=10_000)
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


def vary(run, number):
    """A learning rate, a loss and, of every tenth, labels of its own; and none of its files written a moment ago."""
    config, figures = run / "classifier" / "config.json", run / "classifier" / "figures.json"
    document = json.loads(config.read_text())
    document["options"]["lr"] = LEARNING_RATES[number % len(LEARNING_RATES)]
    config.write_text(json.dumps(document))
    document = json.loads(figures.read_text())
    for figure in document["figures"]:
        if figure["name"] == "val_loss":
            figure["value"] = 1 / (1 + number)
    figures.write_text(json.dumps(document))
    if number % 10 == 0:
        labels = {"name": f"trial {number}", "tags": ["tenth"], "notes": []}
        (run / "labels.json").write_text(json.dumps(labels))


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
        vary(made.parent / run_id(made.name, number), number)
    time.sleep(YOUNG_SECONDS)
    cache = build.scratch / "cache"
    os.environ["XDG_CACHE_HOME"] = str(cache)

    def milliseconds(*words):
        return 1e3 * median(build.seconds("kdgat", *words, "--root", root, cwd=build.scratch) for _ in range(args.repeat))

    count = f"{args.runs:,} runs, "

    def without_index(*words):
        times = []
        for _ in range(args.repeat):
            shutil.rmtree(cache, ignore_errors=True)
            times.append(build.seconds("kdgat", *words, "--root", root, cwd=build.scratch))
        return 1e3 * median(times)

    def listed(name, *words):
        took = milliseconds("runs", *words)
        return Figure(count + name, took, "ms", less=True, goal="goal 500 ms")

    yield Figure(count + "list, no index", without_index("runs", "list"), "ms", less=True)
    yield listed("runs list", "list")
    yield listed("--dataset", "list", "--dataset", made.parent.name)
    yield listed("--tag", "list", "--tag", "tenth")
    yield listed("--name", "list", "--name", "trial 10")
    by_value = ("runs", "list", "--where", "classifier.lr<0.001")
    yield Figure(count + "--where, no index", without_index(*by_value), "ms", less=True)
    yield listed("--where an option", *by_value[1:])
    yield listed("--where a figure", "list", "--where", "classifier.val_loss<0.001")
    yield listed("pivot", "pivot", "rows=classifier.lr", "cols=dataset", "value=classifier.val_loss")
    yield listed("export", "export")
    size = sum(file.stat().st_size for file in (cache / "kdgat/runs").iterdir())
    yield Figure("  the index", size / 2**20, "MiB", less=True)
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
