"""Of scripts/check_domains: what knows a domain, and that a second one is found."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDES_CAN = '#include "engine/data/can/logs/can_log.h"\n'


class CheckDomains(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for name, at in (("can", "engine/data/can"), ("ratings", "fields/ratings/data"),
                         ("space", "fields/space/data")):
            (self.root / "stages" / at).mkdir(parents=True)
            shutil.copy(ROOT / f"stages/{at}/{name}_domain.cpp", self.root / "stages" / at)
        (self.root / "pipeline/data").mkdir(parents=True)

    def tearDown(self):
        self.folder.cleanup()

    def check(self, text, name="pipeline/planted.cpp"):
        (self.root / name).write_text(text)
        run = subprocess.run([ROOT / "scripts/check_domains", self.root], capture_output=True, text=True)
        return run.returncode, run.stdout

    def test_one_domain_is_no_fault(self):
        self.assertEqual(self.check(INCLUDES_CAN + 'auto port = graphs_of("can");\n')[0], 0)

    def test_a_second_is_found_however_it_is_named(self):
        for line in ('#include "fields/space/data/swc.h"', "ratings_domain();",
                     'graphs_of("ratings")', 'facts.at("spatial")'):
            code, out = self.check(INCLUDES_CAN + line + "\n")
            self.assertEqual(code, 1, line)
            self.assertIn("pipeline/planted.cpp:2: knows", out)

    def test_a_domain_that_knows_another_is_found(self):
        code, out = self.check("can_domain();\nratings_domain();\n",
                               "stages/fields/ratings/data/planted.cpp")
        self.assertEqual(code, 1)
        self.assertIn(":2: knows ratings, and can before", out)

    def test_comments_and_the_list_may_name_all(self):
        self.assertEqual(self.check("// can_domain ratings_domain\n")[0], 0)
        both = self.check("can_domain(), ratings_domain()\n", "pipeline/data/domains.cpp")
        self.assertEqual(both[0], 0)


unittest.main()
