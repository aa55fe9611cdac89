"""Every test of the Python package. tests/python/run_test.py [--kdgat PROGRAM] [words for unittest]

Run by the first of $KDGAT_PYTHON, the interpreter of scripts/setup --peers and this one that has numpy; without one the
tests are skipped (exit code 77). The program is build/release/kdgat unless --kdgat names another; without one, tests that
run it are skipped."""
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def with_numpy():
    """An interpreter that can import numpy; None if there is none."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for python in (os.environ.get("KDGAT_PYTHON", ""), os.path.join(cache, "kdgat/peers/bin/python3"), sys.executable):
        try:
            if python and subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
                return python
        except OSError:
            pass
    return None


def main(words):
    if words[:1] == ["--with-numpy"]:  # this is the interpreter that was found
        sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts/python")]
        suite = unittest.TestSuite()
        for file in sorted(HERE.glob("*_test.py")):
            if file.name != "run_test.py":
                suite.addTests(unittest.defaultTestLoader.loadTestsFromName(file.stem))
        if words[1:]:
            suite = unittest.defaultTestLoader.loadTestsFromNames(words[1:])
        return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1
    program = HERE.parents[1] / "build/release/kdgat"
    if words[:1] == ["--kdgat"]:
        program, words = pathlib.Path(words[1]).resolve(), words[2:]
    python = with_numpy()
    if python is None:
        print("skipped: no numpy (scripts/setup --peers installs it; $KDGAT_PYTHON names another Python)")
        return SKIPPED
    env = {k: v for k, v in os.environ.items() if not k.startswith("KDGAT_")}  # they are options of the program
    env["PROGRAM_OF_TESTS"] = str(program) if os.access(program, os.X_OK) else ""
    return subprocess.run([python, "-B", __file__, "--with-numpy", *words], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
