"""What only a CUDA device shows, as one table in about ten minutes.

  scripts/bench gpu [--logs DIR] [--peer PYTHON] [--minutes 10]

Builds build/cuda offline against the LibTorch found ($LIBTORCH_ROOT, else that of `python3 -c "import torch"`), then
fills a table of Markdown, for docs/performance.md: tests marked [gpu], plans of memory against the measured peak (with
--logs), a teacher offloaded and cached, cache policies when the process may have 1.15x the plan, reserved over allocated
memory in 1,000 steps, epochs beside PyTorch Geometric (with --peer, a Python that has it), 30 trials at once, and a run
under --memory-limit 8GiB. Without a device each line says so. Lines that --minutes leave no time for say that.

--device cpu runs the same on the processor, with the release build: that shows that this script works, and no more."""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from benches import memory
from benches.common import ROOT, Build, Failed, Figure, Setup, epochs_of, median, output

SETUP = Setup(targets=(), head="", shared_options=False)
PEER = pathlib.Path(__file__).parent / "peers" / "labelled.py"
# Programs with tests that need a card.
TESTS = ("kdgat_engine_tests", "kdgat_cuda_engine_tests")
POLICIES = ("never", "auto", "every:5", "hygiene")
TRIALS = 30
STEPS = 1000
GRAPHS, WIDTH, BATCH, EPOCHS = 4000, 128, 256, 5  # beside the peer


def add_arguments(parser):
    parser.add_argument("--logs", default="", help="logs; without, synthetic traffic")
    parser.add_argument("--data", dest="logs", default=argparse.SUPPRESS, help="the same")
    parser.add_argument("--peer", default="", metavar="PYTHON", help="a Python with PyTorch Geometric")
    parser.add_argument("--minutes", type=float, default=10, help="no line begins later")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--combinations", type=int, default=12, help="plans that are compared, each in two modes")
    parser.add_argument("--seconds", type=int, default=600, help="of synthetic traffic")
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


class Bench:
    """What the lines share: the build, the data, the device."""

    def __init__(self, build, args):
        self.build, self.args = build, args
        self.data = ["--data", args.logs] if args.logs else [f"data.synth.seconds={args.seconds}"]

    def run(self, *words):
        """A run of one stage on the device; its seconds, what its memory.json says, and its epochs."""
        root = pathlib.Path(tempfile.mkdtemp(dir=self.build.scratch))
        start = time.perf_counter()
        self.build.kdgat("run", *words, "--device", self.args.device, "--root", root, "-q")
        seconds = time.perf_counter() - start
        step = sorted(root.glob("*/*/*/memory.json"))[-1].parent
        return seconds, json.loads((step / "memory.json").read_text()), epochs_of(step)


class Cell:
    """A value of the table; `met`: whether its goal is, or None where it has none or was not measured."""

    def __init__(self, text, met=None):
        self.text, self.met = text, met


def tests(bench):
    if bench.args.device == "cpu":
        return [Cell("no device")]
    failed, said = False, []
    for program in TESTS:
        done = subprocess.run(bench.build.command(program, "[gpu]"), capture_output=True, text=True)
        failed |= done.returncode != 0
        said.append(done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "no tests")
    return [Cell("; ".join(said), not failed)]


def plans(bench):
    if not bench.args.logs:
        return [Cell("no --logs")] * 2
    wanted = argparse.Namespace(logs=bench.args.logs, pockets="", combinations=bench.args.combinations,
                                device=bench.args.device, threads=bench.args.threads)
    rows = memory.planned_and_seen(bench.build, wanted, ["measured"])
    errors = [abs(memory.error_of(row)) for row in rows]
    low = sum(memory.error_of(row) < -row["margin"] for row in rows)
    return [Cell(f"{median(errors):.1%} of {len(rows)}, worst {max(errors):.1%}", median(errors) <= 0.03),
            Cell(f"{low} of {len(rows)}", low == 0)]


def teachers(bench):
    root = bench.build.scratch / "teacher"
    bench.build.kdgat("run", "autoencoder", "--preset", "vgae,teacher", *bench.data, "max_epochs=1", "--device",
                      bench.args.device, "--root", root, "-q")
    teacher = next(root.glob("*/*/autoencoder"))
    seconds = {mode: median(bench.run("autoencoder", "--preset", "vgae,student", *bench.data, "max_epochs=5",
                                      "--use-kd", "true", "--teacher-path", teacher, f"teacher={mode}")[0]
                            for _ in range(3)) for mode in ("resident", "offload", "cache")}
    more = {mode: of / seconds["resident"] - 1 for mode, of in seconds.items()}
    return [Cell(f"{more['offload']:+.1%}", more["offload"] <= 0.03), Cell(f"{more['cache']:+.1%}", more["cache"] <= 0)]


def policies(bench):
    base = ["autoencoder", "--preset", "vgae,teacher", *bench.data, "max_epochs=5"]
    planned = bench.run(*base, "max_epochs=1")[1]["planned"]
    context = planned.get("table", {}).get("context", 500 << 20)
    limit = int(1.15 * (planned["predicted"] + context))
    cells = []
    for policy in POLICIES:
        try:
            seconds, said, _ = bench.run(*base, f"cache_policy={policy}", "--memory-limit", limit)
            cells.append(Cell(f"{seconds:.1f} s, gave back {said['actual'].get('releases', 0)} times", True))
        except Failed as problem:
            cells.append(Cell(str(problem).splitlines()[0][-60:], policy != "auto"))
    return cells


def soak(bench):
    words = ["classifier", "--preset", "gat,student", *bench.data, "patience=1000", "batch_size=256",
             "optimize_batch_size=false"]
    first = bench.run(*words, "max_epochs=1")[1]
    packs = max(1, first["planned"].get("packs", 1))
    _, _, epochs = bench.run(*words, f"max_epochs={STEPS // packs + 1}")
    seen = [epoch["values"]["memory"] for epoch in epochs[1:] if "memory" in epoch["values"]]
    worst = max(m["peak_reserved"] / max(1, m["peak_allocated"]) for m in seen)
    return [Cell(f"{worst:.3f} over {packs * len(epochs)} steps", worst <= 1.05)]


def write_graphs(folder, count):
    """Random graphs of 20 to 40 nodes in the TUDataset layout; a graph is of the class 1 if it has the more edges."""
    draw = random.Random(1)
    folder.mkdir()
    files = {what: open(folder / f"{folder.name}_{what}.txt", "w")
             for what in ("A", "graph_indicator", "node_labels", "graph_labels")}
    node = 0
    for graph in range(1, count + 1):
        size, dense = draw.randint(20, 40), graph % 2
        for _ in range(size):
            files["graph_indicator"].write(f"{graph}\n")
            files["node_labels"].write(f"{draw.randrange(4)}\n")
        for _ in range(size * (2 + dense)):
            a, b = node + draw.randint(1, size), node + draw.randint(1, size)
            files["A"].write(f"{a}, {b}\n{b}, {a}\n")
        files["graph_labels"].write(f"{dense}\n")
        node += size
    for file in files.values():
        file.close()
    return folder


def epochs(bench):
    if not bench.args.peer:
        return [Cell("no --peer")]
    graphs = bench.build.once("GRAPHS", lambda folder: write_graphs(folder, GRAPHS))
    answer = json.loads(bench.build.kdgat(
        "run", "classifier", "--preset", "graphs", "--data", graphs, "--root", bench.build.scratch / "graphs_runs",
        f"max_epochs={EPOCHS + 1}", f"hidden={WIDTH}", f"batch_size={BATCH}", "optimize_batch_size=false",
        "data.split=random", "data.val_fraction=0.1", "gradient_checkpointing=false", "--device", bench.args.device, "--json"))
    ours = answer["steps"][-1]["result"]["metrics"]["graphs_per_second"]
    peer = json.loads(output([bench.args.peer, PEER, graphs, "--form", "pyg", "--epochs", EPOCHS, "--hidden", WIDTH,
                              "--batch-size", BATCH, "--device", bench.args.device], bench.build.env).splitlines()[-1])
    theirs = peer["graphs"] / median(peer["epoch_s"])
    return [Cell(f"{ours / theirs:.1f}x ({ours:,.0f} graphs/s against {theirs:,.0f})", ours >= 2 * theirs)]


def trials(bench):
    rates = ",".join(f"{1e-4 * (1 + trial):.4f}" for trial in range(TRIALS))
    answer = json.loads(bench.build.kdgat(
        "tune", "classifier", "--preset", "gat,student", *bench.data, f"lr=[{rates}]", "max_epochs=2", "--max-workers", TRIALS,
        "--device", bench.args.device, "--root", bench.build.scratch / "trials", "--json"))
    again = sum(trial["attempts"] > 1 for trial in answer["trials"])
    return [Cell(f"{again} of {len(answer['trials'])}, {answer['at_once']} at once, {answer['seconds']:.0f} s", again == 0)]


def limited(bench):
    limit = 8 << 30
    _, said, _ = bench.run("autoencoder", "--preset", "vgae,teacher", *bench.data, "max_epochs=2", "--memory-limit", "8GiB")
    peak = said["actual"]["peak_reserved_bytes"] + said["actual"].get("context_bytes", 0)
    return [Cell(f"{peak / 2**30:.2f} GiB at most", peak <= limit)]


# A part, and its lines: what is measured, and the goal.
PARTS = (
    (tests, (("tests marked [gpu]", "pass"),)),
    (plans, (("plan against measured peak, median error", "at most 3 %"), ("plans too low by more than their margin", "0"))),
    (teachers, (("a teacher offloaded, against one that stays", "at most +3 %"),
                ("a teacher's answers cached, likewise", "at most 0 %"))),
    (policies, tuple((f"5 epochs with 1.15x the plan, `cache_policy={policy}`", "ends well" if policy == "auto" else "")
                     for policy in POLICIES)),
    (soak, ((f"reserved over allocated in {STEPS} steps", "at most 1.05"),)),
    (epochs, (("an epoch, against PyTorch Geometric", "2x"),)),
    (trials, ((f"out of memory in {TRIALS} trials at once", "0"),)),
    (limited, (("a teacher under `--memory-limit 8GiB`", "at most 8 GiB"),)),
)


def rows_of(lines, cells):
    for (name, goal), cell in zip(lines, cells, strict=True):
        met = "" if cell.met is None or not goal else "yes" if cell.met else "NO"
        yield f"| {name} | {cell.text} | {goal} | {met} |"


def measure(build, args):
    root = find_libtorch() if args.device == "cuda" else None
    name = card() if args.device == "cuda" else "the processor, to try this script"
    lacking = None
    if name is None:
        lacking = "no device"
    elif args.device == "cuda" and root is None:
        lacking = "no LibTorch with CUDA (set LIBTORCH_ROOT)"
    yield f"{name or 'no CUDA device here'}, {time.strftime('%Y-%m-%d')}"
    if lacking is None and args.device == "cuda":
        build = Build(ROOT / "build" / "cuda", args.threads, build.scratch)
        yield make(build.folder, root)
    yield "\n| measured | value | goal | met |\n|---|---|---|---|"
    bench, problems, began = Bench(build, args), [], time.perf_counter()
    for part, lines in PARTS:
        if lacking is not None:
            cells = [Cell(lacking)] * len(lines)
        elif time.perf_counter() - began > 60 * args.minutes:
            cells = [Cell(f"left out: {args.minutes:g} minutes are over")] * len(lines)
        else:
            try:
                cells = part(bench)
            except (Failed, KeyError, ValueError, IndexError, StopIteration) as problem:
                cells = [Cell("failed, see below", False)] * len(lines)
                problems.append(f"{lines[0][0]}: {type(problem).__name__}: {problem}")
        for (line, goal), cell in zip(lines, cells):
            yield Figure(line, float(cell.met is False and goal != ""), "missed", less=True, shown=False,
                         missed=cell.met is False and goal != "")
        yield from rows_of(lines, cells)
    yield from ("\n" + problem for problem in problems)
