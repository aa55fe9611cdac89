"""Of scripts/check_names: which texts name something, where they may, and what reads by key."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "pipeline/report/page.cpp"
# What the names are read from.
TREE = {
    "plugins/classifier.cpp": "",
    "stages/classifier/classifier.cpp": "",
    "stages/graph/graph.cpp": "",
    "stages/classifier/options.h":
        'field("max_epochs", &O::a, "Long.").alias("num_epochs"),\n'
        'field(\n  "seed", &O::b, "Draws."), field("lr", &O::c, "Rate.")',
    "pipeline/sdk/kdgat/measure.h":
        'constexpr Measure kMeasures[] = {\n  {"rmse", "RMSE", kLess}};',
    "stages/engine/train/metrics/metrics.cpp":
        'constexpr Metric kMetrics[] = {\n  {{.name = "f1"}, f1},\n  {{.name = "auc"}, auc}};',
    "stages/engine/train/metrics/class_metrics.cpp":
        'constexpr ClassMetric kClassMetrics[] = {\n  {{.name = "macro_f1"}, macro_f1}};',
}


class CheckNames(unittest.TestCase):
    def run_on(self, sources, *words):
        """What the script says of a tree with some sources."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**TREE, **sources}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            done = subprocess.run([ROOT / "scripts/check_names", *words, root], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.stderr, "")
            return done.stdout.splitlines()

    def problems(self, text, path=PAGE):
        return [line for line in self.run_on({path: text}) if line.startswith(path)]

    def reads(self, text):
        """How many reads a source has."""
        lines = [line.split() for line in self.run_on({PAGE: text}, "--reads")]
        return sum(int(words[0]) for words in lines if words[1:] == [PAGE])

    def test_words_and_parts_of_keys_are_names(self):
        for text, name in (('add("f1");', "a metric, f1"),
                           ('if (name == "val_auc") return;', "a metric, val_auc"),
                           ('key("metrics.test.rmse");', "a metric, rmse"),
                           ('find("classifier");', "a stage, classifier"),
                           ('set("options.classifier.x");', "a stage, classifier"),
                           ('e.value("event", "");', "an event, event"),
                           ('what == "epoch"', "an event, epoch"),
                           ('add("max_epochs");', "an option, max_epochs"),
                           ('add("num_epochs");', "an option, num_epochs"),
                           ('add("max_epochs patience monitor_*");', "an option, max_epochs"),
                           ('options["seed"] = 1;', "an option, seed"),
                           ('below(config.options, "lr");', "an option, lr"),
                           ('set("options.lr");', "an option, lr")):
            with self.subTest(text):
                lines = self.problems("int a;\n" + text + "\n")
                self.assertGreaterEqual(len(lines), 1)
                self.assertTrue(lines[0].startswith(PAGE + ":2: "))
                self.assertTrue(any(name in line for line in lines))

    def test_texts_for_people_comments_and_other_words_are_none(self):
        for text in ('say("the F1 of a classifier, by f1");', '// "f1" is a name\n/* "auc" */',
                     'R"(kdgat run classifier)"', 'add("f1_score");', 'find("graph");',
                     '#include "pipeline/f1/auc.h"', "char c = '\"'; int f1;", 'word(run, "seed");',
                     'say("it takes max_epochs epochs and no more");'):
            with self.subTest(text):
                self.assertEqual(self.problems(text + "\n"), [])

    def test_the_sdk_and_the_two_readers_may(self):
        for path in ("pipeline/sdk/kdgat/words.h", "pipeline/run/journal.cpp",
                     "pipeline/run/step_metrics.cpp"):
            with self.subTest(path):
                self.assertEqual(self.problems('add("f1", "event");\n', path), [])

    def test_a_table_that_is_not_there_is_said(self):
        file = "stages/engine/train/metrics/metrics.cpp"
        self.assertIn(file + ": has no table kMetrics of metrics", self.run_on({file: "int a;"}))

    def test_an_exception_that_is_not_used_is_an_error(self):
        done = subprocess.run([ROOT / "scripts/check_names"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("names no metric, event, stage or option", done.stdout)
        lines = self.run_on({})
        self.assertTrue(any("does not name score any more" in line for line in lines))
        self.assertTrue(any("does not name monitor_metric any more" in line for line in lines))

    def test_reads_by_a_key_count_and_writes_do_not(self):
        for text, count in (('x["key"]', 1), ('x.value("key", 0)', 1),
                            ('f(x.at("key").at("other"))', 2),
                            ('word(below(x, "a"), "b")', 2), ('number(f({1, 2}), "key", 0)', 1),
                            ('if (x["key"] == 1)', 1), ('x->contains("key")', 1),
                            ('x["key"] = 1;', 0), ('x["a"]["b"].push_back(1);', 0),
                            ('x = {{"key", 1}};', 0), ('add(x, "key");', 0),
                            ('x.value("--flag", y)', 0),
                            ('text.find("utf") != std::string::npos', 0), ('// x["key"]', 0),
                            ('[]() { return f("key"); }', 0)):
            with self.subTest(text):
                self.assertEqual(self.reads(text + "\n"), count)

    def test_readers_of_records_may_read_and_others_no_more_than_they_do(self):
        many = 'x["key"]\n' * 1000
        self.assertFalse(any("reads of JSON" in line for line in self.run_on(
            {"pipeline/run/journal.cpp": many})))
        self.assertTrue(any("1000 reads of JSON" in line for line in self.run_on({PAGE: many})))


if __name__ == "__main__":
    unittest.main()
