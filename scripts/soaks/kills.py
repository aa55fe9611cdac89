"""SIGKILL at any moment of a run: the next run with the same words ends as if nothing had happened.

Killed are the program alone, a stage's process alone, and all processes at once, in turn, after a part of an undisturbed
run's time that chance chooses. Then the same command is given until it ends with 0; the weights of its models must be
those of an undisturbed run, byte by byte.

run(options) reads of `options`: kdgat (the program), scratch (an empty folder), seed and kills (how many)."""
import hashlib
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import time

from soaks.material import row

WORDS = ("run", "--preset", "smoke", "max_epochs=12", "data.synth.seconds=40", "--threads", "1")
WHO = ("the program", "a stage", "all processes")
STARTS = 4  # of the command after a kill, at most
SECONDS = 300


def _weights(root):
    """Step -> hash of the tensors of its model; the header of a file names its run and is left out."""
    out = {}
    for path in sorted(root.glob("*/*/*/model.safetensors")):
        content = path.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        out[path.parent.name] = hashlib.sha256(content[8 + length:]).hexdigest()
    return out


class Command:
    """The command in a session of its own, with records below a folder."""

    def __init__(self, options, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.log = open(folder / "said", "ab")
        self.process = subprocess.Popen(
            [options.kdgat, *WORDS, "--root", folder / "runs"], stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, cwd=folder, env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
            start_new_session=True)

    def ends(self):
        """The exit code."""
        code = self.process.wait(timeout=SECONDS)
        self.log.close()
        return code

    def members(self):
        """Other processes of its session, in the order of their numbers."""
        out = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue  # it has just ended
            if int(fields[3]) == self.process.pid and fields[0] != "Z":
                out.append(int(stat.parent.name))
        return sorted(pid for pid in out if pid != self.process.pid)

    def kill(self, who):
        """Returns whether somebody was there to be killed."""
        others = self.members()
        victims = {"the program": [self.process.pid], "a stage": others[:1],
                   "all processes": [*others, self.process.pid]}[who]
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return bool(victims)


def run(options):
    """A row for each kind of victim."""
    chance = random.Random(options.seed)
    undisturbed = options.scratch / "undisturbed"
    begin = time.monotonic()
    if (code := Command(options, undisturbed).ends()) != 0:
        return [row("kills", "undisturbed", False, f"exit code {code}")]
    seconds, expected = time.monotonic() - begin, _weights(undisturbed / "runs")
    tried, problems = dict.fromkeys(WHO, 0), {who: [] for who in WHO}
    for number in range(options.kills):
        who, folder = WHO[number % len(WHO)], options.scratch / f"kill-{number}"
        moment = chance.uniform(0, seconds)
        command = Command(options, folder)
        time.sleep(moment)
        tried[who] += command.kill(who)
        command.ends()
        codes = []
        while not codes or (codes[-1] != 0 and len(codes) < STARTS):
            codes.append(Command(options, folder).ends())
        if codes[-1] != 0 or _weights(folder / "runs") != expected:
            problems[who].append(f"after {moment:.2f} s: exit codes {codes}"
                                 + ("" if codes[-1] else ", other weights"))
            continue  # what it left stays, to be looked at
        shutil.rmtree(folder)
    return [row("kills", who, expected and not problems[who],
                "; ".join(problems[who][:3]) or "went on to the same weights",
                f"{tried[who]} kills in runs of {seconds:.1f} s") for who in WHO]
