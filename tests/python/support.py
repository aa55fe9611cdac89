"""What the tests of the package share: the program, one small run and small stores, made once."""
import atexit
import functools
import os
import pathlib
import shutil
import tarfile
import tempfile
import unittest

import kdgat

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PROGRAM_OF_TESTS", "")
needs_program = unittest.skipUnless(PROGRAM, "the program is not built")
if PROGRAM:
    os.environ["PATH"] = os.path.dirname(PROGRAM) + os.pathsep + os.environ["PATH"]

SYNTH = {"graphs": ["--kind", "graphs", "--graphs", "24", "--nodes", "18", "--classes", "4"],
         "trees": ["--kind", "tree", "--graphs", "12", "--nodes", "80"],
         "points": ["--kind", "superpixel", "--graphs", "8"],
         "texts": ["--kind", "text", "--graphs", "60", "--nodes", "40", "--classes", "3"],
         "ratings": ["--kind", "ratings", "--graphs", "40", "--nodes", "15"],
         "molecules": ["--kind", "molecules", "--graphs", "8", "--nodes", "80", "--classes", "2"]}


def importable(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


@functools.cache
def scratch():
    folder = tempfile.mkdtemp(prefix="kdgat-python-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return pathlib.Path(folder)


def made_before():
    """The stores and runs that an older program made."""
    folder = scratch() / "made_before"
    for archive in sorted((ROOT / "tests/data/made_by_55b65d4").glob("*.tar.gz")):
        with tarfile.open(archive) as file:
            file.extractall(folder)
    return folder


OLD = made_before()


@functools.cache
def small_run():
    """The folder of a run of the preset smoke on little traffic; its root is two folders above."""
    kdgat.run(["run", "--preset", "smoke", "data.synth.seconds=30", "max_epochs=3", "--root", "runs"], capture=True,
              cwd=scratch())
    return next(scratch().glob("runs/smoke/*/run.json")).parent


@functools.cache
def store_of(kind):
    """The folder of a store of that kind, made by the program."""
    if kind == "can":
        return kdgat.open(small_run()).store.path.parent
    kdgat.run(["data", "synth", "-o", kind, *SYNTH[kind]], capture=True, cwd=scratch())
    kdgat.run(["data", "import", kind, "-o", kind + "-data"], capture=True, cwd=scratch())
    return scratch() / (kind + "-data")
