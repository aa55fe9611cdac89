"""What goes wrong in words: the one exception of the package, and what is missing for an optional part."""
from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any


class Error(Exception):
    """A file that cannot be read, a name that means nothing, or a run of the program that failed.

    path       the file or folder it is about; None where there is none
    exit_code  of the program; None where the program did not run
    err        what the program wrote on standard error; "" where it did not run
    """

    def __init__(self, message: str, *, path: str | os.PathLike[str] | None = None, exit_code: int | None = None,
                 err: str = "") -> None:
        super().__init__(f"{os.fspath(path)}: {message}" if path is not None else message)
        self.path = None if path is None else os.fspath(path)
        self.exit_code = exit_code
        self.err = err


def optional(module: str, package: str, what: str) -> Any:
    """The module, or an ImportError that says what needs it and what to install."""
    try:
        found: ModuleType = importlib.import_module(module)
    except ImportError as e:
        raise ImportError(f"{what} needs {module}, which cannot be imported ({e}): pip install {package}") from e
    return found
