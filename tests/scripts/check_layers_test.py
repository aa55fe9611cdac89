"""Of scripts/check_layers: doors, and calls that one file alone makes."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CheckLayers(unittest.TestCase):
    def run_script(self, folder):
        return subprocess.run([ROOT / "scripts/check_layers", folder],
                              capture_output=True, text=True, check=False)

    def problems(self, text, path):
        """What the script says of this source in a tree of its own."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / path
            source.parent.mkdir(parents=True)
            source.write_text(text)
            done = self.run_script(folder)
            self.assertEqual(done.stderr, "")
            return [line for line in done.stdout.splitlines() if line.startswith(path) or "calls" in line]

    def test_one_file_alone_listens(self):
        call = "void f(int s) {\n  ::listen(s, 8);\n}\n"
        owner = "pipeline/alarms/metrics_server.cpp"
        self.assertEqual(self.problems(call, owner), [])
        self.assertEqual(self.problems(call, "pipeline/verbs/x_verb.cpp"),
                         [f"pipeline/verbs/x_verb.cpp:2: only {owner} calls ::listen()"])
        self.assertEqual(self.problems("", owner), ["scripts/check_layers: nobody calls ::listen()"])

    def test_a_door_has_one_owner(self):
        include = "#include <mosquitto.h>\n"
        owner = "pipeline/alarms/mqtt_child.cpp"
        self.assertEqual(self.problems(include + "::listen(", "pipeline/alarms/x.cpp")[0],
                         f"pipeline/alarms/x.cpp:1: only {owner} includes mosquitto.h")
        self.assertEqual([line for line in self.problems(include, owner) if line.startswith(owner)], [])

    def tree(self, files):
        """What the script reports of these files; rows of its table that nothing uses are left out."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                source = pathlib.Path(folder) / path
                source.parent.mkdir(parents=True, exist_ok=True)
                source.write_text(text)
            lines = self.run_script(folder).stdout.splitlines()
            return [line for line in lines if not line.startswith("scripts/check_layers")]

    def test_no_include_runs_upwards(self):
        files = {"stages/engine/file/a.h": '#include "engine/graph/b.h"\n',
                 "stages/engine/graph/b.h": ""}
        self.assertEqual(self.tree(files), [
            "stages/engine/file/a.h:1: engine/file may not see engine/graph (engine/graph/b.h)"])

    def test_stages_and_fields_see_the_engine_and_nothing_of_one_another(self):
        files = {"stages/adapt/a.h": '#include "engine/train/t.h"\n#include "score/s.h"\n',
                 "stages/score/s.h": "", "stages/engine/train/t.h": "",
                 "stages/fields/space/model/m.h": '#include "fields/texts/data/d.h"\n',
                 "stages/fields/space/data/d.h": "", "stages/fields/texts/data/d.h": "",
                 "stages/fields/texts/model/m.h": '#include "fields/texts/data/d.h"\n',
                 "stages/fusion/f.h": '#include "fields/texts/model/m.h"\n'}
        self.assertEqual(self.tree(files), [
            "stages/adapt/a.h:2: stages/adapt may not see stages/score (score/s.h)",
            "stages/fields/space/model/m.h:1: fields/space may not see fields/texts/data"
            " (fields/texts/data/d.h)",
            "stages/fusion/f.h:1: stages/fusion may not see fields/texts (fields/texts/model/m.h)"])

    def test_a_file_without_a_room_is_found(self):
        self.assertEqual(self.tree({"stages/engine/x.h": ""}), [
            "stages/engine/x.h:1: is in no room: add a row to scripts/check_layers"])

    def test_a_folder_with_too_many_files_is_found(self):
        files = {f"pipeline/verbs/a{i}.h": "" for i in range(41)}
        self.assertEqual(self.tree(files), [
            "pipeline/verbs: 41 files, 40 at most: split it by what they are"])


if __name__ == "__main__":
    unittest.main()
