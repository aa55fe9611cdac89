"""What the measurements share: programs of a build, a peer beside them, logs and medians.

A measurement is a module of this folder with a docstring (its first line is its line in the list of
`scripts/bench --help`), a SETUP, `measure(build, args)` and, for options of its own, `add_arguments(parser)`.
`measure` is a generator of figures and of texts to be printed as they stand; it knows nothing of printing."""
import dataclasses
import gzip
import json
import os
import pathlib
import platform
import shlex
import shutil
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRESET = os.environ.get("KDGAT_BENCH_PRESET", "release")
PUBLISHED = ["split=random", "deduplicate=false", "chunk_rows=5000"]
# stage, peer's model, size, goals: epoch and memory against the best peer's
TRAININGS = (("autoencoder", "vgae", "student", 7, 2.5), ("autoencoder", "vgae", "teacher", 4.3, 3),
             ("classifier", "gat", "student", 4.5, 2.5), ("classifier", "gat", "teacher", 3.2, 3))


class Failed(Exception):
    """A program ended badly, or the input is not what a measurement needs; `code` is what to end with."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


@dataclasses.dataclass(frozen=True)
class Setup:
    """What is to be done before a measurement."""
    needs: tuple = ()  # options of which one must be given
    targets: tuple = ("kdgat_all",)  # what is built; nothing where the measurement builds
    threads: int = 0  # of each program, unless --threads says; 0 = every core
    head: str = "figures"  # above it: "figures" (machine, names of columns), "machine", or "" (it has its own)
    pair: tuple | None = None  # `compare` takes it, with these options to be short
    shared_options: bool = True  # takes --logs, --peer, --repeat, ...


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str
    value: float
    unit: str
    less: bool = False  # less is better
    peer: float = 0  # the peer's value; 0 = not measured
    goal: str = ""
    shown: bool = True  # as a row; not where a text shows it already
    grain: float = 0  # two values that are no further apart are equal
    missed: bool = False  # so far from its goal that the command fails

    def row(self):
        ratio = "        -"
        if self.peer:
            ratio = f"{self.peer / self.value if self.less else self.value / self.peer:8.1f}x"
        peer = f"{self.peer:14,.1f}" if self.peer else "             -"
        return f"{self.name:<34}{self.value:14,.1f} {peer} {ratio}  {self.unit:<10} {self.goal}"


HEAD_OF_ROWS = f"{'':<34}{'kdgat':>14} {'peer':>14} {'ratio':>9}"


def median(values):
    """0 of none, as of a peer that was not asked for."""
    values = list(values)
    return statistics.median(values) if values else 0


def median_of(key, runs):
    return median(run[key] for run in runs)


def cpu_seconds(pid):
    """What a process has used of the processor."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processor():
    with open("/proc/cpuinfo") as info:
        names = [line for line in info if line.startswith("model name")]
    return names[0].split(":")[1].strip() if names else platform.machine()


def machine(threads):
    return f"machine: {processor()}, {os.cpu_count()} cores, {threads} threads each"


def environment(threads):
    return dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))


def output(command, env, **kwargs):
    try:
        done = subprocess.run([str(word) for word in command], env=env, capture_output=True,
                              text=True, **kwargs)
    except FileNotFoundError:
        raise Failed(f"{command[0]} does not exist: run scripts/build in its checkout") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


class Build:
    """The programs of a build folder, run with so many threads each; `scratch` lasts as long as the build."""

    def __init__(self, folder, threads, scratch):
        self.folder, self.env, self.scratch = pathlib.Path(folder), environment(threads), pathlib.Path(scratch)

    def command(self, program, *words):
        return [str(self.folder / program), *map(str, words)]

    def output(self, program, *words, **kwargs):
        return output(self.command(program, *words), self.env, **kwargs)

    def kdgat(self, *words, **kwargs):
        return self.output("kdgat", *words, **kwargs)

    def json(self, program, *words):
        return json.loads(self.output(program, *words))

    def seconds(self, program, *words, **kwargs):
        start = time.perf_counter()
        self.output(program, *words, **kwargs)
        return time.perf_counter() - start

    def once(self, name, make):
        """The file or folder `name` of the scratch folder, made by `make(path)` the first time."""
        path = self.scratch / name
        if not path.exists():
            make(path)
        return path

    def trained(self, name, words, logs, *options):
        """The folder of what `kdgat run` with these words makes of the logs, on one thread."""
        return self.once(name, lambda path: self.kdgat(
            "run", *words, "--data", logs, "--root", path, *options, "--threads", 1))

    def detector(self, logs, preset="detector"):
        """The detector that a preset learns."""
        folder = self.trained(preset, ["--preset", preset], logs, "baselines=false",
                              "take_supported=true")
        return next(folder.glob("*/*/detector/detector.json"))

    def networks(self, logs, name, *words):
        """The folder of networks that were trained for one epoch."""
        return self.trained(name, words, logs, "max_epochs=1", "data.split=random")

    def training_logs(self, logs):
        """Plain CSV of the training folders, so that kdgat and the peer read the same."""
        return self.once("logs", lambda target: plain_copy(logs, target))


class Peer:
    """The program beside which kdgat is measured; false without one."""

    def __init__(self, command, threads):
        self.words, self.env = shlex.split(command), environment(threads)

    def __bool__(self):
        return bool(self.words)

    def answer(self, *words):
        """The JSON object on the last line of what it prints."""
        return json.loads(output([*self.words, *words], self.env).splitlines()[-1])


def plain_copy(logs, target):
    """Without the test folders."""
    for path in sorted(pathlib.Path(logs).rglob("*.csv*")):
        inside = path.relative_to(logs)
        if inside.parts[0].startswith("test_"):
            continue
        out = target / inside.with_suffix("" if path.suffix == ".gz" else path.suffix)
        out.parent.mkdir(parents=True, exist_ok=True)
        with (gzip.open(path) if path.suffix == ".gz" else open(path, "rb")) as source, open(out, "wb") as sink:
            shutil.copyfileobj(source, sink)


def epochs_of(step):
    """The ends of epochs in the journal of a step's folder, as it wrote them."""
    events = map(json.loads, (step / "journal.jsonl").read_text().splitlines())
    return [event for event in events if event.get("what") == "epoch"]
