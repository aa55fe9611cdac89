"""Of scripts/bench: its list, the nearest name, rows, and the verdict on two builds."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from benches import catalog, compare, gpu
from benches.common import Build, Failed, Figure


def bench(*words):
    return subprocess.run([str(ROOT / "scripts" / "bench"), *words], capture_output=True, text=True)


class Front(unittest.TestCase):
    def test_every_measurement_is_listed_with_the_first_line_of_its_docstring(self):
        text = bench("--help").stdout
        modules = catalog.measurements()
        self.assertTrue({"data", "start", "train", "gpu", "ratings"} <= set(modules))
        for name, module in modules.items():
            self.assertRegex(text, rf"(?m)^  {name} +{catalog.summary(module)}$")
            self.assertTrue(catalog.parser_of(name, module).format_help())

    def test_an_unknown_name_gives_the_nearest_one(self):
        done = bench("trian")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean train?", done.stderr)

    def test_a_missing_input_is_named(self):
        done = bench("textgcn")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--graph or --texts is needed", done.stderr)

    def test_a_program_that_is_not_built_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(Failed, "kdgat_bench does not exist: run scripts/build"):
                Build(folder, 1, folder).output("kdgat_bench")

    def test_without_a_card_each_line_of_its_table_says_so(self):
        if shutil.which("nvidia-smi"):
            self.skipTest("this machine has a card")
        done = bench("gpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(len(gpu.PARTS), 9)
        for name, *_ in gpu.PARTS:
            self.assertIn(f"| {name} | no device |", done.stdout)
        one = bench("gpu", "plan")
        self.assertIn("| plan | no device |", one.stdout)
        self.assertNotIn("| speed |", one.stdout)

    def test_a_part_of_the_cards_table_that_is_not_there_is_named(self):
        done = bench("gpu", "sped")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sped is no part; parts are correct,", done.stderr)

    def test_it_leaves_no_compiled_sources_behind(self):
        bench("--help")
        self.assertEqual(list((ROOT / "scripts").rglob("__pycache__")), [])


class Rows(unittest.TestCase):
    def test_the_ratio_is_kdgats_advantage_whichever_is_better(self):
        self.assertIn("  4.0x", Figure("rate", 8, "rows/s", peer=2).row())
        self.assertIn("  4.0x", Figure("time", 2, "s", less=True, peer=8).row())
        self.assertNotIn("x", Figure("rate", 8, "rows/s").row())


def verdict(before, after, less=True):
    return compare.Verdict.of(Figure("epoch", 0, "s", less=less), before, after)


class Verdicts(unittest.TestCase):
    def test_more_than_three_percent_counts_and_less_does_not(self):
        self.assertEqual(verdict([100] * 7, [104] * 7).word, "worse")
        self.assertEqual(verdict([100] * 7, [102] * 7).word, "")
        self.assertEqual(verdict([100] * 7, [90] * 7).word, "better")

    def test_more_is_better_for_a_rate(self):
        self.assertEqual(verdict([100] * 7, [104] * 7, less=False).word, "better")
        self.assertEqual(verdict([100] * 7, [96] * 7, less=False).word, "worse")

    def test_what_lies_within_the_spread_of_either_build_does_not_count(self):
        wide = [80, 90, 95, 100, 105, 110, 120]  # quartiles 92.5 and 107.5
        self.assertAlmostEqual(verdict(wide, [110] * 7).spread, 15)
        self.assertEqual(verdict(wide, [110] * 7).word, "")
        self.assertEqual(verdict([100] * 7, [value + 10 for value in wide]).word, "")
        self.assertEqual(verdict(wide, [116] * 7).word, "worse")

    def test_a_figure_that_was_zero_and_is_no_more_is_worse(self):
        self.assertEqual(verdict([0] * 3, [1] * 3).word, "worse")
        self.assertEqual(verdict([0] * 3, [0] * 3).word, "")

    def test_what_is_below_the_grain_of_a_figure_does_not_count(self):
        pages = Figure("memory", 0, "MiB", less=True, grain=0.1)
        self.assertEqual(compare.Verdict.of(pages, [0.04] * 3, [0.05] * 3).word, "")
        self.assertEqual(compare.Verdict.of(pages, [0.04] * 3, [0.5] * 3).word, "worse")

    def test_neither_build_is_always_the_first_of_a_pair(self):
        order = []

        def measure(build, args):
            order.append(build)
            yield "a text beside it"
            yield Figure("part", len(order), "s", less=True)
            yield Figure("part", {"old": 10, "new": 20}[build], "s", less=True)

        first, second = compare.compare(types.SimpleNamespace(measure=measure), ("old", "new"), None, 4)
        self.assertEqual(order, ["old", "new", "new", "old"] * 2)
        self.assertEqual((second.before, second.after, second.word), (10, 20, "worse"))
        self.assertEqual(first.before, 4.5)

    def test_builds_that_give_other_figures_are_not_compared(self):
        def measure(build, args):
            yield Figure(build, 1, "s")

        with self.assertRaisesRegex(Failed, "new, old"):
            list(compare.compare(types.SimpleNamespace(measure=measure), ("old", "new"), None, 3))


if __name__ == "__main__":
    unittest.main()
