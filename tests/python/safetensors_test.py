"""Of kdgat.load: what is in a file, and what is said of files that are broken."""
import json
import pathlib
import struct
import tempfile
import unittest

import numpy as np
import support

import kdgat


def text_of(header):
    return header if isinstance(header, bytes) else json.dumps(header).encode()


class Safetensors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "some.safetensors"

    def write(self, header, data=b"", length=None):
        text = text_of(header)
        self.file.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
        return self.file

    def refused(self, file):
        with self.assertRaises(kdgat.Error) as caught:
            kdgat.load(file)
        self.assertEqual(caught.exception.path, str(file))
        self.assertIn(str(file), str(caught.exception))
        return str(caught.exception)

    def test_files_read_as_the_package_safetensors_reads_them(self):
        if not support.importable("safetensors.numpy"):
            self.skipTest("no safetensors")
        from safetensors.numpy import load_file
        files = sorted(support.OLD.rglob("*.safetensors"))
        self.assertGreater(len(files), 10)
        for file in files:
            theirs = {name: value for name, value in load_file(file).items() if not name.startswith("_pad.")}
            ours = kdgat.load(file)
            self.assertEqual(set(ours), set(theirs))
            for name, value in theirs.items():
                with self.subTest(file=file.name, name=name):
                    self.assertEqual((ours[name].dtype, ours[name].shape), (value.dtype, value.shape))
                    np.testing.assert_array_equal(ours[name], value)

    def test_arrays_are_views_that_cannot_be_written(self):
        y = kdgat.load(support.OLD / "stores/can/graphs.safetensors")["y"]
        self.assertFalse(y.flags.owndata)
        with self.assertRaises(ValueError):
            y[0] = 1

    def test_bfloat16_is_read_as_float32(self):
        values = np.array([0, 1, -2.5, 3.0e38, np.inf], np.float32)
        data = (values.view(np.uint32) >> 16).astype("<u2").tobytes()
        found = kdgat.load(self.write({"a": {"dtype": "BF16", "shape": [5], "data_offsets": [0, 10]}}, data))["a"]
        self.assertEqual(found.dtype, np.float32)
        np.testing.assert_array_equal(found, ((values.view(np.uint32) >> 16) << 16).view(np.float32))

    def test_empty_and_scalar_tensors_and_a_file_without_any(self):
        header = {"none": {"dtype": "F32", "shape": [3, 0], "data_offsets": [0, 0]},
                  "one": {"dtype": "I64", "shape": [], "data_offsets": [0, 8]},
                  "odd": {"dtype": "F32", "shape": [1], "data_offsets": [9, 13]},
                  "_pad.0": {"dtype": "U8", "shape": [1], "data_offsets": [8, 9]}, "__metadata__": {"a": "b"}}
        found = kdgat.load(self.write(header, struct.pack("<qBf", 7, 0, 1.5)))
        self.assertEqual(sorted(found), ["none", "odd", "one"])
        self.assertEqual((found["none"].shape, int(found["one"]), float(found["odd"][0])), ((3, 0), 7, 1.5))
        self.assertEqual(found.metadata, {"a": "b"})
        self.assertEqual(len(kdgat.load(self.write({}))), 0)

    def test_files_that_are_cut_off_are_refused_wherever_that_is(self):
        whole = (support.OLD / "stores/can/split.safetensors").read_bytes()
        for size in [*range(0, 40), len(whole) // 2, len(whole) - 1]:
            self.file.write_bytes(whole[:size])
            with self.subTest(size=size):
                self.refused(self.file)
        self.file.write_bytes(whole + b"x")
        self.assertIn("not all of them are named", self.refused(self.file))

    def test_headers_that_are_wrong_are_refused_with_the_reason(self):
        def one(**changes):
            return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}

        two = b'{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}'
        cases = [({"a": 1}, "exactly dtype"), (one(more=1), "exactly dtype"), (one(dtype="F31"), "unsupported dtype"),
                 (one(dtype=["F32"]), "unsupported dtype"), (one(shape=[-2]), "not a count"), (one(shape=[2.0]), "not a count"),
                 (one(shape=[True, 2]), "not a count"), (one(shape="2"), "malformed shape"), (one(shape=[3]), "between its offsets"),
                 (one(data_offsets=[0, 4]), "between its offsets"), (one(data_offsets=[8, 0]), "between its offsets"),
                 (one(data_offsets=[4, 12]), "hole or overlap"), (one(data_offsets=[0, 2**63]), "not a count"),
                 (one(data_offsets=[0, 8, 8]), "malformed shape"), (one(shape=[2**62, 2**62, 0], data_offsets=[0, 0]), "too large"),
                 ({**one(), "b": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, "hole or overlap"),
                 (two, "names 'a' twice"), (b"[]", "does not start with '{'"), (b"", "does not start with '{'"),
                 (b"{" * 100_000, "not valid JSON"), (b'{"a":' + b"[" * 100_000, "not valid JSON"), (b'{"\xff":1}', "not valid JSON"),
                 ({"__metadata__": {"a": 1}}, "metadata are not texts"), ({"__metadata__": 1}, "metadata are not texts")]
        for header, reason in cases:
            with self.subTest(reason=reason, header=text_of(header)[:80]):
                self.assertIn(reason, self.refused(self.write(header, b"\0" * 8)))

    def test_a_header_said_to_be_longer_than_it_is_or_may_be_is_refused(self):
        self.assertIn("truncated within the header", self.refused(self.write({}, length=1000)))
        self.assertIn("longer than 100 MB", self.refused(self.write({}, length=2**63)))

    def test_a_file_that_is_not_there_and_a_folder_are_refused(self):
        self.refused(self.file)
        self.refused(self.file.parent)


if __name__ == "__main__":
    unittest.main()
