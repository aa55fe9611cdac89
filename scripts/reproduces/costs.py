"""What a budget of false windows comes to, and what the detector costs."""
import pathlib
import shutil
import statistics
import time

from benches.common import plain_copy
from reproduces import logs
from reproduces.common import table
from reproduces.figures import DETECTOR, part_of, poisson_interval
from reproduces.lab import Data, Run
from reproduces.study import BENIGN_ONLY, HCRL, SET_03, Study

HOUR = 3600


class Budget(Study):
    name, title, needs = "budget", "What a budget of false windows comes to", ()
    HOURS, VEHICLES, PER_HOUR = 10, 2, 10
    AGEINGS = (0, 20, 100)  # per cent

    def data(self, ageing):
        def make(lab, folder):
            synthetic = folder.parent / "synthetic"
            lab.kdgat("data", "synth", "-o", synthetic, f"seconds={self.HOURS * HOUR}", f"vehicles={self.VEHICLES + 1}", "attacks=[]",
                      f"ageing={ageing}")
            for path in logs.log_files(synthetic / "train_01_attack_free"):
                logs.cut_by_time(path, HOUR, folder / "train_01_attack_free", folder / f"test_{logs.name_of(path)}")
            shutil.rmtree(synthetic)

        return Data(f"budget-ageing-{ageing}", make, (), (f"synthetic {self.HOURS} {self.VEHICLES} {ageing}",), keep=False)

    def run(self, ageing):
        return Run(self.data(ageing), f"budget-ageing-{ageing}",
                   (*BENIGN_ONLY, "detector.baselines=false", f"detector.false_alarms={self.PER_HOUR}"), self.seeds[0], seconds=100)

    def runs(self):
        return [self.run(ageing) for ageing in self.AGEINGS]

    def text(self, lab):
        rows = []
        for ageing in self.AGEINGS:
            metrics = lab.result(self.run(ageing)).metrics
            for vehicle in range(1, self.VEHICLES + 1):
                m = part_of(metrics, f"test_attack-free-vehicle{vehicle}")[DETECTOR]
                windows, hours = m["false_windows"], m["benign_hours"]
                low, high = poisson_interval(windows)
                met = self.PER_HOUR / 2 <= windows / hours <= 2 * self.PER_HOUR
                rows.append([f"{ageing} %", f"vehicle {vehicle}", f"{hours:.2f}", windows,
                             f"{windows / hours:.1f} ({low / hours:.1f} to {high / hours:.1f})",
                             f"{100 * m['time_under_alarm']:.2f} %",
                             "met" if met else "**missed**"])
        return (f"{self.VEHICLES} x {self.HOURS} hours of `kdgat data synth` benign traffic. Ageing: by so much periods jitter more, and events are more "
                f"frequent, at the end than at the beginning. Learned from the first hour of each, injected attacks and a budget of {self.PER_HOUR} "
                f"false windows an hour; goal on the rest: {self.PER_HOUR / 2:g} to "
                f"{2 * self.PER_HOUR} an hour. Seed {self.seeds[0]}.\n\n"
                + table(["ageing", "log", "hours scored", "false windows", "an hour (95 %)",
                         "time under alarm", "goal"], rows))


class Cost(Study):
    """Measured alone, when all else is done."""
    name, title, minutes = "cost", "Cost", 1
    REPEAT = 3
    PARAMETERS, MEGABYTE, ROWS, TRAINING = 150_000, 1_000_000, 2_000_000, 60  # goals

    def run(self, name):
        return Run(self.whole(name), f"{name}-cost", ("detector.baselines=false",), self.seeds[0], threads=2, seconds=20)

    def runs(self):
        return []

    def rows_a_second(self, lab, name):
        """Of an import of the training logs as plain CSV, with the start of the program."""
        with lab.scratch() as scratch:
            plain, rates = pathlib.Path(scratch) / "logs", []
            plain_copy(self.sets[name], plain)
            # A file that stands in two training folders is imported once.
            files = {path.name: path for path in plain.rglob("*.csv")}
            rows = sum(path.read_bytes().count(b"\n") - 1 for path in files.values())
            for i in range(self.REPEAT):
                start = time.monotonic()
                lab.kdgat("data", "import", plain, "-o", pathlib.Path(scratch) / f"store{i}", "features=v3")
                rates.append(rows / (time.monotonic() - start))
        return statistics.median(rates)

    def text(self, lab):
        rows = []
        for name in (HCRL, SET_03):
            lab.make(self.run(name))
            result = lab.result(self.run(name))
            rows.append([name, f"{self.rows_a_second(lab, name) / 1e6:.1f} M", f"{result.seconds:.0f} s",
                         f"{result.metrics['parameters']:,}", f"{result.model_bytes() / 1000:.0f} kB"])
        return (f"Import of the training logs as plain CSV (median of {self.REPEAT}, with the start of the program), learning and judging all parts "
                "on two threads without baselines and without the import, the numbers of the model and its file.\n\n"
                + table(["data", "rows imported a second", "learned and judged in", "parameters", "detector.json"],
                        [["goal", f"{self.ROWS / 1e6:.0f} M", f"{self.TRAINING} s", f"{self.PARAMETERS:,}", f"{self.MEGABYTE // 1000:,} kB"], *rows]))
