"""Of scripts/test_times: times of programs are added up, kept and compared."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/test_times"


class TestTimes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)

    def times(self, rows, *words):
        cases = "".join(f'<testcase name="{name}" time="{seconds}"/>' for name, seconds in rows)
        (self.build / "tests.xml").write_text(f"<testsuite>{cases}</testsuite>", encoding="utf-8")
        return self.run_script(*words)

    def run_script(self, *words):
        return subprocess.run([sys.executable, "-B", SCRIPT, self.build, *words],
                              capture_output=True, text=True, check=False)

    def test_parts_of_a_program_are_added_up_and_scripts_are_not(self):
        done = self.times([("kdgat_a_tests: part 1 of 2", 1.5), ("kdgat_a_tests: part 2 of 2", 2),
                           ("kdgat_b_tests: a title: with a colon", 9),
                           ("scripts: one", 1), ("scripts: two", 2)])
        self.assertEqual(done.returncode, 0, done.stderr)
        written = (self.build / "test_times.txt").read_text(encoding="utf-8")
        self.assertEqual(written, "     9.0  kdgat_b_tests\n     3.5  kdgat_a_tests\n"
                                  "     2.0  scripts: two\n     1.0  scripts: one\n")
        self.assertIn("15.5  seconds of all 4", done.stdout)

    def test_ten_programs_are_shown(self):
        done = self.times([(f"scripts: {n}", n) for n in range(12)])
        self.assertEqual(len(done.stdout.splitlines()), 11)
        self.assertIn("scripts: 11", done.stdout)
        self.assertNotIn("scripts: 1\n", done.stdout)

    def test_what_became_slower_or_faster_is_named_and_the_new_times_are_kept(self):
        last = self.build / "cache/last.txt"
        first = [("scripts: slow", 10), ("scripts: fast", 30), ("scripts: same", 10),
                 ("scripts: gone", 1), ("scripts: tiny", 1)]
        self.assertNotIn(":", self.times(first, "--last", last).stdout.split("\n", 6)[-1])
        second = [("scripts: slow", 20), ("scripts: fast", 15), ("scripts: same", 11),
                  ("scripts: new", 1), ("scripts: tiny", 3)]
        said = self.times(second, "--last", last).stdout.splitlines()[6:]
        self.assertEqual(said, ["faster: scripts: fast takes 15 s, 30 s before",
                                "gone: scripts: gone took 1 s", "new: scripts: new takes 1 s",
                                "slower: scripts: slow takes 20 s, 10 s before"])
        self.assertEqual(self.times(second, "--last", last).stdout.splitlines()[6:], [])

    def test_without_a_report_it_says_where_one_comes_from(self):
        done = self.run_script()
        self.assertEqual(done.returncode, 2)
        self.assertIn("scripts/test writes it", done.stderr)


if __name__ == "__main__":
    unittest.main()
