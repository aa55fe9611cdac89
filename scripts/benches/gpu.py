"""What only a CUDA device shows, in one call of about ten minutes.

  scripts/bench gpu [--data DIR]

Builds build/cuda offline against the LibTorch found ($LIBTORCH_ROOT, else that of `python3 -c
"import torch"`), then runs
  tests tagged [gpu], where there are any
  the memory plan against the measured peak (scripts/bench memory on the device)
  the cost of offloading a teacher                                   goal <= 3 %
  cache policies with the process's share capped to 1.15x the plan   auto finishes wherever every:5 does,
                                                                     at <= 1 % of the time
  a soak of varying graphs: peak reserved / peak allocated of the last 20 epochs   goal <= 1.05
Without a device it says so and exits 0. Results go to standard output as Markdown, for
docs/performance.md."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from benches import memory
from benches.common import ROOT, Build, Failed, Figure, Setup, epochs_of, machine, median

SETUP = Setup(targets=(), head="", shared_options=False)


def add_arguments(parser):
    parser.add_argument("--data", default="", help="logs; without, synthetic traffic")
    parser.add_argument("--logs", dest="data", default=argparse.SUPPRESS, help="the same")
    parser.add_argument("--threads", type=int, default=0)


def find_libtorch():
    """A LibTorch with CUDA, or none."""
    candidates = [os.environ.get("LIBTORCH_ROOT", "")]
    found = subprocess.run([sys.executable, "-c", "import torch; print(torch.__path__[0])"],
                           capture_output=True, text=True)
    candidates.append(found.stdout.strip() if found.returncode == 0 else "")
    for root in filter(None, candidates):
        if (pathlib.Path(root) / "lib" / "libtorch_cuda.so").exists():
            return root
    return None


def card():
    try:
        text = subprocess.run(["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"],
                              capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return text.stdout.splitlines()[0].strip() if text.returncode == 0 and text.stdout.strip() else None


# Programs with tests that need a card.
TESTS = ("kdgat_engine_tests", "kdgat_cuda_engine_tests")


def make(folder, root):
    """Builds; what to say of it."""
    start = time.perf_counter()
    log = folder / "build.log"
    folder.mkdir(parents=True, exist_ok=True)
    with open(log, "w") as sink:
        for command in (["cmake", "--preset", "cuda", f"-DLIBTORCH_ROOT={root}"],
                        ["ninja", "-C", str(folder), "-j", str(os.cpu_count())]):
            if subprocess.run(command, cwd=ROOT, stdout=sink, stderr=sink).returncode != 0:
                raise Failed(f"gpu: {' '.join(command)} failed:\n" + log.read_text()[-3000:])
    return f"built against {root} in {time.perf_counter() - start:.0f} s"


class Run:
    """A run of one stage on the device, which may fail: `problem` says so."""

    def __init__(self, build, *words):
        root = pathlib.Path(tempfile.mkdtemp(dir=build.scratch))
        command = build.command("kdgat", "run", *words, "--device", "cuda", "--root", root, "-q")
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        self.seconds, self.code = time.perf_counter() - start, done.returncode
        self.memory = next((json.loads(path.read_text()) for path in root.glob("*/*/*/memory.json")), {})
        self.epochs = [event["values"] for path in root.glob("*/*/*/journal.jsonl") for event in epochs_of(path.parent)]
        self.problem = []
        if self.code != 0:
            self.problem = [f"  {' '.join(command[1:])}\n  ended with {self.code}: {done.stderr.strip()[-400:]}"]


def offload(build, data):
    yield "\n## A teacher, offloaded\n\n| teacher | seconds | against resident |\n|---|---|---|"
    root = build.scratch / "teacher"
    build.kdgat("run", "autoencoder", "--preset", "vgae,teacher", *data, "max_epochs=1", "--device", "cuda",
                "--root", root, "-q")
    teacher = next(root.glob("*/*/autoencoder"))
    base = ["autoencoder", "--preset", "vgae,student", *data, "max_epochs=5", "--use-kd", "true", "--teacher-path", teacher]
    times = {}
    for mode in ("resident", "offload", "cache"):
        runs = [Run(build, *base, f"teacher={mode}") for _ in range(3)]
        for run in runs:
            yield from run.problem
        times[mode] = median(run.seconds for run in runs)
    for mode, seconds in times.items():
        yield Figure(f"a teacher, {mode}", seconds, "s", less=True, shown=False)
        yield f"| {mode} | {seconds:.1f} | {seconds / times['resident'] - 1:+.1%} |"
    yield "\ngoal: offload at most +3 %, cache below 0"


def policies(build, data):
    yield "\n## Cache policies at 1.15x the plan\n\n| policy | ends with | seconds | releases |\n|---|---|---|---|"
    base = ["autoencoder", "--preset", "vgae,teacher", *data, "max_epochs=5"]
    first = Run(build, *base, "max_epochs=1")
    yield from first.problem
    planned = first.memory.get("planned", {})
    limit = int(1.15 * (planned.get("predicted", 1 << 30) + planned.get("table", {}).get("context", 500 << 20)))
    for policy in ("never", "auto", "every:5", "hygiene"):
        run = Run(build, *base, f"cache_policy={policy}", "--memory-limit", limit)
        yield from run.problem
        yield Figure(f"cache policy {policy}", run.seconds, "s", less=True, shown=False)
        yield f"| {policy} | {run.code} | {run.seconds:.1f} | {run.memory.get('actual', {}).get('releases', '-')} |"


def soak(build, data):
    run = Run(build, "classifier", "--preset", "gat,student", *data, "max_epochs=200", "patience=200", "batch_size=256")
    yield from run.problem
    last = [e["memory"] for e in run.epochs[-20:] if "memory" in e]
    if not last:
        yield "\nsoak: no epochs were recorded"
        return
    worst = max(m["peak_reserved"] / max(1, m["peak_allocated"]) for m in last)
    yield Figure("soak, peak reserved / peak allocated", worst, "", less=True, shown=False)
    yield (f"\nsoak: {len(run.epochs)} epochs in {run.seconds:.0f} s, exit {run.code}; peak reserved / peak allocated of the "
           f"last {len(last)}: {worst:.3f} (goal 1.05)")


def plan(build, args):
    """The memory measurement on the device; what goes wrong in it is said, and the others go on."""
    yield machine(args.threads)
    try:
        yield from memory.measure(build, argparse.Namespace(logs=args.data, combinations=64, device="cuda",
                                                            threads=args.threads))
    except Failed as problem:
        yield f"  {problem}"


def measure(build, args):
    name, root = card(), find_libtorch()
    if name is None or root is None:
        yield ("bench gpu: " + ("no CUDA device here" if name is None else "no LibTorch with CUDA here (set LIBTORCH_ROOT)") +
               ": nothing was measured; the figures of the CPU stand (scripts/bench memory)")
        return
    yield f"# {name}"
    build = Build(ROOT / "build" / "cuda", args.threads, build.scratch)
    yield make(build.folder, root)
    data = ["--data", args.data] if args.data else []
    for program in TESTS:
        tests = subprocess.run(build.command(program, "[gpu]"), capture_output=True, text=True)
        yield f"{program}: " + (tests.stdout.strip().splitlines()[-1] if tests.stdout.strip() else "no tests")
    if args.data:
        yield from plan(build, args)
    for part in (offload, policies, soak):
        yield from part(build, data)
