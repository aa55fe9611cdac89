"""Of kdgat.save: what it writes is what the program reads, and what it refuses."""
import os
import pathlib
import shutil
import stat
import tempfile
import types
import unittest

import numpy as np
import support

import kdgat


def data(nodes, edges, y, edge_attr=None, **others):
    """What torch_geometric.data.Data is to save: anything with these names."""
    random = np.random.default_rng(nodes)
    return types.SimpleNamespace(x=random.normal(size=(nodes, 3)), edge_index=np.array(edges, np.int64).reshape(-1, 2).T, y=y,
                                 edge_attr=edge_attr, **others)


class Tensor:
    """Like a tensor with gradients: an array only after detach() and cpu()."""

    def __init__(self, array, ready=0):
        self.array, self.ready = np.asarray(array), ready

    def detach(self):
        return Tensor(self.array, 1)

    def cpu(self):
        return Tensor(self.array, self.ready + 1)

    def numpy(self):
        if self.ready < 2:
            raise TypeError("needs detach() and cpu()")
        return self.array


class Save(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "g.safetensors"

    def imported(self, *options):
        kdgat.run(["data", "import", self.file, "-o", self.folder / "data", *options], capture=True)
        kdgat.run(["data", "verify", self.folder / "data"], capture=True)
        return kdgat.graphs(self.folder / "data")

    @support.needs_program
    def test_the_program_reads_what_is_saved(self):
        dataset = [data(3, [(0, 1), (1, 0), (2, 1)], np.array([1]), np.array([[1.0], [2.0], [3.0]])),
                   data(2, [], np.array([-1]), np.zeros((0, 1))), data(1, [], np.array([1]), np.zeros((0, 1)))]
        kdgat.save(dataset, self.file, split=["train", "val", "test"])
        graphs = self.imported()
        self.assertEqual((graphs.kind, graphs.classes, len(graphs)), ("graphs", ["-1", "1"], 3))
        self.assertEqual([list(graphs.split(part)) for part in ("train", "val", "test")], [[0], [1], [2]])
        for given, found in zip(dataset, graphs):
            np.testing.assert_array_equal(found["x"], given.x.astype(np.float32))
            np.testing.assert_array_equal(found["edge_index"], given.edge_index)
            np.testing.assert_array_equal(found["edge_attr"], given.edge_attr)
            self.assertEqual(graphs.classes[found["y"]], str(given.y[0]))

    @support.needs_program
    def test_a_store_saved_again_is_the_same_graphs(self):
        graphs = kdgat.graphs(support.store_of("graphs"))
        again = [types.SimpleNamespace(x=g["x"], edge_index=g["edge_index"], y=graphs.classes[g["y"]]) for g in graphs]
        kdgat.save(again, self.file, group=[i % 5 for i in range(len(again))])
        found = self.imported("folds=5", "split=group")
        self.assertEqual(found.classes, graphs.classes)
        self.assertEqual({g["row_begin"] for g in found}, set(range(len(graphs))))
        for g in found:
            np.testing.assert_array_equal(g["x"], graphs[g["row_begin"]]["x"])
            np.testing.assert_array_equal(g["edge_index"], graphs[g["row_begin"]]["edge_index"])
            self.assertEqual(g["y"], graphs[g["row_begin"]]["y"])
        self.assertEqual(len({found[i]["file"] for i in found.split("test")}), 1)

    def test_tensors_with_gradients_and_texts_are_taken(self):
        one = types.SimpleNamespace(x=Tensor([[1.0], [2.0]]), edge_index=Tensor([[0], [1]]), y="ring")
        kdgat.save([one], self.file)
        found = kdgat.load(self.file)
        self.assertEqual(found.metadata["classes"], '["ring"]')
        np.testing.assert_array_equal(found["x"], [[1], [2]])
        self.assertEqual([entry.name for entry in self.folder.iterdir()], [self.file.name])

    def test_a_device_or_a_pipe_is_written_in_place(self):
        graphs = [data(2, [(0, 1)], 0)]
        null = self.folder / "null"
        null.symlink_to("/dev/null")
        kdgat.save(graphs, null)
        full = self.folder / "full"
        full.symlink_to("/dev/full")
        with self.assertRaisesRegex(kdgat.Error, "No space left"):
            kdgat.save(graphs, full)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        kdgat.save(graphs, pipe)
        kdgat.save(graphs, self.file)
        self.assertEqual(os.read(reader, 1 << 16), self.file.read_bytes())
        self.assertTrue(stat.S_ISFIFO(pipe.lstat().st_mode) and null.is_symlink() and full.is_symlink())
        self.assertEqual({entry.name for entry in self.folder.iterdir()}, {"null", "full", "pipe", self.file.name})

    @support.needs_program
    def test_numbers_to_predict_are_saved_as_they_are(self):
        for values in ([0.5, 2.0, None], [[1.5, 2], None, [3, -1]], [7 * i for i in range(30)]):
            with self.subTest(values=values):
                kdgat.save([data(2, [(0, 1)], value) for value in values], self.file)
                found = [graph["target"] for graph in self.imported()]
                shutil.rmtree(self.folder / "data")
                unknown = np.full(len(found[0]), np.nan)
                wanted = [unknown if value is None else np.atleast_1d(value) for value in values]
                np.testing.assert_array_equal(np.array(found), np.array(wanted, np.float32))

    def test_a_name_with_a_null_byte_is_refused(self):
        with self.assertRaisesRegex(kdgat.Error, "null byte"):
            kdgat.save([data(2, [(0, 1)], 0)], "a\0b")

    def test_what_is_no_graph_is_refused(self):
        good = data(2, [(0, 1)], 0)
        for wrong, dataset in {"no graphs": [], "node 2, and there are 2": [data(2, [(0, 2)], 0)],
                               "not finite": [types.SimpleNamespace(x=[[np.nan]], edge_index=[[], []], y=0)],
                               "x of graph 1 has 1 columns, of graph 0 3": [
                                   good, types.SimpleNamespace(x=[[1.0]], edge_index=[[], []], y=0)],
                               "y of graph 1 is 1.5, not the number": [data(2, [], "1"), data(2, [], "1.5")],
                               "y has 30 different numbers for 30 graphs": [
                                   data(2, [], str(7 * i)) for i in range(30)],
                               "not one label": [data(2, [], [0, 1])],
                               "edge_attr of graph 0 has 2 rows": [data(2, [(0, 1)], 0, np.zeros((2, 1)))],
                               "edge_attr of graph 1 has None columns": [data(2, [(0, 1)], 0, np.zeros((1, 1))), good]}.items():
            with self.subTest(wrong), self.assertRaises(kdgat.Error) as caught:
                kdgat.save(dataset, self.file)
            self.assertIn(wrong, str(caught.exception))
        for wrong, options in {"none of the classes": {"classes": ["a"]}, "2 values for 1": {"group": [1, 2]},
                               "not one of train": {"split": ["tset"]}}.items():
            with self.subTest(wrong), self.assertRaises(kdgat.Error) as caught:
                kdgat.save([data(2, [], 7)], self.file, **options)
            self.assertIn(wrong, str(caught.exception))
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
