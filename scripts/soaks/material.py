"""What several parts need: a detector of two made-up vehicles with logs, made once; commands that may not hang."""
import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time

SECONDS = 600  # of a command; one that takes longer hangs


@dataclasses.dataclass(frozen=True)
class Ended:
    """A command that has ended; `code` is below 0 where a signal ended it, and None where it hung and was killed."""
    code: int | None
    out: str
    err: str
    mib: float
    seconds: float

    def said(self):
        return (self.err.strip().splitlines() or [""])[0][:160]


def has_open(pid, path):
    """Whether a process has opened a file, which it then waits for."""
    for fd in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
        try:
            if os.readlink(fd) == str(path):
                return True
        except OSError:
            pass  # it was closed meanwhile
    return False


def command(options, words, folder, ulimit_kib=None, waits_for=None, **variables):
    """`ulimit_kib`: of virtual memory, as ulimit -v takes it. The command is interrupted once it
    has opened `waits_for`."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if ulimit_kib:
            resource.setrlimit(resource.RLIMIT_AS, (ulimit_kib * 1024,) * 2)

    environment = {**os.environ, "XDG_CACHE_HOME": str(options.scratch / "cache"), **variables}
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([options.kdgat, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=err, preexec_fn=limit, start_new_session=True)
        ended, is_told = 0, waits_for is None
        while not ended:
            time.sleep(0.01)
            if not is_told and has_open(child.pid, waits_for):
                os.kill(child.pid, signal.SIGINT)
                is_told = True
            ended, status, used = os.wait4(child.pid, os.WNOHANG)
            if not ended and time.monotonic() - begin > SECONDS:
                os.killpg(child.pid, signal.SIGKILL)
                ended, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="surrogateescape"))
    seconds = time.monotonic() - begin
    return Ended(None if seconds > SECONDS else child.returncode, *texts, used.ru_maxrss / 1024, seconds)


@dataclasses.dataclass(frozen=True)
class Material:
    folder: pathlib.Path
    detector: pathlib.Path
    benign: pathlib.Path  # a log of a vehicle that the detector knows
    attacked: pathlib.Path  # one with an attack of the id 000


def material(options):
    """Made by the first part that asks."""
    folder = options.scratch.parent / "material"
    logs, model = folder / "logs", folder / "mine"
    if not model.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for words in (("data", "synth", "-o", "logs", "--seconds", "40", "--vehicles", "2", "--attacks", "dos"),
                      ("fit", "logs", "-o", "mine", "--threads", "1", "trees=40", "baselines=false",
                       "take_supported=true")):
            done = command(options, words, folder)
            if done.code != 0:
                raise RuntimeError(f"kdgat {' '.join(words)}: {done.code} {done.err}")
    return Material(folder, model / "detector.json", next(logs.glob("train_01*/*vehicle1.csv")),
                    next(logs.glob("test_01*/dos-*1.csv")))


def row(part, case, good, outcome="", figure=""):
    return {"part": part, "case": case, "good": bool(good), "outcome": outcome, "figure": figure}
