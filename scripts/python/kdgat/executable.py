"""Finds and runs the program of the package."""
from __future__ import annotations

import io
import os
import pathlib
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from importlib import metadata
from typing import IO, NoReturn, Sequence

from .errors import Error

NAME = "kdgat"


def program() -> pathlib.Path:
    """The executable: program/kdgat inside the package if it is there, else kdgat of the PATH. Raises Error.

    Entries of PATH that are not absolute are skipped: the current folder may hold what somebody else packed."""
    bundled = pathlib.Path(__file__).resolve().parent / "program" / NAME
    if bundled.is_file() and os.access(bundled, os.X_OK):
        return bundled
    for folder in os.get_exec_path():
        found = pathlib.Path(folder, NAME)
        if found.is_absolute() and found.is_file() and os.access(found, os.X_OK) and not _starts_python(found):
            return found
    raise Error("the program kdgat was found neither in the package nor in the PATH")


def _starts_python(file: pathlib.Path) -> bool:
    """Whether this is a script of Python: that of the package would call the package again."""
    with file.open("rb") as start:
        line = start.read(256).split(b"\n", 1)[0]
    return line.startswith(b"#!") and b"python" in line


@dataclass(frozen=True)
class Done:
    """A run of the program that has ended.

    args       what it was called with, without its name
    exit_code  0 = success; see `kdgat help exit-codes`. Below 0: the number of the signal that ended it
    out, err   what it wrote
    """

    args: list[str]
    exit_code: int
    out: str = field(repr=False)
    err: str = field(repr=False)


def _pass_on(source: IO[bytes], kept: list[str], shown: io.TextIOBase | None) -> None:
    with io.TextIOWrapper(source, encoding="utf-8", errors="replace", newline="") as lines:
        for line in lines:
            kept.append(line)
            if shown is not None:
                shown.write(line)
                shown.flush()


def run(args: Sequence[str | os.PathLike[str]], check: bool = True, capture: bool = False,
        cwd: str | os.PathLike[str] | None = None) -> Done:
    """Runs the program with these words, as in a shell, and waits for its end: run(["run", "--preset", "smoke"]).

    check    a run that fails raises Error with the program's own message and exit code
    capture  keep what it writes and show nothing; without it each line is also shown as it comes
    cwd      the folder it runs in

    Ctrl-C reaches the program, which ends as it does in a shell; then KeyboardInterrupt is raised."""
    if isinstance(args, (str, bytes)):
        raise TypeError("args is a list of words: run(['runs', 'list'])")
    words = [os.fspath(word) for word in args]
    for word in [*words, os.fspath(cwd or "")]:
        if "\0" in word:
            raise Error(f"{word!r} cannot be passed on: it holds a null byte")
    out: list[str] = []
    err: list[str] = []
    with subprocess.Popen([program(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd) as child:
        assert child.stdout and child.stderr
        readers = [threading.Thread(target=_pass_on, args=(child.stdout, out, None if capture else sys.stdout)),
                   threading.Thread(target=_pass_on, args=(child.stderr, err, None if capture else sys.stderr))]
        for reader in readers:
            reader.start()
        try:
            child.wait()
        finally:
            child.wait()
            for reader in readers:
                reader.join()
    done = Done(words, child.returncode, "".join(out), "".join(err))
    if check and done.exit_code != 0:
        raise Error(_message(done), exit_code=done.exit_code, err=done.err)
    return done


def _message(done: Done) -> str:
    """What the program said of its failure: its lines "error: ..." with what is indented below them."""
    said: list[str] = []
    for line in done.err.splitlines():
        if line.startswith("error: "):
            said.append(line.removeprefix("error: "))
        elif said and line.startswith("  "):
            said.append(line)
    verb = next((word for word in done.args if not word.startswith("-")), "")
    text = "\n".join(said) or (done.err.strip().splitlines() or ["it said nothing"])[-1]
    return f"{NAME} {verb}".rstrip() + f" ended with {done.exit_code}: {text}"


def replace(args: Sequence[str]) -> NoReturn:
    """Becomes the program: this process goes on as it."""
    path = str(program())
    os.execv(path, [path, *args])


def version() -> str:
    """Of the installed package, "0.1.0"; where it is not installed, of the program. Raises Error."""
    try:
        return metadata.version(NAME).split("+")[0]  # what follows names the release of PyTorch
    except metadata.PackageNotFoundError:
        return run(["--version"], capture=True).out.removeprefix(NAME + " ").split(",")[0].strip()
