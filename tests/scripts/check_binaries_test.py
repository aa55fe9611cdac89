"""scripts/check_binaries names each thing that a binary lacks, and passes one that has all."""
import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("check_binaries", str(ROOT / "scripts/check_binaries"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_binaries", loader))
loader.exec_module(check)

SOURCE = """
#include <string.h>
const char* where = __FILE__;
void copy(char* to, const char* from, unsigned long size) {
  char local[64];
  memcpy(local, from, size);
  memcpy(to, local, size);
}
int main(int count, char** words) {
  char text[64];
  copy(text, words[0], count);
  return text[0];
}
"""
HARDENED = ["-O2", "-fPIE", "-pie", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-Wl,-z,relro,-z,now"]


class CheckBinaries(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def faults(self, *flags, folder=".", text=SOURCE):
        source = self.folder / "program.c"
        source.write_text(text)
        binary = self.folder / folder / "program"
        binary.parent.mkdir(exist_ok=True)
        subprocess.run(["cc", "-w", str(source), "-o", str(binary), *flags], check=True)
        return list(check.Binary(binary).faults({str(self.folder) + "/"}))

    def test_a_hardened_binary_without_paths_passes(self):
        self.assertEqual(self.faults(*HARDENED, f"-ffile-prefix-map={self.folder}/="), [])

    def test_blocks_of_a_size_that_nobody_knows_are_no_fault_of_a_plugin(self):
        mapped = f"-ffile-prefix-map={self.folder}/="
        text = SOURCE.replace("memcpy(local, from, size);", "memcpy(to, from, size);")
        self.assertEqual(self.faults(*HARDENED, mapped, folder="plugins", text=text), [])
        self.assertEqual(self.faults(*HARDENED, mapped, text=text), ["lacks FORTIFY_SOURCE"])

    def test_each_thing_that_is_missing_is_named(self):
        mapped = f"-ffile-prefix-map={self.folder}/="
        for flag, fault in ((("-fno-pie", "-no-pie"), "is not position independent"),
                            (("-Wl,-z,lazy",), "lacks full RELRO"), (("-z", "execstack"), "has an executable stack"),
                            (("-fno-stack-protector",), "lacks a stack protector"),
                            (("-U_FORTIFY_SOURCE",), "lacks FORTIFY_SOURCE"),
                            (("-Wl,-rpath,/opt/other",), "searches /opt/other for libraries")):
            with self.subTest(fault):
                self.assertIn(fault, self.faults(*HARDENED, mapped, *flag))

    def test_a_path_of_the_builder_is_named(self):
        self.assertEqual(self.faults(*HARDENED), [f"names the folder {self.folder}/"])

    def test_a_symbol_newer_than_the_tag_is_named(self):
        old = dict(check.NEWEST, GLIBC=(2, 2))
        newest, check.NEWEST = check.NEWEST, old
        self.addCleanup(setattr, check, "NEWEST", newest)
        faults = self.faults(*HARDENED, f"-ffile-prefix-map={self.folder}/=")
        self.assertEqual(len([fault for fault in faults if "newer than manylinux" in fault]), 1)

    def test_a_source_that_is_compiled_without_checks_is_named(self):
        def entry(target, flags):
            return {"file": f"{target}.cpp",
                    "command": f"c++ {flags} -o CMakeFiles/{target}.dir/{target}.cpp.o"}

        checked, unchecked = "-D_FORTIFY_SOURCE=2", "-D_FORTIFY_SOURCE=2 -U_FORTIFY_SOURCE"
        commands = [entry("kdgat_core", checked), entry("kdgat_graph", unchecked),
                    entry("kdgat_plugin_score", ""), entry("kdgat_graph_tests", unchecked),
                    entry("kdgat_test_main", unchecked)]
        (self.folder / "compile_commands.json").write_text(json.dumps(commands))
        self.assertEqual([fault.split(":")[0] for fault in check.unchecked_sources(self.folder)],
                         ["kdgat_graph.cpp", "kdgat_plugin_score.cpp"])

    def test_a_folder_without_a_build_is_refused(self):
        self.assertEqual(check.main([str(self.folder)]), 2)


if __name__ == "__main__":
    unittest.main()
