"""What a step said of each window or graph, as columns."""
from __future__ import annotations

import csv
import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import Error, optional
from .safetensors import Tensors

if TYPE_CHECKING:
    from .stores import Graphs


class Predictions(dict[str, np.ndarray]):
    """Columns of one length, by name. Of the stage `evaluate`, a row for each window, model and part:

    model       str       the step whose model it is
    part        str       "val" or the name of the test scenario
    graph       int64     number of the graph in the store
    score       float32   higher = rather an attack
    label       int64     0 benign, 1 attack, -1 unknown
    decision    int64     0 or 1: at the threshold of validation
    calibrated  int64     0 or 1: at that of its file, where the part is calibrated; else -1
    judged      bool      whether the metrics count it: not so where its file was calibrated by it
    file        str       the log, where the store is there
    row         int64     the window's first row in the log, counted from 0
    time        float64   seconds of that row, where the store keeps frames; NaN = the log has no times

    A detector's windows.csv has file, part, row, time, label, score, threshold, decision and rule (the published rule's
    score). CSV of other stages keeps its own names: columns of numbers are float64 or int64, all others str. Columns of
    str have dtype object."""

    @property
    def rows(self) -> int:
        """Their number."""
        return next((len(column) for column in self.values()), 0)

    def select(self, **wanted: Any) -> Predictions:
        """The rows whose columns have these values: select(model="classifier", part="val")."""
        mask = np.ones(self.rows, bool)
        for name, value in wanted.items():
            if name not in self:
                raise Error(f"no column is called {name}; there are: {', '.join(self)}")
            mask &= self[name] == value
        return self.take(mask)

    def take(self, rows: Any) -> Predictions:
        """The rows of a mask, of numbers or of a slice."""
        return Predictions({name: column[rows] for name, column in self.items()})

    def frame(self) -> Any:
        """The same as a pandas DataFrame. Raises ImportError where there is no pandas."""
        return optional("pandas", "pandas", "frame()").DataFrame(dict(self))


def read_predictions(file: pathlib.Path, store: Graphs | None) -> Predictions:
    """Of predictions.safetensors, predictions.csv or windows.csv."""
    return _of_windows(file, store) if file.suffix == ".safetensors" else _of_csv(file)


def _of_windows(file: pathlib.Path, store: Graphs | None) -> Predictions:
    tensors = Tensors(file)
    groups = sorted({name.rpartition("/")[0] for name in tensors})
    numbers: dict[str, list[np.ndarray]] = {name: [] for name in ("graph", "score", "label", "decision", "calibrated")}
    sizes, models, parts, judged = [], [], [], []
    for group in groups:
        columns = {name: tensors.get(f"{group}/{stored}") for name, stored in
                   zip(numbers, ("graph", "score", "label", "prediction", "calibrated"))}
        lengths = {column.shape for column in columns.values() if column is not None}
        if any(columns[name] is None for name in numbers if name != "calibrated") or len(lengths) != 1:
            raise Error(f"'{group}' lacks a column, or its columns differ in length", path=file)
        size = len(columns["graph"])  # type: ignore[arg-type]
        for name, column in columns.items():
            numbers[name].append(np.full(size, -1) if column is None else column)
        calibrated = columns["calibrated"]
        judged.append(np.ones(size, bool) if calibrated is None else calibrated >= 0)
        model, _, part = group.partition("/")
        sizes.append(size)
        models.append(model)
        parts.append(part.removeprefix("test/"))
    out = Predictions(model=_repeat(models, sizes), part=_repeat(parts, sizes))
    for name, arrays in numbers.items():
        out[name] = np.concatenate(arrays) if arrays else np.empty(0, np.float32 if name == "score" else np.int64)
    out["judged"] = np.concatenate(judged) if judged else np.empty(0, bool)
    if store is None or store.format != "kdgat.graphs" or store.content_hash != tensors.metadata.get("store"):
        return out
    if out.rows and not (0 <= out["graph"].min() and out["graph"].max() < len(store)):
        raise Error("names graphs that its store does not have", path=file)
    out.update(store.origin(out["graph"]))
    return out


def _repeat(names: list[str], sizes: list[int]) -> np.ndarray:
    return np.repeat(np.array(names, dtype=object), sizes) if names else np.empty(0, object)


def _of_csv(file: pathlib.Path) -> Predictions:
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.reader(lines))
    except (OSError, ValueError, csv.Error) as e:
        raise Error(f"cannot be read as CSV: {e}", path=file) from e
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise Error("is empty, or has rows of another length than its first", path=file)
    renamed = {"log": "file", "first_row": "row", "begin": "time", "flagged": "decision"} if file.name == "windows.csv" else {}
    return Predictions({renamed.get(name, name): _typed([row[i] for row in rows[1:]]) for i, name in enumerate(rows[0])})


def _typed(texts: list[str]) -> np.ndarray:
    for dtype in (np.int64, np.float64):
        try:
            return np.array([dtype(text) if text or dtype is np.int64 else np.nan for text in texts], dtype)
        except (ValueError, OverflowError):
            continue
    return np.array(texts, dtype=object)
