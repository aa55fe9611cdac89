"""Each test that starts, stops or waits for a process or a thread, many times on a busy machine.

  scripts/soak tests [PATTERN ...] [--times N] [--jobs N] [--busy N] [--limit SECONDS]
                     [--list] [--again] [--build DIR]

Such a test is the first to fail on a slow or busy machine. Which tests these are is read from the
sources: a test is one of them if its text, or a function of its file that it calls, has one of the
words of MARKS. A PATTERN chooses tests by title, or by "program: title", as the shell matches
names: 'plan lets*'. Without one all of them run.

Test programs are run directly, as ctest runs them: in the root of the tree, with OMP_NUM_THREADS=1.
Several run at a time, as most of them wait. A run that takes longer than the limit has failed. The
output of a failed run is kept in BUILD/soak-tests/. Runs are counted in
BUILD/soak-tests/state.json: the same command continues where it was stopped, and tests of a program
that was built since then begin again. Ends with 1 if a run failed, with 2 if there is nothing to
run."""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What starts, stops or waits: helpers of tests/support, parts of the program that have a thread or a process, and calls
# of the system, of bash too.
MARKS = (
    r"Background\b", r"HeldPipe\b", r"HeldPort\b", r"comes_true\b", r"UdpSender\b", r"FakeMlflow\b", r"without_locks\b",
    r"AlarmQueue\b", r"AlarmSinks\b", r"MetricsServer\b", r"BusReader\b", r"FrameQueue\b", r"Replay\b", r"http_process\b",
    r"execute_in_child\b", r"run_program\b", r"std::(?:thread|async)\b", r"::(?:fork|kill|raise|mkfifo)\(", r"mkfifo ",
    r"kill -", r"timeout -", r"\$!", r"ShellOnTerminal\b", r"Completing\b",
)
STRING = r'"(?:[^"\\\n]|\\.)*"'
CASE = re.compile(rf"TEST_CASE\(\s*({STRING}(?:\s*{STRING})*)\s*[,)]")
NAME = re.compile(r"(?:template\s*<[^>]*>\s*)?(?:struct|class)\s+(\w+)|[\w:<>,&*\s\[\]]*?(\w+)\s*[(={]")
# Lines that begin no declaration.
INSIDE = ("}", ")", '"', "/", "#", "namespace", "using")

Found = collections.namedtuple("Found", "program title")


def declarations(text):
    """What stands outside of every brace: functions, types and test cases, each with its body."""
    current = []
    for line in re.sub(r"//[^\n]*", "", text).splitlines(keepends=True):
        if line.strip() and not line[0].isspace() and not line.startswith(INSIDE) and current:
            yield "".join(current)
            current = []
        current.append(line)
    yield "".join(current)


def title_of(case):
    """The title of a TEST_CASE, which may be written in several strings."""
    return re.sub(r"\\(.)", r"\1", "".join(text[1:-1] for text in re.findall(STRING, case.group(1))))


def titles_in(text):
    """Titles of the tests of a source that start, stop or wait for something."""
    parts, names = list(declarations(text)), set()
    while True:
        marks = re.compile("|".join([rf"(?<!\w)(?:{mark})" for mark in MARKS] + [rf"\b{name}\b" for name in names]))
        more = {match.group(1) or match.group(2) for part in parts if not part.startswith("TEST_CASE")
                and (match := NAME.match(part)) and marks.search(part)} - names
        if not more:
            break
        names |= more
    return [title_of(case) for part in parts if (case := CASE.match(part)) and marks.search(part[case.end():])]


def titles_of(root=ROOT):
    """Of all sources."""
    return [title for source in sorted(root.glob("tests/**/*_test.cpp")) if "slurm" not in source.parts
            for title in titles_in(source.read_text(encoding="utf-8"))]


def programs_of(root=ROOT):
    """The test programs that CMake knows."""
    text = (root / "tests/tests.cmake").read_text(encoding="utf-8")
    return re.findall(r"^ *kdgat_add_tests\((\w+)", text, re.M)


def listed_by(program):
    done = subprocess.run([program, "--list-test-names-only"], capture_output=True, text=True, check=False, cwd=ROOT)
    return set(done.stdout.splitlines())  # Catch2 ends with the number of tests


def found_in(build, patterns):
    """(the tests to run, what is wrong)"""
    titles, programs, problems = set(titles_of()), programs_of(), []
    built = [name for name in programs if os.access(build / name, os.X_OK)]
    found = [Found(name, title) for name in built for title in sorted(listed_by(build / name) & titles)]
    for title in sorted(titles - {test.title for test in found}):
        problems.append(f"no program has the test \"{title}\"")
    if problems and len(built) < len(programs):
        missing = " ".join(name for name in programs if name not in built)
        problems = [f"these test programs are not built: scripts/build release {missing}"]
    if not patterns:
        return found, problems
    chosen = [test for test in found
              if any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns for text in (test.title, label(test)))]
    return chosen, [] if chosen else problems or ["no test that starts or waits for something has such a title; --list"]


def label(test):
    return f"{test.program}: {test.title}"


class BusyLoops:
    """Processes that do nothing as fast as they can, for as long as this one lives."""

    def __init__(self, count):
        me = os.getpid()
        self.pids = []
        for _ in range(count):
            pid = os.fork()
            if pid == 0:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                while os.getppid() == me:
                    for _ in range(1_000_000):
                        pass
                os._exit(0)
            self.pids.append(pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


class State:
    """How often each test ran and failed, in a file that is whole at any time."""

    def __init__(self, path, build, again):
        self.path, self.build, self.lock = path, build, threading.Lock()
        self.tests = {} if again or not path.is_file() else json.loads(path.read_text(encoding="utf-8"))

    def of(self, test):
        stamp = [(self.build / name).stat().st_mtime_ns for name in (test.program, "kdgat")
                 if (self.build / name).is_file()]
        known = self.tests.get(label(test))
        if known is None or known["built"] != stamp:
            known = self.tests[label(test)] = {"built": stamp, "runs": 0, "failures": 0, "seconds": 0.0}
        return known

    def add(self, known, seconds, passed):
        with self.lock:
            known["seconds"] += seconds
            known["runs"] += 1
            known["failures"] += not passed
            self.save()

    def save(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.tests, indent=1) + "\n", encoding="utf-8")
        new.replace(self.path)


def specification(title):
    """A title as Catch2 takes it."""
    return re.sub(r"([\\,\[\]])", r"\\\1", title)


def run_once(program, title, limit, output):
    """Whether it passed; what it printed is in `output`."""
    with open(output, "wb") as file:
        process = subprocess.Popen([program, specification(title), "--warn", "NoTests"], cwd=ROOT, stdin=subprocess.DEVNULL,
                                   stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
                                   env={**os.environ, "OMP_NUM_THREADS": "1"})
        try:
            return process.wait(timeout=limit) == 0
        except subprocess.TimeoutExpired:
            file.write(f"\nsoak: killed after {limit} s\n".encode())
            return False
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # and what it has left
            except ProcessLookupError:
                pass
            process.wait()


def soak(test, known, args, state, folder):
    """Runs a test as often as is left."""
    name = re.sub(r"\W+", "-", label(test))[:120]
    while known["runs"] < args.times:
        output = folder / f"{name}-{known['runs'] + 1}.txt"
        start = time.monotonic()
        passed = run_once(args.build / test.program, test.title, args.limit, output)
        if passed:
            output.unlink()
        state.add(known, time.monotonic() - start, passed)
    return known


def read(words):
    parser = argparse.ArgumentParser(prog="scripts/soak tests", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="*", help="titles of tests; all without one")
    parser.add_argument("--times", type=int, default=50, help="runs of each test (50)")
    parser.add_argument("--jobs", type=int, default=4, help="tests at a time (4)")
    parser.add_argument("--list", action="store_true", help="print the tests and how often each ran")
    parser.add_argument("--again", action="store_true", help="forget earlier runs")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder of the test programs")
    parser.add_argument("--limit", type=float, default=900, help="seconds of one run, as ctest has it (900)")
    parser.add_argument("--busy", type=int, default=2, help="busy loops next to the tests (2)")
    return parser.parse_args(words)


def main(words):
    args = read(words)
    args.build = args.build.resolve()
    tests, problems = found_in(args.build, args.pattern)
    for problem in problems:
        print(f"soak: {problem}", file=sys.stderr)
    if problems:
        return 2
    folder = args.build / "soak-tests"
    folder.mkdir(exist_ok=True)
    state = State(folder / "state.json", args.build, args.again)
    failed = runs = 0
    known_of = [state.of(test) for test in tests]
    if args.list:
        args.times = args.busy = 0
    with BusyLoops(args.busy), concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        try:
            done = pool.map(lambda test, known: soak(test, known, args, state, folder), tests, known_of)
            for test, known in zip(tests, done):
                verdict = "BAD" if known["failures"] else "ok " if known["runs"] else "-  "
                each = known["seconds"] / max(1, known["runs"])
                passed = known["runs"] - known["failures"]
                print(f"{verdict}  {passed:3} of {known['runs']:3}  {each:6.1f} s  {label(test)}", flush=True)
                failed += known["failures"] > 0
                runs += known["runs"]
        except KeyboardInterrupt:
            args.times = 0  # no other run begins
            raise
    print(f"{len(tests)} tests, {runs} runs, {failed} tests failed" + (f"; output in {folder}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nsoak: stopped; the same command continues")
