"""Of scripts/reproduce detector: runs are made once for each build, logs are cut and joined as said, and tables say what is missed."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from reproduces import common, detector, figures, fleet, lab, logs, parts, reasons

# In the place of the program: notes that it was called, and answers as it does.
PROGRAM = """#!/usr/bin/env python3
import json, os, pathlib, sys
words = sys.argv[1:]
with open(pathlib.Path(__file__).parent / "calls", "a") as calls:
    calls.write(" ".join(words[:2]) + "\\n")
if "fail=1" in words:
    sys.exit("it went wrong")
if words[0] == "data":
    os.makedirs(words[words.index("-o") + 1])
else:
    step = pathlib.Path(words[words.index("--root") + 1]) / "run" / "detector"
    step.mkdir(parents=True)
    (step / "detector.json").write_text("{}")
    (step / "windows.csv").write_text("log,label,flagged,rule\\na,1,1,0.7\\n")
    metrics = {"parts": {"test_01": {"detector": {"f1": int(words[words.index("--seed") + 1])}}}}
    print(json.dumps({"folder": str(step.parent), "steps": [{"step": "detector", "result": {"metrics": metrics}}]}))
"""


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Runs(Scratch):
    def setUp(self):
        super().setUp()
        self.program = self.folder / "kdgat"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        source = self.folder / "log.csv"
        source.write_text("one")
        self.data = lab.Data("set", lambda _, folder: folder.mkdir(), (source,))

    def lab(self):
        return lab.Lab(self.folder / "root", 2, lambda text: None, self.program)

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def test_each_is_made_once_and_one_import_serves_all(self):
        runs = [lab.Run(self.data, "a", seed=seed) for seed in (1, 2, 1)]
        self.lab().make_all(runs)
        again = self.lab()
        again.make_all(runs)
        self.assertEqual(sorted(self.calls()), ["data import", "run --preset", "run --preset"])
        self.assertEqual(again.result(runs[1]).metrics["parts"]["test_01"]["detector"]["f1"], 2)
        self.assertEqual([row["flagged"] for row in again.result(runs[0]).windows()["a"]], ["1"])
        self.assertEqual(again.result(runs[0]).model_bytes(), 2)

    def test_other_options_another_log_or_another_build_are_other_runs(self):
        run = lab.Run(self.data, "a")
        self.lab().make_all([run])
        self.assertFalse(self.lab().is_done(lab.Run(self.data, "a", ("x=1",))))
        self.program.write_text(PROGRAM + "# another\n")
        self.assertFalse(self.lab().is_done(run))
        self.program.write_text(PROGRAM)
        self.assertTrue(self.lab().is_done(run))
        self.data.sources[0].write_text("longer")
        self.assertFalse(self.lab().is_done(run))

    def test_one_that_fails_is_told_and_leaves_nothing(self):
        run = lab.Run(self.data, "a", ("fail=1",))
        with self.assertRaisesRegex(common.Failed, "fail=1.*ended with 1\nit went wrong"):
            self.lab().make_all([run])
        self.assertFalse(self.lab().is_done(run))
        self.assertEqual([path.name for path in self.lab().root.iterdir() if path.name.startswith("scratch")], [])

    def test_what_a_killed_one_left_behind_goes_and_what_a_live_one_works_on_stays(self):
        root = self.lab().root
        done = subprocess.Popen(["true"])
        done.wait()
        for pid in (done.pid, os.getpid()):
            (root / f"scratch-{pid}-abc" / "store").mkdir(parents=True)
        self.assertEqual([path.name for path in self.lab().root.glob("scratch-*")], [f"scratch-{os.getpid()}-abc"])

    def test_a_store_that_is_not_kept_goes_when_its_runs_are_done(self):
        large = lab.Data("large", self.data.make, self.data.sources, keep=False)
        made = self.lab()
        made.make_all([lab.Run(large, "a"), lab.Run(self.data, "b")])
        self.assertEqual([path.name.split("-")[0] for path in (made.root / "stores").iterdir()], ["set"])


class Logs(Scratch):
    def write(self, name, times, attacks=()):
        path = self.folder / name
        logs.write_rows(path, "timestamp,arbitration_id,data_field,attack\n",
                        [f"{time:.6f},1A0,00,{1 if i in attacks else 0}\n" for i, time in enumerate(times)])
        return path

    def test_own_traffic_ahead_of_a_log_keeps_the_time_going_on(self):
        before = [logs.Rows(self.write("a.csv", range(5000, 5130))), logs.Rows(self.write("b.csv", range(100, 195)))]
        judged = self.write("judged.csv", [7000.25, 7001.25], attacks={1})
        logs.put_ahead(before, judged, self.folder / "out")
        rows = logs.Rows(self.folder / "out" / "judged.csv")
        times = [rows.time(i) for i in range(len(rows.lines))]
        self.assertEqual(len(times), 202)  # two windows of 225 rows, and the log
        self.assertEqual(times, sorted(times))
        self.assertEqual(times[200:], [7000.25, 7001.25])
        self.assertEqual([round(times[i + 1] - times[i], 6) for i in (0, 129, 130, 199)], [1, 0.001, 1, 0.001])
        self.assertEqual(rows.first_attack(), 201)

    def test_a_log_is_cut_by_rows_or_by_time_without_loss(self):
        path = self.write("log.csv", [i / 10 for i in range(100)])
        whole = logs.Rows(path).lines
        logs.cut(path, 0.6, self.folder / "head", self.folder / "tail")
        logs.cut_by_time(path, 3, self.folder / "first", self.folder / "rest")
        for begin, end, count in (("head", "tail", 60), ("first", "rest", 30)):
            halves = [logs.Rows(self.folder / name / "log.csv").lines for name in (begin, end)]
            self.assertEqual(len(halves[0]), count)
            self.assertEqual(halves[0] + halves[1], whole)

    def test_linked_folders_keep_their_names(self):
        self.write("data/train_01_free/a.csv", [1])
        self.write("data/test_01_known/b.csv", [1])
        logs.link_folders(self.folder / "data", self.folder / "linked", "train")
        self.assertEqual([str(path.relative_to(self.folder / "linked")) for path in logs.sources_of(self.folder / "linked")],
                         ["train_01_free/a.csv"])


class Figures(unittest.TestCase):
    def test_seeds_are_a_median_and_a_range(self):
        self.assertEqual(figures.over_seeds([.9, 1, .95]), ".9500 (.9000 to 1.0000)")
        self.assertEqual(figures.over_seeds([.5, .5]), ".5000")

    def test_windows_are_counted_with_shadows_log_by_log(self):
        def rows(labels, flags):
            return [{"label": label, "flagged": flag} for label, flag in zip(labels, flags)]

        tally = figures.Tally.of([rows("01100", "01011"), rows("0", "1")], figures.flagged_by_detector)
        self.assertEqual((tally.found, tally.missed, tally.false, tally.outside), (1, 1, 3, 2))
        self.assertAlmostEqual(tally.f1(), 2 / 6)
        self.assertEqual(figures.Tally().f1(), 0)

    def test_the_interval_of_a_poisson_count_is_exact(self):
        for events, low, high in ((0, 0, 3.689), (3, .619, 8.767), (100, 81.364, 121.627)):
            found = figures.poisson_interval(events)
            self.assertAlmostEqual(found[0], low, places=3)
            self.assertAlmostEqual(found[1], high, places=3)

    def test_a_missed_goal_is_bold_and_counted(self):
        self.assertEqual(parts.verdict({"F1": [True, True], "false windows": [True]}), "met")
        self.assertEqual(parts.verdict({"F1": [True, False], "false windows": [True]}), "**F1 in 1 of 2**")


class Front(unittest.TestCase):
    def test_tables_without_their_data_are_named(self):
        class Args:
            all, only, seeds = False, None, [1]

        studies, without, later = detector.chosen(Args, {"hcrl_sa": ROOT})
        self.assertEqual([study.name for study in studies], ["budget"])
        self.assertIn("Masquerade without times: needs --data road-masquerade", without)
        self.assertEqual(later, [])

    def test_a_folder_of_another_name_is_refused(self):
        with self.assertRaisesRegex(common.Failed, "a folder hcrl_sa, set_03 or road-masquerade is needed"):
            detector.sets_of([str(ROOT)])

    def test_options_of_other_tables_are_refused(self):
        for words in (["detector", "--data", "x", "--full"], ["hcrl_sa", "--data", "x", "--all"], ["swc", "--data", "x", "--data", "y"]):
            done = subprocess.run([str(ROOT / "scripts" / "reproduce"), *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_there_is_a_place_for_the_tables(self):
        text = common.RESULTS.read_text()
        for name in ("hcrl_sa", "swc", "detector", "fleet"):
            self.assertLess(text.index(f"<!-- reproduce {name} -->"), text.index(f"<!-- end {name} -->"))


class Fleet(unittest.TestCase):
    @staticmethod
    def windows(begins, flagged):
        return [{"begin": str(begin), "flagged": str(int(begin in flagged))} for begin in begins]

    def benign(self, begins, flagged):
        return fleet.Benign().add(self.windows(begins, flagged), figures.flagged_by_detector)

    def alarm_seconds(self, begins, flagged):
        return 3600 * self.benign(begins, flagged).alarm_hours

    def test_time_under_alarm_is_the_union_of_flagged_windows_and_two_seconds_behind_each(self):
        begins = range(0, 100, 1)
        self.assertAlmostEqual(self.alarm_seconds(begins, {10}), 3)
        self.assertAlmostEqual(self.alarm_seconds(begins, {10, 11}), 4)
        self.assertAlmostEqual(self.alarm_seconds(begins, {10, 50}), 6)
        self.assertEqual(self.alarm_seconds(begins, {}), 0)

    def test_a_pause_between_captures_counts_a_minute_at_most(self):
        benign = self.benign([0, 1, 2, 10_000, 10_001], {10_000})
        self.assertAlmostEqual(3600 * benign.hours, 1 + 1 + 60 + 1 + 1)
        self.assertEqual(benign.flagged, 1)

    def test_the_goal_follows_from_the_rule(self):
        self.assertAlmostEqual(fleet.goal_f1(1, False), .995)
        self.assertAlmostEqual(fleet.goal_f1(1, True), .99)
        self.assertAlmostEqual(fleet.goal_f1(.94, True), .97)
        self.assertAlmostEqual(fleet.goal_f1(.2, False), .25)

    def test_a_folder_that_is_missing_is_named(self):
        with self.assertRaisesRegex(common.Failed, "missing: can-train-and-test"):
            fleet.vehicles_of(["hcrl_sa", "set_03", "recan"])


class Reasons(unittest.TestCase):
    @staticmethod
    def rows(ids, attacks=()):
        return [[f"{number}.0", id, "00", "1" if number in attacks else "0"] for number, id in ids]

    def test_ids_are_read_from_reasons_in_words(self):
        self.assertEqual(reasons.named("316: 41 frames where 10 are usual; gap of 0.5 ms where 10 ms is usual"), [0x316])
        self.assertEqual(reasons.named("316 and 2C0: each is odd enough alone"), [0x316, 0x2C0])
        self.assertEqual(reasons.named("316 2C0 01A and 9 more: not in the profile"), [0x316, 0x2C0, 0x01A])

    def test_attacked_ids_are_those_of_attack_rows_of_a_window(self):
        rows = self.rows([(i, "1A0" if i % 2 else "1B0") for i in range(200)], attacks={3, 150, 151})
        self.assertEqual({window: ids for window, ids in reasons.attacked(rows).items() if ids}, {0: {0x1A0}, 1: {0x1A0, 0x1B0}})

    def test_a_missing_id_is_missing_until_it_comes_again(self):
        recorded = self.rows([(i, "1A0" if i % 10 == 0 else "1B0") for i in range(500)])
        kept = [row for row in recorded if not (row[1] == "1A0" and 150 <= float(row[0]) < 340)]
        missing = {window for window, ids in reasons.missing(kept, recorded).items() if ids == {0x1A0}}
        # 19 rows are gone: it comes again in row 340 - 19.
        self.assertEqual(missing, {1, 2, 3})


if __name__ == "__main__":
    unittest.main()
