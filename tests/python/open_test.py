"""Of kdgat.open: runs of this program and of an older one."""
import json
import os
import pathlib
import shutil
import tempfile
import unittest

import numpy as np
import support

import kdgat
from kdgat import saving

RUNS = sorted(file.parent for file in support.OLD.glob("*/*/*/*/run.json"))
CAN = next(run for run in RUNS if run.parts[-3:-1] == ("can", "can"))


def f1(label, decision):
    both = int(((label == 1) & (decision == 1)).sum())
    return 2 * both / max(1, int((label == 1).sum()) + int((decision == 1).sum()))


class OldRuns(unittest.TestCase):
    def test_every_one_opens_with_what_its_steps_left(self):
        self.assertGreaterEqual(len(RUNS), 8)
        for folder in RUNS:
            with self.subTest(folder.parent.name):
                run = kdgat.open(folder)
                for step in run.steps.values():
                    if step.state == "done":
                        self.assertTrue(run.metrics[step.name])
                    if (step.folder / "model.safetensors").exists():
                        self.assertGreater(len(run.model(step.name)), 0)
                    if step.stage != "evaluate" and step.state != "pending":
                        curves = run.curves(step.name)
                        self.assertTrue(np.isfinite(curves["train_loss"]).all())
                        np.testing.assert_array_equal(curves["epoch"], np.arange(1, len(curves["epoch"]) + 1))

    def test_a_run_is_found_by_folder_step_and_id(self):
        root = CAN.parents[1]
        for name in (CAN, str(CAN), CAN / "evaluate", CAN.name, CAN.name[:10], f"{CAN.name[:4]}…{CAN.name[-2:]}",
                     f"{CAN.name[:4]}...{CAN.name[-2:]}"):
            self.assertEqual(kdgat.open(name, root=root).id, CAN.name)
        for name, reason in (("01ZZ", "no run or folder"), ("", "no run or folder"), (CAN / "nix", "no run or folder"),
                             (CAN.parent, "neither the folder")):
            with self.assertRaisesRegex(kdgat.Error, reason):
                kdgat.open(name, root=root)
        with tempfile.TemporaryDirectory() as two:
            for name in ("01AAAA", "01AAAB"):
                shutil.copytree(CAN, pathlib.Path(two, "set", name))
            with self.assertRaisesRegex(kdgat.Error, "2 runs in .* begin with 01A"):
                kdgat.open("01A", root=two)

    def test_a_run_is_found_by_its_name(self):
        with tempfile.TemporaryDirectory() as root:
            for name, label in (("01AAAA", "gin"), ("01AAAB", "gat"), ("01AAAC", "gat")):
                copy = pathlib.Path(shutil.copytree(CAN, pathlib.Path(root, "set", name)))
                (copy / "labels.json").write_text(json.dumps({"name": label, "tags": [], "notes": []}))
            self.assertEqual(kdgat.open("gin", root=root).id, "01AAAA")
            with self.assertRaisesRegex(kdgat.Error, "2 runs in .* are called so"):
                kdgat.open("gat", root=root)
            with self.assertRaisesRegex(kdgat.Error, "no run or folder"):
                kdgat.open("gi", root=root)

    def test_a_run_of_several_seeds_names_its_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "run.json").write_text(json.dumps(
                {"profile": "smoke", "replicates": [{"seed": 1, "run": "01AAAA"}, {"seed": 2, "run": ""}]}))
            with self.assertRaisesRegex(kdgat.Error, r"several seeds: open one of its runs, 01AAAA \(seed 1\)$"):
                kdgat.open(folder)

    def test_predictions_of_classes_have_a_probability_for_each(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(shutil.copytree(CAN, pathlib.Path(folder, "run")))
            file = copy / "evaluate/predictions.safetensors"
            numbers, probability = np.array([4, 7], "<i8"), np.array([[0.25, 0.75], [1, 0]], "<f4")
            arrays = {}
            for group in ("gin/val", "gin/test/one"):
                arrays |= {f"{group}/graph": numbers, f"{group}/label": numbers - 6, f"{group}/prediction": numbers % 2,
                           f"{group}/probability": probability}
            saving.write(file, arrays, {"classes": '["ring", "path"]', "store": ""})
            found = kdgat.open(copy).predictions()
            self.assertEqual(list(found), ["model", "part", "graph", "label", "decision", "probability.ring",
                                           "probability.path"])
            self.assertEqual(list(found["part"]), ["one", "one", "val", "val"])
            np.testing.assert_array_equal(found.select(part="val")["probability.path"], [0.75, 0])
            arrays["gin/val/probability"] = probability[:, :1]
            for broken in (arrays, {k: v for k, v in arrays.items() if k != "gin/val/label"}):
                saving.write(file, broken, {"classes": '["ring", "path"]'})
                with self.assertRaises(kdgat.Error):
                    kdgat.open(copy).predictions()

    def test_nothing_but_a_regular_file_is_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(shutil.copytree(CAN, pathlib.Path(folder, "run")))
            run = kdgat.open(copy)
            for name, ask in (("evaluate/metrics.json", lambda: run.metrics), ("classifier/journal.jsonl", run.curves),
                              ("classifier/model.safetensors", lambda: kdgat.load(copy / "classifier/model.safetensors")),
                              ("run.json", lambda: kdgat.open(copy / "../run"))):
                (copy / name).unlink()
                os.mkfifo(copy / name)
                with self.subTest(name), self.assertRaisesRegex(kdgat.Error, "not a regular file|no run or folder|neither the"):
                    ask()

    def test_names_with_a_null_byte_and_files_that_are_too_large_are_refused(self):
        for ask in (kdgat.open, kdgat.graphs, kdgat.load, lambda name: kdgat.run([name])):
            with self.assertRaises(kdgat.Error):
                ask("a\0b")
        with tempfile.TemporaryDirectory() as folder:
            with open(pathlib.Path(folder, "run.json"), "wb") as file:
                file.truncate(40_000_000)
            with self.assertRaisesRegex(kdgat.Error, "run.json: is 40.0 MB; at most 32 MB are read"):
                kdgat.open(folder)

    def test_numbers_beyond_a_float_are_infinite(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(shutil.copytree(CAN, pathlib.Path(folder, "run")))
            with open(copy / "classifier/journal.jsonl", "a") as journal:
                for index, loss in ((61, "1" + 400 * "0"), (10**30, "1"), (62, "-1" + 400 * "0")):
                    journal.write(f'{{"event":"metrics","what":"epoch","index":{index},"values":{{"val_loss":{loss}}}}}\n')
            curves = kdgat.open(copy).curves("classifier")
            self.assertEqual(list(curves["val_loss"][-2:]), [np.inf, -np.inf])

    def test_what_is_not_there_is_said_with_what_is(self):
        run = kdgat.open(CAN)
        for ask, reason in ((lambda: run.model("evaluate"), "has no weights; those that do: autoencoder, classifier"),
                            (run.model, "name one step of: autoencoder, classifier"), (run.curves, "autoencoder, classifier"),
                            (lambda: run.predictions("nix"), "no step is called nix"),
                            (lambda: run.predictions().select(nix=1), "no column is called nix")):
            with self.assertRaisesRegex(kdgat.Error, reason):
                ask()

    def test_predictions_take_file_and_row_from_a_store_that_was_moved(self):
        run = kdgat.open(CAN)
        self.assertNotIn("file", run.predictions())
        found = run.predictions(store=support.OLD / "stores/can")
        graphs = kdgat.graphs(support.OLD / "stores/can")
        for i in range(found.rows):
            graph = graphs[found["graph"][i]]
            self.assertEqual((found["file"][i], found["row"][i], found["label"][i]), (graph["file"], graph["row_begin"], graph["y"]))
        self.assertNotIn("file", run.predictions(store=support.OLD / "stores/trees"))

    def test_predictions_of_ratings_are_the_columns_of_the_file(self):
        found = kdgat.open(next(run for run in RUNS if run.parts[-4:-2] == ("finished", "ratings"))).predictions()
        self.assertEqual([(name, column.dtype.kind) for name, column in found.items()],
                         [("user", "i"), ("item", "i"), ("rating", "f"), ("prediction", "f")])

    def test_broken_files_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(shutil.copytree(CAN, pathlib.Path(folder, "run")))
            for name in ("metrics.json", "predictions.safetensors"):
                (copy / "evaluate" / name).write_bytes(b"\xff{")
            run = kdgat.open(copy)
            for ask, name in ((lambda: run.metrics, "metrics.json"), (run.predictions, "predictions.safetensors")):
                with self.assertRaises(kdgat.Error) as caught:
                    ask()
                self.assertEqual(os.path.basename(caught.exception.path), name)
            with open(copy / "classifier/journal.jsonl", "ab") as journal:
                journal.write(b'[1]\n\xff\n{"event":"metrics","what":"epoch","index":1')
            self.assertEqual(len(run.curves("classifier")["epoch"]), 60)
            for data in (1, [], {"folder": 3}, {"folder": "nowhere"}):
                (copy / "run.json").write_text(json.dumps({"data": data, "steps": [1, {"step": "evaluate"}]}))
                self.assertEqual((kdgat.open(copy).store, list(kdgat.open(copy).steps)), (None, ["evaluate"]))
            for text in ("", "[]", "{", '{"steps":3}'):
                (copy / "run.json").write_text(text)
                with self.assertRaises(kdgat.Error):
                    kdgat.open(copy)

    def test_a_step_that_was_continued_says_later_epochs_once(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(shutil.copytree(CAN, pathlib.Path(folder, "run")))
            with open(copy / "classifier/journal.jsonl", "a") as journal:
                journal.write(json.dumps({"event": "metrics", "what": "epoch", "index": 41, "values": {"val_loss": 9}}) + "\n")
            curves = kdgat.open(copy).curves("classifier")
            self.assertEqual((curves["epoch"][-1], curves["val_loss"][-1]), (41, 9))
            self.assertTrue(np.isnan(curves["train_loss"][-1]))

    def test_frames_need_pandas(self):
        run = kdgat.open(CAN)
        if not support.importable("pandas"):
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                run.metrics_frame()
            return
        frame = run.metrics_frame()
        row = frame[(frame.step == "evaluate") & (frame.model == "classifier") & (frame.part == "val") & (frame.name == "f1")]
        self.assertEqual(list(row.value), [1.0])
        self.assertEqual(len(run.predictions().frame()), run.predictions().rows)
        self.assertEqual(len(run.curves("classifier").frame()), 60)


@support.needs_program
class NewRun(unittest.TestCase):
    def setUp(self):
        self.run_ = kdgat.open(support.small_run())

    def test_steps_profile_and_options_are_as_runs_show_tells(self):
        told = json.loads(kdgat.run(["runs", "show", self.run_.folder, "--json"], capture=True).out)
        self.assertEqual({s["step"]: s["status"] for s in told["steps"]}, {n: s.state for n, s in self.run_.steps.items()})
        self.assertEqual(self.run_.profile, "smoke")
        self.assertEqual(self.run_.config["classifier"]["options"]["max_epochs"], 3)
        self.assertEqual(len(self.run_.curves("classifier")["epoch"]), 3)

    def test_f1_of_predictions_is_that_of_the_metrics(self):
        found, metrics = self.run_.predictions(), self.run_.metrics["evaluate"]
        told = {(f.model, f.part): f.value for f in self.run_.figures() if f.step == "evaluate" and f.name == "f1"}
        count = 0
        for model in ("autoencoder", "classifier"):
            tables = {"val": metrics[model], **metrics["test"][model]}
            for part, table in tables.items():
                rows = found.select(model=model, part=part, judged=True)
                self.assertEqual(rows.rows, table["core"]["n_samples"])
                self.assertAlmostEqual(f1(rows["label"], rows["decision"]), table["core"]["f1"])
                self.assertEqual(told[model, part], table["core"]["f1"])
                if (model + " calibrated", part) in told:
                    self.assertEqual(told[model + " calibrated", part], table["calibrated"]["f1"])
                    self.assertAlmostEqual(f1(rows["label"], rows["calibrated"]), told[model + " calibrated", part])
                    count += 1
        self.assertEqual(count, 2)

    def test_windows_have_the_times_that_the_detector_gives_them(self):
        windows, found = self.run_.predictions("detector"), self.run_.predictions().select(model="classifier")
        times = dict(zip(zip(windows["file"], windows["row"]), windows["time"]))
        same = [(t, times[key]) for key, t in zip(zip(found["file"], found["row"]), found["time"]) if key in times]
        self.assertGreater(len(same), 100)
        for ours, theirs in same:
            self.assertAlmostEqual(ours, theirs, places=5)

    def test_f1_of_the_detector_is_that_of_its_windows(self):
        windows = self.run_.predictions("detector")
        for part, name in {(f.part, f.value) for f in self.run_.figures()
                           if (f.step, f.model, f.name) == ("detector", "detector", "f1") and f.part.startswith("test")}:
            rows = windows.select(part=part)
            self.assertAlmostEqual(f1(rows["label"], rows["decision"]), name)

    def test_a_kept_step_is_read_from_the_run_that_made_it(self):
        kdgat.run(["run", "--preset", "smoke", "data.synth.seconds=30", "max_epochs=3", "classifier.max_epochs=2", "--root",
                   "runs"], capture=True, cwd=support.scratch())
        newest = kdgat.open(max(support.scratch().glob("runs/smoke/*/run.json")).parent)
        step = newest.steps["autoencoder"]
        self.assertEqual((step.state, step.folder.parent.name), ("kept", self.run_.id))
        self.assertEqual(set(newest.model("autoencoder")), set(self.run_.model("autoencoder")))


if __name__ == "__main__":
    unittest.main()
