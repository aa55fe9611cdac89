"""Of scripts/check_layers: doors, and calls that one file alone makes."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CheckLayers(unittest.TestCase):
    def problems(self, text, path):
        """What the script says of this source in a tree of its own."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / path
            source.parent.mkdir(parents=True)
            source.write_text(text)
            done = subprocess.run([ROOT / "scripts/check_layers", folder], capture_output=True, text=True, check=False)
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


if __name__ == "__main__":
    unittest.main()
