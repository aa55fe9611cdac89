"""What the tables of docs/results.md share: the program, the machine, their form and their place."""
import json
import os
import subprocess
import threading
import time

from benches.common import ROOT, processor

KDGAT = ROOT / "build" / "release" / "kdgat"
RESULTS = ROOT / "docs" / "results.md"


class Failed(SystemExit):
    """A program ended badly, or the input is not what a table needs."""


def answer_of(what, *words):
    """What the program answers to words with --json; `what` is said where it fails."""
    done = subprocess.run([KDGAT, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{what}: kdgat ended with {done.returncode}\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)


def machine():
    return f"{os.cpu_count()} cores ({processor()})"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def write(text, name):
    """Between the two marks of docs/results.md."""
    begin, end = f"<!-- reproduce {name} -->", f"<!-- end {name} -->"
    old = RESULTS.read_text()
    if begin not in old or end not in old:
        raise Failed(f"{RESULTS}: no marks {begin} and {end}")
    RESULTS.write_text(old[:old.index(begin)] + begin + "\n" + text + "\n" + old[old.index(end):])


class Clock:
    """Says what happens, with the minutes since the beginning; of any thread."""

    def __init__(self):
        self.lock, self.start = threading.Lock(), time.monotonic()

    def say(self, what):
        with self.lock:
            print(f"{(time.monotonic() - self.start) / 60:6.1f} min  {what}", flush=True)
