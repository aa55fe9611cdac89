"""Of kdgat.graphs: stores of every kind, as the program counts them."""
import json
import pathlib
import shutil
import tempfile
import unittest

import numpy as np
import support

import kdgat

KINDS = ("can", "trees", "points", "texts", "ratings", "molecules")


class OldStores(unittest.TestCase):
    """Stores that an older program made."""

    def test_every_one_opens_and_holds_what_its_facts_count(self):
        for kind in KINDS[:-1]:
            with self.subTest(kind):
                graphs = kdgat.graphs(support.OLD / "stores" / kind)
                self.assertEqual((graphs.kind, len(graphs)), (kind, graphs.facts["graphs"]))
                if "nodes" in graphs.facts:
                    self.assertEqual(sum(g.num_nodes for g in graphs), graphs.facts["nodes"]["sum"])
                    self.assertEqual(sum(g.num_edges for g in graphs), graphs.facts["edges"]["sum"])
                for graph in graphs:
                    self.assertEqual((graph["edge_index"].dtype, len(graph["edge_index"])), (np.int64, 2))

    def test_indices_are_those_of_a_sequence(self):
        graphs = kdgat.graphs(support.OLD / "stores/can/graphs.safetensors")
        self.assertEqual(graphs[-1]["row_begin"], graphs[49]["row_begin"])
        self.assertEqual(len(graphs[3:7]), 4)
        self.assertEqual(graphs[np.int64(2)]["y"], graphs[2]["y"])
        for outside in (50, -51):
            with self.assertRaises(IndexError):
                graphs[outside]

    def test_features_are_views_and_ids_are_raw(self):
        graphs = kdgat.graphs(support.OLD / "stores/can")
        flat, graph = graphs.arrays(), graphs[7]
        self.assertTrue(np.shares_memory(graph["x"], flat["x"]))
        self.assertFalse(graph["x"].flags.writeable)
        self.assertNotIn("_pad.0", flat)
        number = graph["x"][:, 0].astype(int)
        known = number < len(flat["vocabulary"])
        np.testing.assert_array_equal(graph["id"][known], flat["vocabulary"][number[known]])
        self.assertTrue((graph["id"][~known] == -1).all())

    def test_parts_are_those_of_the_split_and_disjoint(self):
        for kind, sizes in (("can", {"train": 33, "val": 7, "test": 10}), ("trees", {"train": 10, "val": 3, "test": 3}),
                            ("texts", {"train": 14, "val": 4, "test": 6}), ("ratings", {"train": 351, "test": 88})):
            graphs = kdgat.graphs(support.OLD / "stores" / kind)
            parts = {part: graphs.split(part) for part in sizes}
            self.assertEqual({part: len(ids) for part, ids in parts.items()}, sizes)
            self.assertEqual(len(np.unique(np.concatenate(list(parts.values())))), sum(sizes.values()))
            with self.assertRaisesRegex(kdgat.Error, "no part is called nix"):
                graphs.split("nix")

    def test_a_split_of_another_store_or_none_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(support.OLD / "stores/can/graphs.safetensors", folder)
            with self.assertRaisesRegex(kdgat.Error, "No such file"):
                kdgat.graphs(folder).split("train")
            shutil.copy(support.OLD / "stores/trees/split.safetensors", folder)
            with self.assertRaisesRegex(kdgat.Error, "another store"):
                kdgat.graphs(folder).split("train")

    def test_other_files_are_refused(self):
        for file, reason in ((support.OLD / "stores/can/split.safetensors", "not a store"), (support.OLD, "No such file")):
            with self.assertRaisesRegex(kdgat.Error, reason):
                kdgat.graphs(file)

    def test_changed_stores_are_refused_or_stay_within_their_arrays(self):
        """Whatever byte of pointers and edges is wrong."""
        refused = 0
        for kind in KINDS[:-1]:
            whole = (support.OLD / "stores" / kind / "graphs.safetensors").read_bytes()
            begin = 8 + int.from_bytes(whole[:8], "little")
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "graphs.safetensors"
                for at in range(begin, len(whole), max(1, (len(whole) - begin) // 150)):
                    file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x80]) + whole[at + 1:])
                    try:
                        for graph in kdgat.graphs(file)[:40]:
                            self.assertTrue((graph["edge_index"] < graph.num_nodes).all())
                    except kdgat.Error as e:
                        self.assertEqual(e.path, str(file))
                        refused += 1
        self.assertGreater(refused, 20)

    def test_to_pyg_says_what_to_install(self):
        if support.importable("torch_geometric"):
            self.skipTest("torch_geometric is installed")
        with self.assertRaisesRegex(ImportError, "pip install torch"):
            kdgat.graphs(support.OLD / "stores/trees").to_pyg(0)


@unittest.skipUnless(support.importable("torch_geometric"), "no torch_geometric")
class Pyg(unittest.TestCase):
    def test_data_are_the_arrays_and_make_batches(self):
        from torch_geometric.data import Batch
        for kind in KINDS[:-1]:
            graphs = kdgat.graphs(support.OLD / "stores" / kind)
            data = graphs.to_pyg(0)
            self.assertTrue(data.validate())
            np.testing.assert_array_equal(data.edge_index.numpy(), graphs[0]["edge_index"])
            if len(graphs) > 1:
                batch = Batch.from_data_list([graphs.to_pyg(i) for i in range(3)])
                self.assertEqual((batch.num_nodes, len(batch.y)), (sum(graphs[i].num_nodes for i in range(3)), 3))


@support.needs_program
class NewStores(unittest.TestCase):
    def test_counts_are_those_of_data_inspect(self):
        for kind in (*KINDS, "graphs"):
            with self.subTest(kind):
                folder = support.store_of(kind)
                told = json.loads(kdgat.run(["data", "inspect", folder, "--json"], capture=True).out)
                graphs = kdgat.graphs(folder)
                self.assertEqual(graphs.kind, kind)
                self.assertEqual((graphs.content_hash, graphs.facts["graphs"]), (told["content_hash"], len(graphs)))
                for fact, count in (("nodes", "num_nodes"), ("edges", "num_edges")):
                    if fact in told["facts"]:
                        self.assertEqual(sum(getattr(g, count) for g in graphs), told["facts"][fact]["sum"])
                for part, size in told["facts"].get("parts", {}).items():
                    self.assertEqual(len(graphs.split(part)), size)
                if kind == "molecules":
                    for term in ("bonds", "pairs", "angles", "dihedrals"):
                        self.assertEqual(sum(g[term[:-1] + "_index"].shape[1] for g in graphs), told["facts"]["molecules"][term])

    def test_frames_of_a_window_are_its_rows(self):
        graphs = kdgat.graphs(support.store_of("can"))
        for i in (0, len(graphs) // 2, len(graphs) - 1):
            graph = graphs[i]
            self.assertEqual(len(graph["frame_id"]), graph["row_end"] - graph["row_begin"])
            self.assertTrue((np.diff(graph["frame_time"]) >= 0).all())
            self.assertEqual(set(graph["id"]) - {-1}, set(graph["frame_id"]) & set(graphs.arrays()["vocabulary"]))
            self.assertEqual(graph["y"], int((graph["frame_flags"] & 1).any()))


if __name__ == "__main__":
    unittest.main()
