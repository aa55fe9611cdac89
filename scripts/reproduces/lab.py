"""Runs of the detector, each made once.

A run is known by its options, its data and the build: nothing that another build made is ever shown. What is finished
stays in the root; what was cut off begins anew."""
import collections
import concurrent.futures
import csv
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import typing

from reproduces.common import KDGAT, Failed


@dataclasses.dataclass(frozen=True)
class Data:
    """Logs in the published layout, which `make(lab, folder)` links or writes."""
    name: str
    make: typing.Callable = dataclasses.field(compare=False)
    sources: tuple  # the files that they are made of
    options: tuple = ()  # of their import, and whatever else they differ by
    keep: bool = True  # the store; else it goes when its runs are done


@dataclasses.dataclass(frozen=True)
class Run:
    data: Data
    name: str
    options: tuple = ()
    seed: int = 42
    threads: int = 1
    seconds: int = 15  # of one core, about
    profile: str = ""  # in the place of the preset detector, as YAML
    step: str = "detector"  # whose metrics count
    steps: tuple = ()  # several in its place: metrics by step, files in folders of their names
    files: tuple = ("detector.json", "windows.csv")  # of it, that are kept

    def key(self):
        """What it differs by from others of its data."""
        return self.options, self.seed, self.threads, self.profile, *self.steps


@dataclasses.dataclass(frozen=True)
class Result:
    metrics: dict
    seconds: float  # of the whole run, without the import
    folder: pathlib.Path

    def windows(self):
        """Of each log its windows that count, as windows.csv has them."""
        out = collections.defaultdict(list)
        with open(self.folder / "windows.csv") as lines:
            for row in csv.DictReader(lines):
                out[row["log"]].append(row)
        return out

    def of_step(self, step):
        """The same of one step, of a run that kept several."""
        return Result(self.metrics[step], self.seconds, self.folder / step)

    def model_bytes(self):
        return (self.folder / "detector.json").stat().st_size


def hash_of(*parts):
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def build_id(kdgat=KDGAT):
    """Of the program, its plugins and its libraries."""
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest()
              for path in [kdgat, *sorted(kdgat.parent.glob("plugins/*.so")), *sorted(kdgat.parent.glob("lib/*.so"))]]
    return hash_of(hashes)


def put(made, folder):
    """Complete or not at all; another process may have made the same."""
    try:
        made.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


class Lab:
    def __init__(self, root, jobs, say, kdgat=KDGAT):
        self.root, self.jobs, self.say, self.program = root.resolve() / build_id(kdgat), jobs, say, kdgat
        self.guard, self.locks = threading.Lock(), collections.defaultdict(threading.Lock)
        # The program takes every KDGAT_ for an option of its own.
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("KDGAT_")}
        for name in ("stores", "runs"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for left in self.root.glob("scratch-*"):  # of one that was killed
            if not pathlib.Path("/proc", left.name.split("-")[1]).exists():
                shutil.rmtree(left, ignore_errors=True)

    def kdgat(self, *words):
        return self.kdgat_said(*words)[0]

    def kdgat_said(self, *words):
        """What it writes on standard output and on standard error."""
        done = subprocess.run([str(self.program), *map(str, words)], env=self.env,
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"kdgat {' '.join(map(str, words))} ended with {done.returncode}\n"
                         f"{done.stderr[-3000:]}")
        return done.stdout, done.stderr

    def scratch(self):
        return tempfile.TemporaryDirectory(dir=self.root, prefix=f"scratch-{os.getpid()}-")

    def data_key(self, data):
        stats = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in map(pathlib.Path, data.sources)]
        return hash_of(data.name, data.options, stats)

    def store(self, data):
        """The folder of its imported store."""
        folder = self.root / "stores" / f"{data.name}-{self.data_key(data)}"
        with self.guard:
            lock = self.locks[folder]
        with lock:
            if not folder.is_dir():
                with self.scratch() as scratch:
                    logs, made = pathlib.Path(scratch) / "logs", pathlib.Path(scratch) / "store"
                    data.make(self, logs)
                    options = [option for option in data.options if "=" in option]
                    if not any(option.startswith("features=") for option in options):
                        options.append("features=v3")
                    self.kdgat("data", "import", logs, "-o", made, *options)
                    put(made, folder)
        return folder

    def folder_of(self, run):
        return self.root / "runs" / f"{run.name}-{hash_of(self.data_key(run.data), *run.key())}"

    def is_done(self, run):
        return self.folder_of(run).is_dir()

    def result(self, run):
        """Of a run that is done."""
        folder = self.folder_of(run)
        record = json.loads((folder / "result.json").read_text())
        return Result(record["metrics"], record["seconds"], folder)

    def make(self, run):
        if self.is_done(run):
            return
        store, start = self.store(run.data), time.monotonic()
        with self.scratch() as scratch:
            made = pathlib.Path(scratch) / "result"
            made.mkdir()
            profile = pathlib.Path(scratch) / "profile.yaml"
            profile.write_text(run.profile)
            out = json.loads(self.kdgat("run", *([profile] if run.profile else ["--preset", "detector"]), "--data", store,
                                        "--seed", run.seed, "--threads", run.threads, "--root", pathlib.Path(scratch) / "runs", "--json",
                                        *run.options))
            seconds = time.monotonic() - start
            metrics = {step["step"]: step["result"]["metrics"] for step in out["steps"]}
            for step in run.steps or [run.step]:
                kept = made / step if run.steps else made
                kept.mkdir(exist_ok=True)
                for name in run.files:
                    file = pathlib.Path(out["folder"]) / step / name
                    if file.exists() or not run.steps:
                        shutil.copyfile(file, kept / name)
            if not run.steps:
                metrics = metrics[run.step]
            (made / "result.json").write_text(json.dumps({"metrics": metrics, "seconds": seconds}))
            put(made, self.folder_of(run))
        self.say(f"{run.name}, seed {run.seed}: {seconds:.0f} s")

    def print_budget(self, runs, more=0):
        """Prints how long these runs take from nothing, and `more` minutes; returns the minutes."""
        minutes = sum(run.seconds for run in runs) / self.jobs / 60 + more
        print(f"{len(runs)} runs, {self.jobs} at a time: about {minutes:.0f} minutes from nothing; "
              f"{sum(map(self.is_done, runs))} are done and kept in {self.root}", flush=True)
        return minutes

    def make_all(self, runs):
        """Those not done, so many at a time; a store that is not kept goes with its last run."""
        waiting = [run for run in dict.fromkeys(runs) if not self.is_done(run)]
        left = collections.Counter(run.data for run in waiting)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures = {pool.submit(self.make, run): run for run in waiting}
            try:
                for done in concurrent.futures.as_completed(futures):
                    done.result()
                    data = futures[done].data
                    left[data] -= 1
                    if left[data] == 0 and not data.keep:
                        shutil.rmtree(self.store(data))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
