#!/usr/bin/env python3
"""Runs an exported network on the windows of vectors.safetensors, and holds its scores against those that stand there.

    python3 check.py [FILE.onnx]      default: every .onnx file beside this script

Needs numpy and onnxruntime. Shows how a file is fed: x, edge_index, batch and, where the network reads them, edge_attr;
a detector takes x alone.
"""
import argparse
import json
import pathlib
import struct
import sys

import numpy
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent


def read_safetensors(path):
    """Tensors by name: the header's length, the header as JSON, then the numbers."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    types = {"F32": numpy.float32, "I64": numpy.int64}
    return {
        name: numpy.frombuffer(data[8 + length :][slice(*of["data_offsets"])], types[of["dtype"]]).reshape(of["shape"])
        for name, of in header.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, help="write the scores there")
    words = parser.parse_args()
    tensors = read_safetensors(HERE / "vectors.safetensors")
    expected = tensors.pop("score")
    is_wrong = False
    for file in [words.file] if words.file else sorted(HERE.glob("*.onnx")):
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        (score,) = session.run(["score"], tensors)
        if words.json:
            words.json.write_text(json.dumps({"score": score.tolist()}))
        largest = float(numpy.abs(score - expected).max(initial=0))
        print(f"{file.name}: {len(score)} windows, largest difference {largest:.2g}")
        is_wrong |= not largest <= 1e-5
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
