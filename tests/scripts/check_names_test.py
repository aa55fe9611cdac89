"""Of scripts/check_names: which texts name something, and where they may."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CheckNames(unittest.TestCase):
    def problems(self, text, path="pipeline/report/page.cpp"):
        """What the script says of a tree with one source."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("stages/classifier/classifier.cpp", "plugins/classifier.cpp", "stages/graph/graph.cpp", path):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("")
            (root / path).write_text(text)
            done = subprocess.run([ROOT / "scripts/check_names", root], capture_output=True, text=True, check=False)
            lines = [line for line in done.stdout.splitlines() if line.startswith(path)]
            self.assertEqual(done.stderr, "")
            return lines

    def test_words_and_parts_of_keys_are_names(self):
        for text, name in (('add("f1");', "a metric, f1"), ('if (name == "val_auc") return;', "a metric, val_auc"),
                           ('key("metrics.test.rmse");', "a metric, rmse"), ('find("classifier");', "a stage, classifier"),
                           ('set("options.classifier.lr");', "a stage, classifier"), ('e.value("event", "");', "a event, event"),
                           ('what == "epoch"', "a event, epoch")):
            with self.subTest(text):
                lines = self.problems("int a;\n" + text + "\n")
                self.assertEqual(len(lines), 1)
                self.assertTrue(lines[0].startswith("pipeline/report/page.cpp:2: "))
                self.assertIn(name, lines[0])

    def test_texts_for_people_comments_and_other_words_are_none(self):
        for text in ('say("the F1 of a classifier, by f1");', '// "f1" is a name\n/* "auc" */', 'R"(kdgat run classifier)"',
                     'add("f1_score");', 'find("graph");', '#include "pipeline/f1/auc.h"', "char c = '\"'; int f1;"):
            with self.subTest(text):
                self.assertEqual(self.problems(text + "\n"), [])

    def test_the_sdk_and_the_two_readers_may(self):
        for path in ("pipeline/sdk/kdgat/measure.h", "pipeline/run/journal.cpp", "pipeline/run/step_metrics.cpp"):
            with self.subTest(path):
                self.assertEqual(self.problems('add("f1", "event");\n', path), [])

    def test_an_exception_that_is_not_used_is_an_error(self):
        done = subprocess.run([ROOT / "scripts/check_names"], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "names: the host names no metric, no event and no stage\n")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("pipeline", "stages", "plugins"):
                (pathlib.Path(folder) / name).mkdir()
            done = subprocess.run([ROOT / "scripts/check_names", folder], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("does not name score any more", done.stdout)


if __name__ == "__main__":
    unittest.main()
