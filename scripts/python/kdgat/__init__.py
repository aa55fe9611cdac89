"""Runs of kdgat, its graphs and the program itself, from Python.

    kdgat.run(["run", "--preset", "smoke"])   the program
    kdgat.open("runs/smoke/01M8...")          what a run left: figures, curves, predictions, weights
    kdgat.graphs("data")                      the graphs of a store, mapped into memory
    kdgat.save(dataset, "g.safetensors")      graphs of PyTorch Geometric, for `kdgat data import`

Needs numpy, which is imported when a run or a store is opened, not before. pandas (`frame()`) and torch_geometric
(`to_pyg()`) are used where they are installed."""
from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, Iterable, Sequence

from .errors import Error

if TYPE_CHECKING:
    import pathlib

    from .executable import Done
    from .predictions import Predictions
    from .runs import Curves, Run, Step
    from .safetensors import Tensors
    from .stores import Graph, Graphs

    version: str
    __version__: str

__all__ = ["Curves", "Done", "Error", "Graph", "Graphs", "Predictions", "Run", "Step", "Tensors", "__version__", "graphs",
           "load", "open", "program", "run", "save", "version"]

_LAZY = {"Curves": "runs", "Done": "executable", "Graph": "stores", "Graphs": "stores", "Predictions": "predictions", "Run": "runs",
         "Step": "runs", "Tensors": "safetensors"}


def open(run: str | os.PathLike[str], root: str | os.PathLike[str] = "runs") -> Run:  # noqa: A001
    """A run by its folder, the folder of one of its steps, its name, or its id below `root`: whole, its beginning, or as the
    program shows it ("01M8…7Z"). Raises Error where that is none, more than one, or a run of several seeds, of which each is
    a run of its own."""
    from .runs import open_run
    return open_run(run, root)


def graphs(store: str | os.PathLike[str]) -> Graphs:
    """The graphs of a store: a folder with graphs.safetensors, or that file. Raises Error where it is none."""
    from .stores import Graphs
    return Graphs(store)


def load(file: str | os.PathLike[str]) -> Tensors:
    """The tensors of any safetensors file, as read-only views of the mapped file. Raises Error where it is malformed."""
    from .safetensors import Tensors
    return Tensors(file)


def save(dataset: Iterable[Any], path: str | os.PathLike[str], *, classes: Sequence[str] | None = None,
         split: Sequence[str] | None = None, group: Sequence[Any] | None = None) -> None:
    """Writes graphs as a safetensors file that `kdgat data import` reads: a list of torch_geometric.data.Data, a data set of
    PyTorch Geometric, or anything that has

    x           [n,F] numbers; without it num_nodes, and the import counts degrees
    edge_index  [2,e] numbers of nodes, from 0
    edge_attr   [e,K] numbers, or None, of all graphs alike
    y           one label, a number or a text, or numbers to be predicted; None = no label

    classes  names of what y counts from 0, in order, or the labels themselves; without it the labels that occur
    split    "train", "val" or "test" of each graph: fixed parts; without it the import divides
    group    of each graph, any values: graphs of one group stay in one part

    The file is put in place as a whole; a device or a pipe is written in place. Raises Error for what is none of that."""
    from . import saving
    saving.save(dataset, path, classes=classes, split=split, group=group)


def run(args: Sequence[str | os.PathLike[str]], check: bool = True, capture: bool = False,
        cwd: str | os.PathLike[str] | None = None) -> Done:
    """Runs the program with these words and waits for its end: run(["run", "--preset", "smoke"]).

    check    a run that fails raises Error with the program's own message and exit code
    capture  keep what it writes and show nothing; without it each line is also shown as it comes
    cwd      the folder it runs in

    The result has exit_code, out and err."""
    from . import executable
    return executable.run(args, check, capture, cwd)


def program() -> pathlib.Path:
    """The executable: that of the package if it has one, else kdgat of the PATH. Raises Error."""
    from . import executable
    return executable.program()


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module("." + _LAZY[name], __name__), name)
    if name in ("version", "__version__"):
        from . import executable
        globals()["version"] = globals()["__version__"] = executable.version()
        return globals()[name]
    raise AttributeError(f"module 'kdgat' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
