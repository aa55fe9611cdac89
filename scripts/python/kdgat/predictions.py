"""What a step said of each window or graph, as columns."""
from __future__ import annotations

import csv
import io
import json
import pathlib
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from .errors import Error, optional
from .files import opened
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

    Of labelled graphs model, part, graph, label and decision, where label and decision are numbers of classes (label -1 =
    unknown), and for each class its probability, float32, as "probability.NAME".

    Of graphs with numbers to predict model, part, graph, and for each number float32 "target.NAME"
    (NaN = unknown) and "predicted.NAME".

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
    if file.suffix != ".safetensors":
        return _of_csv(file)
    tensors = Tensors(file)
    if "targets" in tensors.metadata:
        return _of_numbers(tensors)
    return _of_classes(tensors) if "classes" in tensors.metadata else _of_windows(tensors, store)


def _groups(tensors: Tensors, needed: list[str], optional_one: str = "") -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """The columns of each model and part, of one length."""
    for group in sorted({name.rpartition("/")[0] for name in tensors}):
        columns = {name: tensors[f"{group}/{name}"] for name in [*needed, optional_one] if f"{group}/{name}" in tensors}
        lengths = {column.shape[:1] for column in columns.values()}
        if any(name not in columns for name in needed) or len(lengths) != 1 or () in lengths:
            raise Error(f"'{group}' lacks a column, or its columns differ in length", path=tensors.path)
        yield group, columns


def _labelled(groups: list[str], sizes: list[int]) -> Predictions:
    """The columns model and part."""
    return Predictions(model=_repeat([group.partition("/")[0] for group in groups], sizes),
                       part=_repeat([group.partition("/")[2].removeprefix("test/") for group in groups], sizes))


def _names(tensors: Tensors, of: str) -> list[str]:
    """The list of texts that the metadata has."""
    try:
        names = json.loads(tensors.metadata[of])
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Error(f"the names of its {of} are not a list of texts", path=tensors.path)
    return names


def _of_numbers(tensors: Tensors) -> Predictions:
    targets = _names(tensors, "targets")
    found = list(_groups(tensors, ["graph", "target", "prediction"]))
    for group, columns in found:
        matrices = [columns[name] for name in ("target", "prediction")]
        if columns["graph"].ndim != 1 or any(m.shape[1:] != (len(targets),) for m in matrices):
            raise Error(f"'{group}' has not one number for each of {len(targets)} targets",
                        path=tensors.path)
    out = _labelled([group for group, _ in found], [len(columns["graph"]) for _, columns in found])
    graphs = [columns["graph"] for _, columns in found]
    out["graph"] = np.concatenate([np.empty(0, np.int64), *graphs])
    for i, name in enumerate(targets):
        for column, stored in (("target", "target"), ("predicted", "prediction")):
            numbers = [columns[stored][:, i] for _, columns in found]
            out[f"{column}.{name}"] = np.concatenate([np.empty(0, np.float32), *numbers])
    return out


def _of_classes(tensors: Tensors) -> Predictions:
    classes = _names(tensors, "classes")
    found = list(_groups(tensors, ["graph", "label", "prediction", "probability"]))
    for group, columns in found:
        if columns["probability"].shape[1:] != (len(classes),) or any(columns[n].ndim != 1 for n in ("graph", "label", "prediction")):
            raise Error(f"'{group}' has not one probability for each of {len(classes)} classes", path=tensors.path)
    out = _labelled([group for group, _ in found], [len(columns["graph"]) for _, columns in found])
    for name, stored in (("graph", "graph"), ("label", "label"), ("decision", "prediction")):
        out[name] = np.concatenate([np.empty(0, np.int64), *(columns[stored] for _, columns in found)])
    for i, name in enumerate(classes):
        out[f"probability.{name}"] = np.concatenate([np.empty(0, np.float32), *(c["probability"][:, i] for _, c in found)])
    return out


def _of_windows(tensors: Tensors, store: Graphs | None) -> Predictions:
    file = tensors.path
    stored = {"graph": "graph", "score": "score", "label": "label", "decision": "prediction", "calibrated": "calibrated"}
    numbers: dict[str, list[np.ndarray]] = {name: [] for name in stored}
    groups, sizes, judged = [], [], []
    for group, columns in _groups(tensors, ["graph", "score", "label", "prediction"], "calibrated"):
        size = len(columns["graph"])
        if any(column.shape != (size,) for column in columns.values()):
            raise Error(f"'{group}' has a column that is a matrix", path=file)
        calibrated = columns.setdefault("calibrated", np.full(size, -1))
        judged.append(calibrated >= 0 if f"{group}/calibrated" in tensors else np.ones(size, bool))
        for name, arrays in numbers.items():
            arrays.append(columns[stored[name]])
        groups.append(group)
        sizes.append(size)
    out = _labelled(groups, sizes)
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
        with opened(file) as content, io.TextIOWrapper(content, encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines, strict=True))
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
