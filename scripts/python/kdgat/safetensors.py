"""Reads safetensors files with numpy alone: u64 header length, JSON header, raw little-endian data.

Arrays are read-only views of the mapped file, so a large file takes no memory before it is looked at. bfloat16 has no
type in numpy: such tensors are copied to float32, which holds each of their values exactly. Tensors named "_pad.*" fill
gaps between others and are never shown."""
from __future__ import annotations

import json
import os
from typing import Any, Iterator, Mapping

import numpy as np

from .errors import Error
from .files import opened

PADDING = "_pad."
LONGEST_HEADER = 100_000_000  # bytes; the official reader's bound
MOST = 2**63 - 1
DTYPES = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2", "BF16": "<u2", "U32": "<u4",
          "I32": "<i4", "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8"}


class Tensors(Mapping[str, np.ndarray]):
    """The tensors of one file by name, in the order of names. Each is a view of the mapped file.

    path      the file
    metadata  the texts that the header holds, by name
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Checks header, types, shapes, offsets and the file's length; raises Error where one of them is wrong. The data
        are not looked at: `kdgat data verify` compares those of a store with their hashes."""
        self.path = os.fspath(path)
        try:
            with opened(self.path) as file:
                size = os.fstat(file.fileno()).st_size
                start = file.read(8)
                length = int.from_bytes(start, "little")
                if len(start) < 8:
                    raise Error("shorter than the 8 bytes of the header's length", path=path)
                if length > LONGEST_HEADER:
                    raise Error("header longer than 100 MB: not a safetensors file", path=path)
                if length > size - 8:
                    raise Error("truncated within the header", path=path)
                header = self._parse(file.read(length))
                self._places = self._check(header, size - 8 - length)
                self._bytes = np.memmap(file, mode="r", dtype=np.uint8)
        except OSError as e:
            raise Error(e.strerror or str(e), path=path) from e
        self._begin = 8 + length

    def _parse(self, text: bytes) -> dict[str, Any]:
        def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            names = dict(pairs)
            if len(names) < len(pairs):
                twice = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
                raise Error(f"header names '{twice}' twice", path=self.path)
            return names

        if not text.startswith(b"{"):
            raise Error("header does not start with '{': not a safetensors file", path=self.path)
        try:
            header: dict[str, Any] = json.loads(text.decode("utf-8"), object_pairs_hook=once)
        except (ValueError, RecursionError) as e:
            raise Error(f"header is not valid JSON: {e}", path=self.path) from e
        self.metadata: dict[str, str] = header.pop("__metadata__", {})
        if not isinstance(self.metadata, dict) or not all(isinstance(v, str) for v in self.metadata.values()):
            raise Error("metadata are not texts by name", path=self.path)
        return header

    def _check(self, header: dict[str, Any], size: int) -> dict[str, tuple[str, tuple[int, ...], int]]:
        """Name -> dtype, shape and offset of each tensor. Together they fill the file without hole or overlap."""
        places = []
        for name, fields in header.items():
            if not isinstance(fields, dict) or set(fields) != {"dtype", "shape", "data_offsets"}:
                raise Error(f"tensor '{name}' needs exactly dtype, shape and data_offsets", path=self.path)
            dtype, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
            if not isinstance(dtype, str) or dtype not in DTYPES:
                raise Error(f"tensor '{name}' has the unsupported dtype {dtype}", path=self.path)
            if not isinstance(shape, list) or not isinstance(offsets, list) or len(offsets) != 2:
                raise Error(f"tensor '{name}' has a malformed shape or data_offsets", path=self.path)
            if not all(type(n) is int and 0 <= n <= MOST for n in shape + offsets):
                raise Error(f"tensor '{name}' has a dimension or offset that is not a count", path=self.path)
            width = np.dtype(DTYPES[dtype]).itemsize
            count = extent = 1
            for dim in shape:
                count, extent = count * dim, extent * max(dim, 1)
            if extent * width > MOST or len(shape) > 32:
                raise Error(f"tensor '{name}' is too large", path=self.path)
            if offsets[1] - offsets[0] != count * width:
                raise Error(f"tensor '{name}' of {count * width} bytes has {offsets[1] - offsets[0]} between its offsets",
                            path=self.path)
            places.append((offsets[0], offsets[1], name, dtype, tuple(shape)))
        at = 0
        for begin, end, name, _, _ in sorted(places):
            if begin != at:
                raise Error(f"hole or overlap before tensor '{name}'", path=self.path)
            at = end
        if at != size:
            raise Error(f"{size} bytes behind the header, its tensors need {at}: truncated, or not all of them are named",
                        path=self.path)
        return {name: (dtype, shape, begin) for begin, _, name, dtype, shape in sorted(places, key=lambda p: p[2])
                if not name.startswith(PADDING)}

    def __getitem__(self, name: str) -> np.ndarray:
        """The tensor, read-only, of the shape and dtype that the file has; bfloat16 as a copy in float32."""
        dtype, shape, begin = self._places[name]
        view: np.ndarray = np.ndarray(shape, DTYPES[dtype], self._bytes, self._begin + begin)
        if dtype == "BF16":
            view = (view.astype(np.uint32) << 16).view(np.float32)
            view.flags.writeable = False
        return view

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name} {dtype}{list(shape)}" for name, (dtype, shape, _) in self._places.items())
        return f"Tensors({os.path.basename(self.path)!r}: {listed})"

    def json(self, key: str) -> Any:
        """The metadata `key` read as JSON; None where there is none. Raises Error where it is no JSON."""
        if key not in self.metadata:
            return None
        try:
            return json.loads(self.metadata[key])
        except (ValueError, RecursionError) as e:
            raise Error(f"malformed metadata '{key}': {e}", path=self.path) from e
