"""Of scripts/soak tests: which tests it finds, and that it counts, continues and ends its busy loops."""
import json
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from soaks import tests as soak  # noqa: E402

SOURCE = '''
namespace {
/// Runs what it is given apart.
template <class Work>
int apart(Work work) {
  return ::fork() == 0 ? work() : 0;
}

struct World {
  int go() { return apart([] { return 1; }); }
};
}  // namespace

TEST_CASE("a sum is right", "[sum]") { CHECK(1 + 1 == 2); }

TEST_CASE("a title in two "
          "strings, with \\"quotes\\"",
          "[apart]") {
  CHECK(apart([] { return 0; }) == 0);
}

// Background is not started here.
TEST_CASE("a world goes on") { CHECK(World().go() == 1); }
'''
# They rest between two looks, pace a server, have a program that hangs, or kill at any moment.
RESTS = {"tests/unit/pipeline/records/http_test.cpp", "tests/unit/pipeline/alarms/alarm_queue_test.cpp",
         "tests/unit/pipeline/alarms/alarm_sinks_test.cpp", "tests/unit/pipeline/slurm/job_script_test.cpp",
         "tests/unit/pipeline/verbs/run_killed_test.cpp", "tests/slurm/slurm_test.cpp"}
# Stands for a program of Catch2: it lists one test, which passes on all runs but the second.
PROGRAM = f'''#!{sys.executable}
import os, pathlib, sys
if "--list-test-names-only" in sys.argv:
    print("a world goes on")
else:
    print(sys.argv[1], os.environ["OMP_NUM_THREADS"])
    runs = pathlib.Path(__file__).with_suffix(".runs")
    runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
    sys.exit(len(runs.read_text()) == 2)
'''


class SoakTests(unittest.TestCase):
    def test_it_finds_tests_by_what_they_and_their_helpers_use(self):
        self.assertEqual(soak.titles_in(SOURCE), ['a title in two strings, with "quotes"', "a world goes on"])

    def test_every_source_that_starts_or_waits_is_in_its_list(self):
        titles = set(soak.titles_of())
        helpers = re.compile(r'#include "support/(background|held_pipe|held_port|udp_sender|fake_mlflow|alarm_peers|shell_on_terminal)\.h"')
        for source in ROOT.glob("tests/**/*_test.cpp"):
            text = source.read_text()
            if helpers.search(text):
                self.assertTrue(titles & set(soak.titles_in(text)), f"{source} uses a helper, and no test of it is found")

    def test_every_mark_is_used(self):
        text = "".join(path.read_text() for path in ROOT.glob("tests/**/*_test.cpp"))
        for mark in soak.MARKS:
            self.assertRegex(text, mark)

    def test_no_title_holds_a_semicolon(self):
        """CTest would take it for two tests, neither of which there is."""
        for source in ROOT.glob("tests/**/*_test.cpp"):
            for title in re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', source.read_text()):
                self.assertNotIn(";", title, str(source))

    def test_no_test_waits_for_a_time(self):
        for source in ROOT.glob("tests/**/*_test.cpp"):
            if str(source.relative_to(ROOT)) in RESTS:
                continue
            for number, line in enumerate(source.read_text().splitlines(), 1):
                self.assertNotRegex(line, r"usleep\(|sleep_for\(|\bsleep \d",
                                    f"{source}:{number}: wait for a condition instead: tests/support/programs/wait.h")

    def test_a_title_is_written_as_catch_takes_it(self):
        self.assertEqual(soak.specification("a, b[0] \\"), "a\\, b\\[0\\] \\\\")

    def test_runs_are_counted_kept_and_continued(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            program = build / "kdgat_host_tests"
            program.write_text(PROGRAM)
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            known = {"built": [program.stat().st_mtime_ns], "runs": 0, "failures": 0, "seconds": 0.0}
            state = soak.State(build / "state.json", build, again=False)
            test = soak.Found("kdgat_host_tests", "a, world")
            self.assertEqual(state.of(test), known)
            options = soak.read(["--times", "3"])
            options.build = build
            with soak.BusyLoops(1) as loops:
                soak.soak(test, state.of(test), options, state, build)
            for pid in loops.pids:
                self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())
            self.assertEqual((state.of(test)["runs"], state.of(test)["failures"]), (3, 1))
            (kept,) = build.glob("*.txt")
            self.assertEqual(kept.read_text(), "a\\, world 1\n")
            again = soak.State(build / "state.json", build, again=False)
            self.assertEqual(again.of(test)["runs"], 3)
            self.assertEqual(json.loads((build / "state.json").read_text())[soak.label(test)]["failures"], 1)
            program.touch()
            self.assertEqual(again.of(test)["runs"], 0)

    def test_a_run_that_hangs_has_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "hangs"
            program.write_text("#!/bin/sh\nsleep 1000\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            output = pathlib.Path(folder) / "out"
            self.assertFalse(soak.run_once(program, "title", 0.2, output))
            self.assertIn("killed after 0.2 s", output.read_text())

    def test_a_title_that_is_nowhere_is_said(self):
        done = subprocess.run([ROOT / "scripts/soak", "tests", "no such title", "--build", "/none"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("scripts/build release", done.stderr)


unittest.main()
