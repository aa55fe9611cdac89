"""Signals to what works: `watch` with an open alarm, `run` and `fit` in the middle of a step.

A signal that ends a program ends it with a code of its own (HUP 129, INT 130, QUIT 131, TERM 143, USR1 85),
after an open alarm was closed; the same command of a run then goes on. USR2, PIPE, XFSZ and WINCH end nothing.
The work is held until the signal has come: the log of `watch` is a pipe that stays open.

run(options) reads of `options`: kdgat (the program), scratch (an empty folder) and signals (how many of each;
None = all)."""
import json
import os
import shutil
import signal
import subprocess
import threading
import time

from soaks.material import SECONDS, command, material, row

ENDING = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGUSR1: 85, signal.SIGQUIT: 131}
IGNORED = (signal.SIGUSR2, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGWINCH)


def endless(log):
    """Lines of a log, whose first attack then never ends: its rows come again and again with later times."""
    header, *rows = log.read_text().splitlines()
    parsed = [(float(line.split(",", 1)[0]), line.split(",", 1)[1]) for line in rows]
    first = next(i for i, (_, rest) in enumerate(parsed) if rest.endswith(",1"))
    last = max(i for i, (_, rest) in enumerate(parsed[first:first + 400], first) if rest.endswith(",1"))
    yield header
    yield from rows[:first]
    attack, shift = parsed[first:last + 1], 0.0
    length = attack[-1][0] - attack[0][0] + 0.001
    while True:
        for moment, rest in attack:
            yield f"{moment + shift:.6f},{rest}"
        shift += length


class Watch:
    """A watch whose alarm is open and whose log has not ended."""

    def __init__(self, options, made):
        self.lines, self.opened, self.stopped = [], threading.Event(), threading.Event()
        self.process = subprocess.Popen(
            [options.kdgat, "watch", "--replay", "-", "--speed", "max", "--model", made.detector], cwd=options.scratch,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        self.threads = [threading.Thread(target=self._feed, args=(made.attacked,), daemon=True),
                        threading.Thread(target=self._read, daemon=True)]
        for thread in self.threads:
            thread.start()

    def _feed(self, log):
        try:
            for line in endless(log):
                if self.opened.is_set() or self.stopped.is_set():
                    return
                self.process.stdin.write(line.encode() + b"\n")
        except (BrokenPipeError, ValueError):
            pass

    def _read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            if event.get("event") == "alarm":
                self.lines.append(event)
                if event["open"]:
                    self.opened.set()

    def end(self, number, is_held):
        """(exit code, whether the last alarm was closed); a log that is not held ends once the signal was sent."""
        if not self.opened.wait(SECONDS):
            self.process.kill()
            return "no alarm opened", False
        self.threads[0].join()
        self.process.send_signal(number)
        if not is_held:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = f"still there after {SECONDS} s"
        self.threads[1].join()
        return code, bool(self.lines) and not self.lines[-1]["open"]


def _watch(options, made):
    for number, wanted in _chosen(options, ENDING).items():
        code, is_closed = Watch(options, made).end(number, is_held=True)
        yield row("signals", f"watch: {number.name}", code == wanted and is_closed,
                  f"exit {code}, the alarm is {'closed' if is_closed else 'open'}", f"wanted {wanted}")
    for number in list(IGNORED)[:options.signals]:
        code, is_closed = Watch(options, made).end(number, is_held=False)
        yield row("signals", f"watch: {number.name}, goes on", code == 0 and is_closed,
                  f"exit {code}, the alarm is {'closed' if is_closed else 'open'}", "wanted 0")


def _chosen(options, signals):
    return dict(list(signals.items())[:options.signals])


def _start(options, words, folder):
    return subprocess.Popen([options.kdgat, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def _wait_for(condition, process):
    """Whether it came true while the process was there."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and process.poll() is None:
        if condition():
            return True
        time.sleep(0.02)
    return False


def _signalled(process, numbers):
    for number in numbers:
        process.send_signal(number)
    try:
        return process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"still there after {SECONDS} s"


def _run(options):
    for number, wanted in _chosen(options, ENDING).items():
        folder = options.scratch / f"run-{number.name}"
        folder.mkdir()
        process = _start(options, ("run", "example", "steps=4000", "seconds=0.25", "--root", "runs"), folder)
        began = _wait_for(lambda: any(folder.glob("runs/*/*/*/checkpoint.json")), process)
        # What ends nothing comes first.
        code = _signalled(process, (signal.SIGUSR2, signal.SIGPIPE, number))
        again = command(options, ("run", "example", "steps=4000", "seconds=0", "--root", "runs"), folder)
        good = began and code == wanted and again.code == 0
        yield row("signals", f"run: {number.name}", good, f"exit {code}, then {again.code}", f"wanted {wanted}, then 0")
        shutil.rmtree(folder)


def _fit(options, made):
    for number, wanted in _chosen(options, ENDING).items():
        folder = options.scratch / f"fit-{number.name}"
        folder.mkdir()
        words = ("fit", str(made.folder / "logs"), "-o", "model", "--root", "runs", "--threads", "1", "trees=5000",
                 "take_supported=true")
        process = _start(options, words, folder)
        began = _wait_for(lambda: any(folder.glob("runs/*/*/detector/journal.jsonl")), process)
        code = _signalled(process, (number,))
        good = began and code == wanted and not (folder / "model").exists()
        yield row("signals", f"fit: {number.name}", good, f"exit {code}", f"wanted {wanted}")
        shutil.rmtree(folder)


def run(options):
    """A row for each program and signal."""
    made = material(options)
    return [*_watch(options, made), *_run(options), *_fit(options, made)]
