"""Writes graphs of other programs as a file that `kdgat data import` reads."""
from __future__ import annotations

import json
import math
import os
import struct
from typing import Any, Iterable, Sequence

import numpy as np

from .errors import Error
from .files import written

PARTS = ("train", "val", "test")


def array_of(value: Any) -> np.ndarray:
    """Of a tensor, wherever it is and whether or not it has gradients, of an array or of a list."""
    for step in ("detach", "cpu", "numpy"):
        if hasattr(value, step):
            value = getattr(value, step)()
    return np.asarray(value)


def matrix_of(value: Any, what: str, dtype: str) -> np.ndarray:
    array = array_of(value)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise Error(f"{what} is {array.dtype}{list(array.shape)}, not a matrix of numbers")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise Error(f"{what} holds a number that is not finite")
    return np.ascontiguousarray(array, dtype)


def edges_of(data: Any, nodes: int, what: str) -> np.ndarray:
    edges = array_of(data.edge_index)
    if edges.size == 0:
        return np.zeros((2, 0), "<i4")
    if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind not in "iu":
        raise Error(f"edge_index of {what} is {edges.dtype}{list(edges.shape)}, not int64[2, E]")
    if edges.min() < 0 or edges.max() >= nodes:
        raise Error(f"edge_index of {what} names node {edges.max() if edges.max() >= nodes else edges.min()}, and there are "
                    f"{nodes} nodes")
    return np.ascontiguousarray(edges, "<i4")


def label_of(data: Any, what: str) -> str | None:
    """The label as text; None where there is none."""
    y = getattr(data, "y", None)
    if y is None or isinstance(y, str):
        return y
    array = array_of(y)
    if array.size != 1 or array.dtype.kind not in "iubfU":
        raise Error(f"y of {what} is {array.dtype}{list(array.shape)}, not one label a graph")
    value = array.reshape(-1)[0].item()
    if isinstance(value, float):
        if not value.is_integer():
            raise Error(f"y of {what} is {value}, not the number or name of a class")
        value = int(value)
    return str(int(value) if isinstance(value, bool) else value)


def targets_of(graphs: Sequence[Any]) -> np.ndarray | None:
    """Numbers to be predicted, [G] or [G, T], NaN where there is none: of graphs whose y are
    numbers, of which one is not whole, or several a graph, or too many to be classes. None of
    others."""
    rows = []
    for data in graphs:
        y = getattr(data, "y", None)
        row = None if y is None else array_of(y).reshape(-1)
        if row is not None and row.dtype.kind not in "iubf":
            return None
        rows.append(row)
    widths = {len(row) for row in rows if row is not None}
    if len(widths) != 1 or widths == {0}:
        return None
    width = widths.pop()
    table = np.stack([np.full(width, np.nan) if row is None else row.astype("<f8") for row in rows])
    known = table[~np.isnan(table)]
    if np.isin(known, (0, 1)).all():
        return None
    different = len(np.unique(known))
    are_many = different > 5 and len(known) <= 2 * different
    if width == 1 and not are_many and (known == np.floor(known)).all():
        return None
    return np.ascontiguousarray(table[:, 0] if width == 1 else table, "<f4")


def require_classes(labels: Sequence[str | None], path: Any) -> None:
    """Raises Error for texts that are numbers to be predicted."""
    hint = "numbers to be predicted (regression) are given as numbers, not as texts"
    numbers = {}
    for i, label in enumerate(labels):
        if label is None:
            continue
        try:
            numbers[i] = float(label)
        except ValueError:
            return
        if not math.isfinite(numbers[i]):
            return
    for i, number in numbers.items():
        if not number.is_integer():
            raise Error(f"y of graph {i} is {labels[i]}, not the number or name of a class: {hint}", path=path)
    different = len({labels[i] for i in numbers})
    if different > 20 and len(numbers) < 2 * different:
        raise Error(f"y has {different} different numbers for {len(numbers)} graphs, {labels[next(iter(numbers))]} among them: too "
                    f"many to be classes; {hint}", path=path)


def names_in_order(labels: Iterable[str]) -> list[str]:
    """By their numbers if all are numbers, else by name."""
    names = sorted(set(labels))
    try:
        return sorted(names, key=int)
    except ValueError:
        return names


def save(dataset: Iterable[Any], path: str | os.PathLike[str], *, classes: Sequence[str] | None = None,
         split: Sequence[str] | None = None, group: Sequence[Any] | None = None) -> None:
    graphs = list(dataset)
    if not graphs:
        raise Error("no graphs to save", path=path)
    targets = targets_of(graphs) if classes is None else None
    x, edge_index, edge_attr, labels = [], [], [], []
    for i, data in enumerate(graphs):
        what = f"graph {i}"
        found = getattr(data, "x", None)
        features = None if found is None else matrix_of(found, f"x of {what}", "<f4")
        nodes = int(data.num_nodes) if features is None else len(features)
        if nodes == 0:
            raise Error(f"{what} has no nodes", path=path)
        x.append(np.zeros((nodes, 0), "<f4") if features is None else features)
        edge_index.append(edges_of(data, nodes, what))
        found = getattr(data, "edge_attr", None)
        edges = edge_index[-1].shape[1]
        edge_attr.append(None if found is None else matrix_of(found, f"edge_attr of {what}", "<f4"))
        if edge_attr[-1] is not None and len(edge_attr[-1]) != edges:
            raise Error(f"edge_attr of {what} has {len(edge_attr[-1])} rows, edge_index {edges} edges", path=path)
        for name, parts in (("x", x), ("edge_attr", edge_attr)):
            width = [None if part is None else part.shape[1] for part in (parts[0], parts[-1])]
            if width[0] != width[1]:
                raise Error(f"{name} of {what} has {width[1]} columns, of graph 0 {width[0]}", path=path)
        labels.append(label_of(data, what) if targets is None else None)
    if classes is None:
        require_classes(labels, path)
    names = names_in_order(label for label in labels if label is not None) if classes is None else [str(c) for c in classes]
    number = {name: i for i, name in enumerate(names)}
    for i, label in enumerate(labels):
        if label is not None and label not in number and classes is not None and label.isdigit() and int(label) < len(names):
            labels[i] = names[int(label)]
        elif label is not None and label not in number:
            raise Error(f"y of graph {i} is {label}, which is none of the classes", path=path)
    y = targets
    if y is None:
        y = np.array([-1 if label is None else number[label] for label in labels], "<i8")
    arrays = {"x": np.concatenate(x), "edge_index": np.concatenate(edge_index, axis=1), "y": y,
              "node_ptr": np.cumsum([0] + [len(part) for part in x], dtype="<i8"),
              "edge_ptr": np.cumsum([0] + [part.shape[1] for part in edge_index], dtype="<i8")}
    if edge_attr[0] is not None:
        arrays["edge_attr"] = np.concatenate([part for part in edge_attr if part is not None])
    for name, values in (("split", split), ("group", group)):
        if values is not None and len(values) != len(graphs):
            raise Error(f"{name} has {len(values)} values for {len(graphs)} graphs", path=path)
    if split is not None:
        wrong = next((part for part in split if part not in PARTS), None)
        if wrong is not None:
            raise Error(f"split holds {wrong!r}, not one of {', '.join(PARTS)}", path=path)
        arrays["split"] = np.array([PARTS.index(part) for part in split], "<i8")
    if group is not None:
        arrays["group"] = np.unique(np.array([str(g) for g in group]), return_inverse=True)[1].reshape(-1).astype("<i8")
    write(path, arrays, {"classes": json.dumps(names)} if names else {})


def write(path: str | os.PathLike[str], arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
    """A safetensors file, put in place as a whole. Widest elements first, so that each lies on its own alignment."""
    kinds = {"<f4": "F32", "<i4": "I32", "<i8": "I64"}
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    ordered = sorted(arrays.items(), key=lambda entry: (-entry[1].itemsize, entry[0]))
    at = 0
    for name, array in ordered:
        header[name] = {"dtype": kinds[array.dtype.newbyteorder("<").str], "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with written(path) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, array in ordered:
            file.write(array.tobytes())
