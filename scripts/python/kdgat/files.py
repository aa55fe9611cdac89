"""How the package opens files: what is no regular file is never waited for, and what is written is whole or absent."""
from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from typing import BinaryIO, Iterator

from .errors import Error

LARGEST_JSON = 32_000_000  # bytes, as the program's own bound


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A regular file to read. FileNotFoundError where there is none; Error where it is anything else or cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise Error("not a regular file", path=path)
            yield file
    except FileNotFoundError:
        raise
    except OSError as e:
        raise Error(e.strerror or str(e), path=path) from e
    except ValueError as e:
        raise bad_name(path, e) from e


def bad_name(path: str | os.PathLike[str], e: ValueError) -> Exception:
    """Error for a name that no file has; any other ValueError as it is."""
    return Error(f"{os.fspath(path)!r} is not the name of a file: it holds a null byte") if "\0" in os.fspath(path) else e


def read_bytes(path: str | os.PathLike[str], largest: int | None = None) -> bytes:
    """All of a regular file. Raises as opened(), and Error where it is larger than `largest` bytes."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if largest is not None and size > largest:
            raise Error(f"is {size / 1e6:.1f} MB; at most {largest // 1_000_000} MB are read", path=path)
        return file.read()


@contextlib.contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write that is put in place as a whole. A device, a pipe, or a link in /dev is written in place, as the
    program does: a plain file must not take its place. Raises Error."""
    part = None
    try:
        place = os.path.abspath(os.fspath(path))
        if is_stream(place):
            with open(place, "wb") as file:
                yield file
            return
        handle, part = tempfile.mkstemp(prefix=os.path.basename(place) + ".", suffix=".part", dir=os.path.dirname(place))
        with os.fdopen(handle, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)
        os.replace(part, place)
    except OSError as e:
        raise Error(e.strerror or str(e), path=path) from e
    except ValueError as e:
        raise bad_name(path, e) from e
    finally:
        if part is not None and os.path.exists(part):
            os.unlink(part)


def is_stream(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    in_dev = os.path.dirname(path) == "/dev" and os.path.islink(path)
    return in_dev or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
