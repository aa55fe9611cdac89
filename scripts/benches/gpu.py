"""What only a CUDA device shows, as one table.

  scripts/bench gpu [PART ...] [--built] [--logs DIR] [--peer PYTHON]

Parts, each of which can run alone: correct (tests marked [gpu], the sanitizer's, losses on the card
and on the processor), limits (of the card; with --peer), speed (milliseconds of a step; with --peer
next to PyTorch), launches (kernels and operations that a step starts), start (seconds until a stage
trains), plan (against what was measured), fragmentation, pressure (another process holds most of
the card; with --peer), offload (of a teacher, and its cache) and trials (at once). PYTHON is one
with PyTorch for the card, for `pyg` rows with PyTorch Geometric. Without --logs, traffic is made up.

Builds build/cuda offline against the LibTorch found ($LIBTORCH_ROOT, else that of `python3 -c
"import torch"`); --built takes build/cuda as it is. Times are medians over epochs by the journal.
Without a device each line says so.

--device cpu runs the same on the processor, with the release build: that shows that this script
works, and no more."""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from benches import memory
from benches.common import PUBLISHED, ROOT, Build, Failed, Figure, Setup, epochs_of, median, output

SETUP = Setup(targets=(), head="", shared_options=False)
PEER = pathlib.Path(__file__).parent / "peers" / "card.py"
# Programs with tests that need a card.
TESTS = ("kdgat_engine_tests", "kdgat_cuda_engine_tests")
MODELS = (("classifier", "gat"), ("autoencoder", "vgae"))
SIZES = ("student", "teacher")
POLICIES = ("never", "auto", "every:5", "hygiene")
AT_ONCE = (1, 4, 16, 30)
STEPS = 1000


def add_arguments(parser):
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help=f"of {', '.join(name for name, *_ in PARTS)}; default all")
    parser.add_argument("--built", action="store_true", help="takes build/cuda as it is")
    parser.add_argument("--logs", default="", help="logs; without, synthetic traffic")
    parser.add_argument("--peer", default="", metavar="PYTHON", help="a Python with PyTorch for the card")
    parser.add_argument("--forms", default="flat,compiled,graph",
                        help="of the peer: flat, compiled, graph, pyg")
    parser.add_argument("--batches", default="512,4096", help="graphs of a step, for the part speed")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--combinations", type=int, default=12, help="plans that are compared, each in two modes")
    parser.add_argument("--epochs", type=int, default=8, help="of which the times are medians")
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
        text = subprocess.run(["nvidia-smi", "--query-gpu=name,memory.total,driver_version",
                               "--format=csv,noheader"], capture_output=True, text=True)
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


class Run:
    """A run of one stage: seconds until it trains and of each epoch, and what it says of memory."""

    def __init__(self, root, start):
        step = sorted(root.glob("*/*/*/memory.json"))[-1].parent
        said = json.loads((step / "memory.json").read_text())
        ends = [event["unix"] for event in epochs_of(step)]
        self.step = step
        self.planned, self.actual = said["planned"], said["actual"]
        self.first_epoch = ends[0] - start
        self.epochs = [b - a for a, b in zip(ends, ends[1:])]
        self.losses = [event["values"].get("train_loss") for event in epochs_of(step)]
        self.peaks = [event["values"]["memory"] for event in epochs_of(step)
                      if "memory" in event["values"]]

    def step_ms(self):
        return 1e3 * median(self.epochs) / max(1, self.planned["steps"])


class Bench:
    """What the lines share: the build, the data, the device."""

    def __init__(self, build, args):
        self.build, self.args = build, args
        self.python = args.peer.words

    def logs(self):
        """A folder of logs."""
        def synth(path):
            self.build.kdgat("data", "synth", "-o", path, "--seconds", self.args.seconds, "--vehicles", 2, "--attacks",
                             "dos,fuzzing")
        return pathlib.Path(self.args.logs) if self.args.logs else self.build.once("LOGS", synth)

    def store(self, name="STORE", *words):
        def fill(path):
            self.build.kdgat("data", "import", self.logs(), "-o", path, *PUBLISHED, *words)
        return self.build.once(name, fill)

    def whole(self):
        """All graphs that are not of the test are trained on, as the peer does."""
        return self.store("WHOLE", "val_fraction=0.0")

    def run(self, *words, device=None):
        root = pathlib.Path(tempfile.mkdtemp(dir=self.build.scratch))
        start = time.time()
        self.build.kdgat("run", *words, "--device", device or self.args.device, "--root", root, "-q")
        return Run(root, start)

    def training(self, stage, size, batch, *words, **kwargs):
        """A fixed batch, and nothing but training."""
        own = ["train_on=all"] if stage == "autoencoder" else []
        return self.run(stage, "--preset", size, "--data", self.whole(), f"batch_size={batch}", "optimize_batch_size=false",
                        "gradient_checkpointing=false", "monitor_metric=train_loss", "patience=1000", *own, *words, **kwargs)

    def peer(self, *words):
        return json.loads(output([*self.python, PEER, *words], os.environ).splitlines()[-1])


class Row:
    """A line of the table; `met`: whether its goal is, or None where it has none or was not measured."""

    def __init__(self, name, text, goal="", met=None):
        self.name, self.text, self.goal, self.met = name, text, goal, met

    def line(self):
        met = "" if self.met is None or not self.goal else "yes" if self.met else "NO"
        return f"| {self.name} | {self.text} | {self.goal} | {met} |"


def correct(bench):
    """Tests marked [gpu]; the sanitizers'; losses next to the processor's; two runs alike."""
    env = dict(bench.build.env, KDGAT_REQUIRE_GPU="1", PYTORCH_NO_CUDA_MEMORY_CACHING="1")
    on_cpu = bench.args.device == "cpu"
    for program in TESTS if not on_cpu else ():
        done = subprocess.run(bench.build.command(program, "[gpu]"), capture_output=True, text=True,
                              env=dict(bench.build.env, KDGAT_REQUIRE_GPU="1"), cwd=ROOT)
        last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "no tests"
        yield Row(f"tests marked [gpu] of {program}", last, "all, none skipped", done.returncode == 0)
    for tool, tests in (("memcheck", "[gpu]"), ("racecheck", "on a card sums and attention*")):
        if on_cpu or shutil.which("compute-sanitizer") is None:
            yield Row(tool, "no compute-sanitizer" if not on_cpu else "no device")
            continue
        done = subprocess.run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "9",
                               *bench.build.command("kdgat_cuda_engine_tests", tests)], capture_output=True, text=True,
                              env=env, cwd=ROOT)
        summary = [line.strip("= ") for line in done.stdout.splitlines() if "SUMMARY" in line]
        yield Row(f"{tool} of the kernels' tests", summary[-1].lower() if summary else "no summary", "0 errors",
                  done.returncode == 0)
    for stage, _ in MODELS:
        here, there, again = (bench.training(stage, "student", 512, "max_epochs=2", device=device)
                              for device in ("cpu", bench.args.device, bench.args.device))
        apart = max(abs(a / b - 1) for a, b in zip(here.losses, there.losses))
        yield Row(f"losses of 2 epochs on the card and the processor, {stage} student", f"{apart:.1e} apart", "at most 1e-4",
                  apart <= 1e-4)
        same = (there.step / "model.safetensors").read_bytes() == (again.step / "model.safetensors").read_bytes()
        yield Row(f"two runs of the {stage} student", "the same bits" if same else "different bits", "the same bits", same)


def limits(bench):
    said = bench.peer("limits")
    yield Row("PyTorch", said.pop("torch"))
    said.pop("card")
    for name, value in said.items():
        unit = next(unit for unit in ("gb_s", "tflop_s", "us") if name.endswith(unit))
        words = {"gb_s": "GB/s", "tflop_s": "TFLOP/s", "us": "us"}[unit]
        yield Row(name[:-len(unit)].strip("_").replace("_", " "), f"{value:,.0f} {words}")


def speed(bench):
    forms = [form for form in bench.args.forms.split(",") if form] if bench.python else []
    for stage, model in MODELS:
        for size in SIZES:
            for batch in map(int, bench.args.batches.split(",")):
                ours = bench.training(stage, size, batch, f"max_epochs={bench.args.epochs}").step_ms()
                texts, best = [f"{ours:.2f} ms"], None
                for form in forms:
                    try:
                        said = bench.peer(bench.whole(), "--model", model, "--size", size, "--form", form, "--batch-size", batch,
                                          "--epochs", bench.args.epochs)
                    except Failed as problem:
                        texts.append(f"{form}: failed, {str(problem).strip().splitlines()[-1][-60:]}")
                        continue
                    theirs = 1e3 * median(said["epoch_s"]) / said["steps"]
                    best = theirs if best is None else min(best, theirs)
                    texts.append(f"{form} {theirs:.2f} ms")
                yield Row(f"a step of the {stage} {size}, {batch:,} graphs", "; ".join(texts), "no slower than the best peer",
                          None if best is None else ours <= best)


def launches(bench):
    """Counted with the CPU in the place of a card, whose kernels do nothing."""
    for line in bench.build.output("kdgat_cuda_engine_tests", "[starts]").splitlines():
        if line.startswith("starts: "):
            _, model, text = line.split(": ")
            yield Row(f"a step of the {model} starts", text)


def start(bench):
    for stage, _ in MODELS:
        runs = [bench.training(stage, "student", 4096, "max_epochs=1") for _ in range(3)]
        yield Row(f"from the command to the end of the first epoch, {stage} student",
                  f"{median(run.first_epoch for run in runs):.2f} s", "at most 3 s", median(run.first_epoch for run in runs) <= 3)


def plan(bench):
    wanted = argparse.Namespace(logs=bench.logs(), pockets="", combinations=bench.args.combinations, device=bench.args.device,
                                threads=bench.args.threads)
    for mode in memory.MODES:
        rows = memory.planned_and_seen(bench.build, wanted, [mode])
        errors = [abs(memory.error_of(row)) for row in rows]
        low = sum(memory.error_of(row) < -row["margin"] for row in rows)
        yield Row(f"plan ({mode}) against what the allocator reserved, median error",
                  f"{median(errors):.1%} of {len(rows)}, worst {max(errors):.1%}", "at most 10 %", median(errors) <= 0.1)
        yield Row(f"plans ({mode}) too low by more than their margin", f"{low} of {len(rows)}", "0", low == 0)


def fragmentation(bench):
    for allocator in ("expandable_segments:True", "max_split_size_mb:128"):
        words = ["classifier", "--preset", "student", "--data", bench.store(), "patience=1000", "batch_size=256",
                 "optimize_batch_size=false", "--allocator", allocator]
        packs = max(1, bench.run(*words, "max_epochs=1").planned["packs"])
        peaks = bench.run(*words, f"max_epochs={STEPS // packs + 1}").peaks
        grown = peaks[-1]["peak_reserved"] / max(1, peaks[len(peaks) // 10]["peak_reserved"])
        yield Row(f"reserved memory after {STEPS} steps over that after {STEPS // 10}, `{allocator}`", f"{grown:.3f}",
                  "at most 1.05", grown <= 1.05)


@contextlib.contextmanager
def held(bench, size):
    """So many bytes of the card are another process's."""
    with subprocess.Popen([*bench.python, PEER, "hold", str(size)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as other:
        if not other.stdout.readline():
            raise Failed("gpu: the process that holds memory did not begin")
        try:
            yield
        finally:
            other.stdin.close()


def pressure(bench):
    free = output(["nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits"], os.environ)
    alone = bench.training("autoencoder", "teacher", 4096, "max_epochs=2")
    context = max(alone.planned["table"]["context"], 500 << 20)
    rest = int(1.15 * (alone.planned["predicted"] + context))
    # The process that holds has a context of its own.
    with held(bench, (int(free.split()[0]) << 20) - rest - context):
        for policy in POLICIES:
            name, goal = f"2 epochs with 1.15x the plan free, `cache_policy={policy}`", "ends well, the same loss"
            try:
                run = bench.training("autoencoder", "teacher", 4096, "max_epochs=2", f"cache_policy={policy}")
            except Failed as problem:
                yield Row(name, str(problem).strip().splitlines()[-1][-60:], goal, policy != "auto" and None)
                continue
            same = all(abs(a / b - 1) < 1e-4 for a, b in zip(run.losses, alone.losses))
            yield Row(name, f"{median(run.epochs):.3f} s an epoch, {run.actual.get('splits', 0)} splits, gave back "
                            f"{run.actual.get('releases', 0)} times", goal, same)
    limit = int(0.7 * (alone.actual["peak_reserved_bytes"] + (500 << 20)))
    run = bench.training("autoencoder", "teacher", 4096, "max_epochs=2", "--memory-limit", limit)
    peak = run.actual["peak_reserved_bytes"] + run.actual["context_bytes"]
    yield Row("the same with --memory-limit of 70 % of its need",
              f"{peak / 2**20:,.0f} MiB of {limit / 2**20:,.0f}, {run.actual.get('splits', 0)} splits", "kept", peak <= limit)


def offload(bench):
    teacher = bench.training("autoencoder", "teacher", 512, "max_epochs=1").step
    runs = {mode: bench.training("autoencoder", "student", 512, f"max_epochs={bench.args.epochs}", "use_kd=true",
                                 f"teacher_path={teacher}", f"teacher={mode}") for mode in ("resident", "offload", "cache")}
    for mode, run in runs.items():
        more = run.step_ms() / runs["resident"].step_ms() - 1
        less = (runs["resident"].actual["peak_tensor_bytes"] - run.actual["peak_tensor_bytes"]) / 2**20
        goal = {"resident": "", "offload": "at most +3 %", "cache": "at most 0 %"}[mode]
        yield Row(f"a step of a student, teacher={mode}", f"{run.step_ms():.2f} ms ({more:+.1%}), {less:,.0f} MiB less on the card",
                  goal, more <= {"resident": 1, "offload": 0.03, "cache": 0.0}[mode])


def trials(bench):
    for count in AT_ONCE:
        rates = ",".join(f"{1e-4 * (1 + trial):.4f}" for trial in range(max(AT_ONCE)))
        root = pathlib.Path(tempfile.mkdtemp(dir=bench.build.scratch))
        answer = json.loads(bench.build.kdgat(
            "tune", "classifier", "--preset", "student", "--data", bench.store(), f"lr=[{rates}]", "max_epochs=2",
            "--max-workers", count, "--device", bench.args.device, "--root", root, "--json"))
        again = sum(trial["attempts"] > 1 for trial in answer["trials"])
        yield Row(f"{len(answer['trials'])} trials, {count} at once", f"{3600 * len(answer['trials']) / answer['seconds']:,.0f} "
                  f"trials/hour; {again} out of memory", "0 out of memory", again == 0)


# A part, what makes its rows, and whether it needs --peer.
PARTS = (("correct", correct, False), ("limits", limits, True), ("speed", speed, False),
         ("launches", launches, False), ("start", start, False),
         ("plan", plan, False), ("fragmentation", fragmentation, False), ("pressure", pressure, True),
         ("offload", offload, False), ("trials", trials, False))


def measure(build, args):
    names = [name for name, *_ in PARTS]
    if unknown := [part for part in args.parts if part not in names]:
        raise Failed(f"gpu: {unknown[0]} is no part; parts are {', '.join(names)}", code=2)
    root = find_libtorch() if args.device == "cuda" and not args.built else None
    name = card() if args.device == "cuda" else "the processor, to try this script"
    lacking = None
    if name is None:
        lacking = "no device"
    elif args.device == "cuda" and root is None and not args.built:
        lacking = "no LibTorch with CUDA (set LIBTORCH_ROOT)"
    yield f"{name or 'no CUDA device here'}, {time.strftime('%Y-%m-%d')}"
    if lacking is None and args.device == "cuda":
        build = Build(ROOT / "build" / "cuda", args.threads or os.cpu_count(), build.scratch)
        yield "build/cuda as it was" if args.built else make(build.folder, root)
    yield "\n| measured | value | goal | met |\n|---|---|---|---|"
    bench, problems = Bench(build, args), []
    for part, rows, needs_peer in PARTS:
        if args.parts and part not in args.parts:
            continue
        if lacking is not None or (needs_peer and not args.peer):
            yield Row(part, lacking or "no --peer").line()
            continue
        try:
            for row in rows(bench):
                yield Figure(row.name, float(row.met is False), "missed", less=True, shown=False,
                             missed=row.met is False and row.goal != "")
                yield row.line()
        except (Failed, KeyError, ValueError, IndexError, StopIteration, OSError) as problem:
            yield Figure(part, 1.0, "missed", less=True, shown=False, missed=True)
            yield Row(part, "failed, see below", "ends well", False).line()
            problems.append(f"{part}: {type(problem).__name__}: {problem}")
    yield from ("\n" + problem for problem in problems)
