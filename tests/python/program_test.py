"""Of kdgat.run, kdgat.program and python -m kdgat."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import support

import kdgat

PACKAGE = support.ROOT / "scripts/python"


def python(*words, **more):
    return subprocess.run([sys.executable, "-B", *words], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True,
                          text=True, check=False, **more)


class Program(unittest.TestCase):
    def test_the_package_imports_nothing_large(self):
        done = python("-c", "import kdgat, sys; print({'numpy', 'pandas', 'torch'} & set(sys.modules), dir(kdgat))")
        self.assertTrue(done.stdout.startswith("set()"), done.stdout + done.stderr)

    def test_names_are_there_and_others_are_not(self):
        for name in set(kdgat.__all__) - {"version", "__version__"}:
            self.assertIsNotNone(getattr(kdgat, name))
        with self.assertRaises(AttributeError):
            kdgat.nix

    def test_without_the_program_it_is_said(self):
        with tempfile.TemporaryDirectory() as empty, mock.patch.dict(os.environ, PATH=empty):
            with self.assertRaisesRegex(kdgat.Error, "neither in the package nor in the PATH"):
                kdgat.program()

    def test_a_script_of_python_is_not_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = pathlib.Path(folder, "a/kdgat"), pathlib.Path(folder, "b/kdgat")
            for file, text in ((first, "#!/usr/bin/python3\n"), (second, "#!/bin/sh\nprintf '%s.' \"$@\"\nexit 3\n")):
                file.parent.mkdir()
                file.write_text(text)
                file.chmod(0o755)
            with mock.patch.dict(os.environ, PATH=f"{first.parent}:{second.parent}"):
                self.assertEqual(kdgat.program(), second)
                done = kdgat.run(["a b", pathlib.Path("c")], check=False, capture=True)
                self.assertEqual((done.exit_code, done.out), (3, "a b.c."))

    def test_a_program_of_the_current_folder_is_not_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            lent = pathlib.Path(folder, "bin/kdgat")
            lent.parent.mkdir()
            for file in (lent, pathlib.Path(folder, "kdgat")):
                file.write_text("#!/bin/sh\n")
                file.chmod(0o755)
            before = os.getcwd()
            os.chdir(folder)
            try:
                for path in ("", ":", ".", "./bin", "bin"):
                    with mock.patch.dict(os.environ, PATH=path), self.assertRaises(kdgat.Error):
                        kdgat.program()
            finally:
                os.chdir(before)

    def test_the_program_of_the_package_comes_first(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(shutil.copytree(PACKAGE / "kdgat", pathlib.Path(folder, "kdgat")))
            (package / "program").mkdir()
            (package / "program/kdgat").write_text("#!/bin/sh\necho \"kdgat 9.8, called $1\"\n")
            (package / "program/kdgat").chmod(0o755)
            code = "import kdgat; print(kdgat.program().parent.name, kdgat.version); kdgat.run(['help'])"
            env = {**os.environ, "PYTHONPATH": folder}
            done = subprocess.run([sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, check=False)
            self.assertEqual(done.stdout, "program 9.8\nkdgat 9.8, called help\n", done.stderr)

    def test_words_are_a_list(self):
        with self.assertRaises(TypeError):
            kdgat.run("runs list")


@support.needs_program
class TheProgram(unittest.TestCase):
    def test_version_is_that_of_the_program(self):
        self.assertRegex(kdgat.version, r"^\d+\.\d+")
        self.assertIn(kdgat.__version__, kdgat.run(["--version"], capture=True).out)

    def test_a_failure_is_told_in_its_words(self):
        with self.assertRaisesRegex(kdgat.Error, "kdgat run ended with 2: .*nix") as caught:
            kdgat.run(["run", "--preset", "nix"], capture=True)
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertIn("nix", caught.exception.err)
        done = kdgat.run(["run", "--preset", "nix"], check=False, capture=True)
        self.assertEqual((done.exit_code, done.out), (2, ""))

    def test_lines_are_shown_as_they_come_unless_captured(self):
        done = python("-c", "import kdgat; kdgat.run(['--version']); kdgat.run(['help'], capture=True)")
        self.assertTrue(done.stdout.startswith("kdgat "), done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 1)

    def test_python_m_becomes_the_program(self):
        done = python("-m", "kdgat", "run", "--preset", "nix")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("error: "))


if __name__ == "__main__":
    unittest.main()
