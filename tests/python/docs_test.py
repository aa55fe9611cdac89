"""Of docs/python.md: its commands and its blocks of Python run, one after another."""
import contextlib
import io
import os
import pathlib
import re
import shlex
import tempfile
import unittest

import support

import kdgat


@support.needs_program
class Docs(unittest.TestCase):
    def test_every_block_of_the_page_runs(self):
        page = (support.ROOT / "docs/python.md").read_text()
        names, count = {}, 0
        before = pathlib.Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for kind, block in re.findall(r"^```(console|python)\n(.*?)^```$", page, re.M | re.S):
                    if kind == "console":
                        for line in block.splitlines():
                            kdgat.run(shlex.split(line)[2:], capture=True)
                        continue
                    shown = io.StringIO()
                    with self.subTest(block), contextlib.redirect_stdout(shown):
                        exec(compile(block, "docs/python.md", "exec"), names)
                    self.assertTrue(shown.getvalue())
                    count += 1
            finally:
                os.chdir(before)
        self.assertGreaterEqual(count, 5)


if __name__ == "__main__":
    unittest.main()
