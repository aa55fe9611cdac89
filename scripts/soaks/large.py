"""`kdgat fit` on logs larger than the memory it is given: it finishes, and nobody is in anybody's way.

Traffic of so many seconds (34,000 are 2.1 GB of logs) is made once. Then, each in a folder of its own: one fit in a
memory control group of 1 GB; one whose processes are all killed at a moment that chance chooses, and which is then
started again with the same words; two at once on the same logs with the same place for runs and data. All have to end
with 0 and with the same detector, byte by byte.

run(options) reads of `options`: kdgat (the program), scratch (an empty folder), seed and seconds (of traffic)."""
import hashlib
import os
import random
import shutil
import signal
import subprocess
import time

from soaks.cgroup import MemoryGroup, NoGroup
from soaks.material import row

LIMIT = 10**9
WORDS = ("--budget", "100/h", "threads=1")
STARTS = 4  # after a kill, at most


def _command(options, out):
    return [str(options.kdgat), "fit", str(options.scratch / "logs"), "-o", out, *WORDS]


def _start(options, folder, out="model"):
    folder.mkdir(exist_ok=True)
    return subprocess.Popen(_command(options, out), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def _detector(folder, out="model"):
    """Hash of what the fit left."""
    found = list((folder / out).rglob("detector.json"))
    return hashlib.sha256(found[0].read_bytes()).hexdigest() if found else "none"


def _said(codes):
    return ", ".join(f"exit code {code}" for code in codes)


def _limited(options, folder):
    folder.mkdir()
    with MemoryGroup(LIMIT) as group:
        code, said, peak = group.run(_command(options, "model"), cwd=folder)
        kills = group.kills()
    last = (said.strip().splitlines() or [""])[-1]
    outcome = "finished" if code == 0 else f"exit code {code}: {last[:100]}"
    return row("large", "in 1 GB of memory", code == 0 and kills == 0, outcome,
               f"peak {peak / 1e6:.0f} MB, {kills} kills")


def _killed(options, folder, seconds):
    moment = random.Random(options.seed).uniform(0.1, 0.9) * seconds
    first = _start(options, folder)
    try:
        first.wait(timeout=moment)
        was_killed = False
    except subprocess.TimeoutExpired:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        was_killed = True
    codes = []
    while len(codes) < STARTS and (not codes or codes[-1] != 0):
        codes.append(_start(options, folder).wait())
    case = f"killed after {moment:.0f} s" if was_killed else "over before it could be killed"
    return row("large", case, codes[-1] == 0, "then " + _said(codes))


def _two(options, folder):
    both = [_start(options, folder, name) for name in ("one", "other")]
    codes = [process.wait() for process in both]
    return row("large", "two at once", codes == [0, 0], _said(codes))


def run(options):
    """A row for each of the three, and one that compares what they left."""
    logs = options.scratch / "logs"
    subprocess.run([options.kdgat, "data", "synth", "-o", logs, "--seconds", str(options.seconds), "--vehicles", "2",
                    "--attacks", "dos,fuzzing"], check=True, stdout=subprocess.DEVNULL)
    size = sum(path.stat().st_size for path in logs.rglob("*.csv"))
    folders = {name: options.scratch / name for name in ("limited", "killed", "two")}
    begin = time.monotonic()
    try:
        rows = [_limited(options, folders["limited"])]
    except NoGroup as problem:
        rows = [row("large", "in 1 GB of memory", True, f"skipped: {problem}; without a limit")]
        shutil.rmtree(folders["limited"], ignore_errors=True)
        _start(options, folders["limited"]).wait()
    rows[0]["figure"] += f"; {size / 1e6:.0f} MB of logs"
    rows.append(_killed(options, folders["killed"], time.monotonic() - begin))
    rows.append(_two(options, folders["two"]))
    found = {_detector(folders["limited"]), _detector(folders["killed"]), _detector(folders["two"], "one"),
             _detector(folders["two"], "other")}
    rows.append(row("large", "what they left", len(found) == 1 and "none" not in found,
                    "the same detector" if len(found) == 1 else f"{len(found)} detectors"))
    for folder in (logs, *folders.values()):
        shutil.rmtree(folder, ignore_errors=True)
    return rows
