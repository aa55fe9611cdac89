"""Graphs of a store, mapped into memory: windows of CAN logs, labelled graphs, trees, points, texts, ratings, molecules."""
from __future__ import annotations

import os
import pathlib
from typing import Any, Callable, Iterator, Mapping, Sequence, overload

import numpy as np

from .errors import Error, optional
from .safetensors import Tensors

FILE = "graphs.safetensors"
SPLIT_FILE = "split.safetensors"
PARTS = ("train", "val", "test")  # of molecules, as they are numbered


class Graph(dict[str, Any]):
    """One graph by the names of its arrays. n nodes, e edges; numbers of nodes are local to the graph, from 0. All but
    edge_index and others ending with _index are read-only views of the mapped file.

    Of all kinds, edge_index int64 [2,e], source row first, and, but for texts, x float32 [n,F].
    CAN windows    edge_attr float32 [e,D]; y int, 0 benign, 1 attack, -1 unknown; id int64 [n] the raw CAN id, -1 = not in
                   the vocabulary; file str; row_begin, row_end int, rows of the file. With frames also frame_time float64
                   [r] in seconds, frame_id int32 [r], frame_length uint8 [r] in bytes, frame_flags uint8 [r] (1 attack,
                   2 unlabelled, 4 restart, 8 extended, 16 remote, above them the bus), frame_payload uint8 [r,8 or 64]
    graphs         edge_attr float32 [e,D] where there are such; y int, number of its class, -1 = none; target float32 [1] NaN;
                   file str, its group where it has one; row_begin int, its place in what was imported
    trees, points  pos float32 [n,3]; parent int32 [n], -1 = root; tour_in, tour_out int32 [n], an Euler tour; paths int64
                   [n]; relations int64 [3]; y int, number of its class, -1 = none; target float32 [T], NaN = none; file,
                   row_begin, row_end
    texts          the one graph of a corpus: value float32 [e], weights of edges; y int64 [n], -1 = no document; doc_mask,
                   train_mask, val_mask, test_mask bool [n]; doc_source, doc_row int32 [documents]
    ratings        the one graph of train ratings, users first, both directions; user, item int32 [R], rating float32 [R],
                   time int64 [R] in seconds since 1970 or [0], train, test int32: numbers of ratings
    molecules      pos float32 [n,3] in angstrom; edge_index has bonds, bonds reversed, pairs, pairs reversed, edge_kind
                   int64 [e] 0 bond, 1 pair; bond_index int64 [2,b], bond_attr float32 [b,2]; pair_index, pair_attr [.,3];
                   angle_index [3,.], angle_attr [.,2]; dihedral_index [4,.], dihedral_attr [.,3]; y int, number of its
                   ligand, -1 = none; name, group, part, file str
    """

    @property
    def num_nodes(self) -> int:
        return len(self["x"] if "x" in self else self["y"])

    @property
    def num_edges(self) -> int:
        return int(self["edge_index"].shape[1])

    def __repr__(self) -> str:
        def shown(value: Any) -> str:
            return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else repr(value)
        return "Graph(" + ", ".join(f"{name}={shown(value)}" for name, value in self.items()) + ")"


class Graphs(Sequence[Graph]):
    """The graphs of a store by their numbers. One store has one kind of them.

    format         "kdgat.graphs" (CAN windows, labelled graphs, trees, points), "kdgat.text", "kdgat.ratings" or "kdgat.molecules"
    kind           "can", "graphs", "trees", "points", "texts", "ratings" or "molecules"
    content_hash   its identity: files that speak of its graphs name it
    facts          what was counted when it was written
    options        of the import
    sources        the files it was made of, in order
    classes        names of what y counts; empty where they have none
    node_features, edge_features   names of the columns of x and edge_attr, where they have names
    """

    def __init__(self, store: str | os.PathLike[str]) -> None:
        path = pathlib.Path(store)
        self.path = path / FILE if path.is_dir() else path
        self._tensors = t = Tensors(self.path)
        self.format: str = t.metadata.get("format", "")
        kinds: dict[str, tuple[Callable[[int], Graph], list[str]]] = {
            "kdgat.graphs": (self._graph, ["x", "edge_attr", "edge_index", "y", "node_ptr", "edge_ptr", "row_begin", "row_end",
                                           "source_of"]),
            "kdgat.text": (self._text, ["row_ptr", "col", "value", "y", "doc_mask", "train_mask", "val_mask", "test_mask"]),
            "kdgat.ratings": (self._ratings, ["x", "row_ptr", "col", "user", "item", "rating", "time", "train", "test"]),
            "kdgat.molecules": (self._molecule, ["x", "pos", "atom_ptr", "ligand", "part", "source_of"]
                                + [f"{t}_{a}" for t in ("bond", "pair", "angle", "dihedral") for a in ("ptr", "index", "attr")])}
        if self.format not in kinds:
            raise Error(f"not a store of graphs: its format is {self.format!r}", path=self.path)
        if t.metadata.get("version") != "1":
            raise Error(f"store of format version {t.metadata.get('version')}, this package reads 1", path=self.path)
        self._make, needed = kinds[self.format]
        if missing := [name for name in needed if name not in t]:
            raise Error(f"lacks the arrays {', '.join(missing)}", path=self.path)
        self._a: dict[str, np.ndarray] = dict(t)
        self._read_metadata()
        self._check()

    def _read_metadata(self) -> None:
        def told(key: str, kind: type) -> Any:
            found = self._tensors.json(key)
            if found is not None and not isinstance(found, kind):
                raise Error(f"malformed metadata '{key}'", path=self.path)
            return kind() if found is None else found

        self.facts: dict[str, Any] = told("facts", dict)
        self.options: dict[str, Any] = told("options", dict)
        self.sources: list[dict[str, Any]] = told("sources", list)
        if not all(isinstance(source, dict) for source in self.sources):
            raise Error("malformed metadata 'sources'", path=self.path)
        self.classes: list[str] = told("ligands" if self.format == "kdgat.molecules" else "classes", list)
        self.node_features: list[str] = told("node_feature_names", list)
        self.edge_features: list[str] = told("edge_feature_names", list)
        self.names: dict[str, list[str]] = {key: told(key, list) for key in ("names", "groups", "users", "items", "vocabulary")
                                            if key in self._tensors.metadata}
        self.content_hash: str = self._tensors.metadata.get("hash.header", "")
        by_format = {"kdgat.text": "texts", "kdgat.ratings": "ratings", "kdgat.molecules": "molecules"}
        spatial = self.facts.get("spatial") or {}
        self.kind: str = by_format.get(self.format) or (
            "graphs" if "classified" in self.facts else "can" if "pos" not in self._a
            else "trees" if spatial.get("are_trees") else "points")

    def _check(self) -> None:
        """That pointers cut their arrays into pieces and that what is numbered is there."""
        a, one = self._a, self.format in ("kdgat.text", "kdgat.ratings")
        n = len(a["row_ptr"]) - 1 if one else 0
        self._length = 1 if one else len(a["y" if self.format == "kdgat.graphs" else "ligand"])
        g = self._length
        edges, nodes = len(a.get("edge_attr", ())), len(a.get("x", ()))
        shapes = {"edge_index": (2, edges), "tour": (2, nodes)} if self.format == "kdgat.graphs" else {}
        of = {"kdgat.graphs": [("node_ptr", g, ["x", "pos", "parent", "paths"]), ("edge_ptr", g, ["edge_attr"]),
                               ("frame_ptr", len(self.sources), ["frame_time", "frame_id", "frame_length", "frame_flags",
                                                                "frame_payload"])],
              "kdgat.text": [("row_ptr", n, ["col", "value"])], "kdgat.ratings": [("row_ptr", n, ["col"])],
              "kdgat.molecules": [("atom_ptr", g, ["x", "pos"])] + [
                  (f"{t}_ptr", g, [f"{t}_index", f"{t}_attr"]) for t in ("bond", "pair", "angle", "dihedral")]}[self.format]
        for pointer, pieces, names in of:
            ptr = a.get(pointer)
            if ptr is None:
                continue
            if ptr.ndim != 1 or len(ptr) != pieces + 1 or ptr[0] != 0 or (np.diff(ptr) < 0).any():
                raise Error(f"{pointer} does not cut its arrays into {pieces} pieces", path=self.path)
            for name in names:
                if name in a and (a[name].ndim == 0 or len(a[name]) != ptr[-1]):
                    raise Error(f"{name} has not the {ptr[-1]} rows that {pointer} counts", path=self.path)
        lengths = {"kdgat.graphs": ["row_begin", "row_end", "source_of", "relations", "target"],
                   "kdgat.molecules": ["part", "source_of"]}.get(self.format, [])
        wrong = [name for name in lengths if name in a and (a[name].ndim == 0 or len(a[name]) != g)]
        wrong += [name for name, shape in shapes.items() if name in a and a[name].shape != shape]
        wrong += [name for name in ("names", "groups") if name in self.names and len(self.names[name]) != g]
        if wrong:
            raise Error(f"{wrong[0]} has not the shape that its graphs need", path=self.path)
        if "source_of" in a and g and not (0 <= a["source_of"].min() and a["source_of"].max() < len(self.sources)):
            raise Error("a graph is of a source that is not listed", path=self.path)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, i: int) -> Graph: ...
    @overload
    def __getitem__(self, i: slice) -> list[Graph]: ...
    def __getitem__(self, i: Any) -> Any:
        """Graph i, from 0; below 0 counted from the end; of a slice, a list. See Graph."""
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        number = int(i.__index__())
        if not -len(self) <= number < len(self):
            raise IndexError(f"graph {number} of {len(self)}")
        graph = self._make(number % len(self))
        edges = graph["edge_index"]
        if edges.size and not (0 <= edges.min() and edges.max() < graph.num_nodes):
            raise Error(f"graph {number} names a node that it does not have", path=self.path)
        return graph

    def __repr__(self) -> str:
        return f"Graphs({self.path.parent.name!r}, {self.kind}: {len(self)} graph{'' if len(self) == 1 else 's'})"

    def arrays(self) -> Mapping[str, np.ndarray]:
        """The flat arrays by name as they are stored, read-only views of the mapped file; docs/data.md has them."""
        return dict(self._a)

    @property
    def parts(self) -> list[str]:
        """Names that split() takes."""
        if self.format == "kdgat.molecules":
            return list(PARTS)
        if self.format != "kdgat.graphs":
            return ["train", "test"] if self.format == "kdgat.ratings" else list(PARTS)
        names = sorted(self._split())
        return names if "test" in names or not any(n.startswith("test/") for n in names) else [*names, "test"]

    def split(self, part: str) -> np.ndarray:
        """Numbers of the graphs of a part, ascending, int64: "train", "val", "test" (of all scenarios) or "test/SCENARIO".
        Of the one graph of texts the numbers of document nodes, of ratings those of ratings in the order of the split.
        Raises Error."""
        if part not in self.parts:
            raise Error(f"no part is called {part}; there are: {', '.join(self.parts)}", path=self.path.parent)
        if self.format == "kdgat.molecules":
            return np.flatnonzero(self._a["part"] == PARTS.index(part))
        if self.format == "kdgat.text":
            return np.flatnonzero(self._a[f"{part}_mask"])
        if self.format == "kdgat.ratings":
            return self._a[part].astype(np.int64)
        tensors = self._split()
        found = [t for name, t in tensors.items() if name == part or (part == "test" and name.startswith("test/"))]
        ids = np.sort(np.concatenate(found).astype(np.int64))
        if ids.size and not (0 <= ids[0] and ids[-1] < len(self)):
            raise Error(f"part '{part}' names graphs that are not there", path=tensors.path)
        return ids

    def _split(self) -> Tensors:
        path = self.path.parent / SPLIT_FILE
        tensors = Tensors(path)
        if tensors.metadata.get("format") != "kdgat.split":
            raise Error("not a split", path=path)
        if tensors.metadata.get("store_hash") != self.content_hash:
            raise Error("made for another store than the one beside it: import the data again", path=path)
        return tensors

    def origin(self, graphs: np.ndarray) -> dict[str, np.ndarray]:
        """Where graphs [k] came from: file object [k] of str, row int64 [k], the first row in the file, from 0, and where
        the store keeps frames time float64 [k], the seconds of that row; NaN = the log has no times."""
        a, ids = self._a, np.asarray(graphs)
        source, row = a["source_of"][ids], a["row_begin"][ids]
        out = {"file": np.array([s.get("path", "") for s in self.sources], dtype=object)[source], "row": row}
        if "frame_time" in a and "frame_ptr" in a:
            at = a["frame_ptr"][:-1][source] + row
            inside = (row >= 0) & (at < a["frame_ptr"][1:][source])
            out["time"] = np.where(inside, a["frame_time"][np.where(inside, at, 0)] if a["frame_time"].size else np.nan, np.nan)
        return out

    def to_pyg(self, i: int) -> Any:
        """Graph i as a torch_geometric.data.Data with the same names; arrays are copied to tensors; what is said of a
        whole graph has a first dimension of 1. parent keeps numbers local to the graph: a Batch does not shift them. Raises ImportError where torch or
        torch_geometric is missing."""
        torch = optional("torch", "torch", "to_pyg()")
        data = optional("torch_geometric.data", "torch_geometric", "to_pyg()")
        graph = self[i]
        out = data.Data(num_nodes=graph.num_nodes)
        for name, value in graph.items():
            if isinstance(value, np.ndarray):
                tensor = torch.from_numpy(np.array(value))
                out[name] = tensor[None] if name in ("relations", "target") else tensor
            else:
                out[name] = torch.tensor([value]) if isinstance(value, int) else value
        return out

    # ---- one graph of each kind

    def _graph(self, g: int) -> Graph:
        a = self._a
        n, e = slice(*map(int, a["node_ptr"][g:g + 2])), slice(*map(int, a["edge_ptr"][g:g + 2]))
        out = Graph(x=a["x"][n], edge_index=a["edge_index"][:, e].astype(np.int64))
        if a["edge_attr"].shape[1:] != (0,):
            out["edge_attr"] = a["edge_attr"][e]
        out["y"] = int(a["y"][g])
        if len(a.get("vocabulary", ())):  # the first feature is a number in it; the number behind the last is "unknown"
            number = a["x"][n, 0].astype(np.int64)
            raw = np.append(a["vocabulary"], -1)
            out["id"] = raw[np.where((number >= 0) & (number < len(raw)), number, -1)]
        for name in ("pos", "parent", "paths"):
            if name in a:
                out[name] = a[name][n]
        if "tour" in a:
            out["tour_in"], out["tour_out"] = a["tour"][:, n]
        if "relations" in a:
            out["relations"] = a["relations"][g]
        if "target" in a:
            out["target"] = a["target"][g].reshape(-1)
        source = int(a["source_of"][g])
        begin, end = int(a["row_begin"][g]), int(a["row_end"][g])
        out.update(file=self.sources[source].get("path", ""), row_begin=begin, row_end=end)
        if "frame_ptr" in a:
            first, last = map(int, a["frame_ptr"][source:source + 2])
            for name in ("frame_time", "frame_id", "frame_length", "frame_flags", "frame_payload"):
                if name in a:
                    out[name] = a[name][min(first + begin, last):min(first + end, last)]
        return out

    def _rows(self) -> np.ndarray:
        """Edges of compressed rows: from each row's node to the columns."""
        counts = np.diff(self._a["row_ptr"])
        return np.stack([np.repeat(np.arange(len(counts)), counts), self._a["col"].astype(np.int64)])

    def _text(self, _: int) -> Graph:
        names = ["value", "y", "doc_mask", "train_mask", "val_mask", "test_mask", "doc_source", "doc_row"]
        return Graph(edge_index=self._rows(), **{name: self._a[name] for name in names if name in self._a})

    def _ratings(self, _: int) -> Graph:
        names = ["user", "item", "rating", "time", "train", "test"]
        return Graph(x=self._a["x"], edge_index=self._rows(), **{name: self._a[name] for name in names})

    def _molecule(self, g: int) -> Graph:
        a = self._a
        atoms = slice(*map(int, a["atom_ptr"][g:g + 2]))
        terms: dict[str, np.ndarray] = {}
        for term in ("bond", "pair", "angle", "dihedral"):
            some = slice(*map(int, a[f"{term}_ptr"][g:g + 2]))
            terms[f"{term}_index"] = a[f"{term}_index"][some].T.astype(np.int64)
            terms[f"{term}_attr"] = a[f"{term}_attr"][some]
        bonds, pairs = terms["bond_index"], terms["pair_index"]
        edges = np.concatenate([bonds, bonds[::-1], pairs, pairs[::-1]], axis=1)
        kind = np.repeat([0, 1], [2 * bonds.shape[1], 2 * pairs.shape[1]])
        told = {key[:-1]: self.names[key][g] for key in ("names", "groups") if key in self.names}
        part = int(a["part"][g])
        return Graph(x=a["x"][atoms], edge_index=edges, edge_kind=kind, y=int(a["ligand"][g]), pos=a["pos"][atoms], **terms,
                     **told, part=PARTS[part] if 0 <= part < 3 else "",
                     file=self.sources[int(a["source_of"][g])].get("path", ""))

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))
