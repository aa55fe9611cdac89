"""Masquerade whose counters stand still or whose checksums are wrong: what laws of payloads find."""
import dataclasses
import json
import pathlib

from reproduces import logs
from reproduces.common import table
from reproduces.figures import Tally, short
from reproduces.lab import Data, Run
from reproduces.vehicles import OPTIONS, link_drive

KINDS = ("masquerade-frozen", "masquerade-unchecked", "masquerade")
SEEDS = (1, 2, 3)
LEAD = 10  # seconds ahead of the first attack
LEAST_F1 = .95
MOST_FALSE = 2  # windows flagged by laws in benign traffic
WORDS = "counter or checksum"  # of a reason that is a broken law


@dataclasses.dataclass
class Count(Tally):
    by_laws: int = 0  # of the false ones

    def add(self, windows, rows):
        for one in windows:
            attack = any(rows[one["row"]:one["row"] + logs.WINDOW])
            flagged = one["decision"] == "attack"
            self.found += attack and flagged
            self.missed += attack and not flagged
            self.false += flagged and not attack
            self.by_laws += flagged and not attack and WORDS in json.dumps(one["reasons"])


def benign_rows(path, folder):
    """A log without its attack rows."""
    rows = logs.Rows(path)
    logs.write_rows(folder / (logs.name_of(path) + ".csv"), rows.header,
                    [line for line in rows.lines if not line.rstrip().endswith(",1")])


class Forged:
    def __init__(self, vehicles):
        self.set_03, self.truck = vehicles["set_03"], vehicles["truck"]
        data = self.set_03.files[0].parent.parent
        self.parts = [logs.folder_of(data, part) for part in ("test_01", "test_03")]

    def run_of(self, name, make, sources):
        return Run(Data(name, make, sources, ("exclude=[]",)), name, OPTIONS, seconds=30)

    def run_of_set_03(self):
        def make(_, folder):
            for number in (1, 2):
                link_drive(self.set_03, number, folder / "train_01")

        return self.run_of("set_03-laws", make, self.set_03.files)

    def run_of_truck(self):
        def make(_, folder):
            link_drive(self.truck, 1, folder / "train_01")
            logs.cut(self.truck.files[1], .5, folder / "train_01", folder / "test_rest")

        return self.run_of("truck-laws", make, self.truck.files)

    def runs(self):
        return [self.run_of_set_03(), self.run_of_truck()]

    def score(self, lab, path, model, count):
        with lab.scratch() as scratch:
            out = pathlib.Path(scratch) / "out.jsonl"
            lab.kdgat("score", path, "--run", model, "--json", "-o", out)
            lines = [json.loads(line) for line in out.read_text().splitlines()]
        rows = [line.rstrip().endswith(",1") for line in logs.Rows(path).lines]
        count.add([one for one in lines if "window" in one], rows)

    def attacked(self, lab, model):
        counts = {kind: Count() for kind in KINDS}
        with lab.scratch() as scratch:
            benign = pathlib.Path(scratch) / "benign"
            for path in logs.log_files(self.parts[1]):
                benign_rows(path, benign)
            for kind in KINDS:
                for seed in SEEDS:
                    folder = pathlib.Path(scratch) / f"{kind}-{seed}"
                    lab.kdgat("data", "inject", benign, "-o", folder, "--attacks", kind,
                              "--seed", seed, f"lead_seconds={LEAD}")
                    for path in logs.log_files(folder):
                        self.score(lab, path, model, counts[kind])
        return counts

    def known(self, model):
        """Ids with a counter, and with a checksum."""
        ids = [one["laws"] for vehicle in json.loads(model.read_text())["vehicles"]
               for one in vehicle["profile"]["ids"] if "laws" in one]
        return (sum(one["counters"] != "0" for one in ids), sum(bool(one["checks"]) for one in ids))

    def row(self, lab, name, run, paths):
        model = lab.result(run).folder / "detector.json"
        count = Count()
        for path in paths:
            self.score(lab, path, model, count)
        return [name, *self.known(model), count.false, count.by_laws,
                "met" if count.by_laws <= MOST_FALSE else "missed"]

    def text(self, lab):
        model = lab.result(self.run_of_set_03()).folder / "detector.json"
        kinds = [[kind, count.found + count.missed, short(count.f1(), 3), count.false,
                  "met" if count.f1() >= LEAST_F1 else "missed"]
                 for kind, count in self.attacked(lab, model).items()]
        with lab.scratch() as scratch:
            rest = pathlib.Path(scratch)
            logs.cut(self.truck.files[1], .5, rest / "learned", rest / "rest")
            benign = [self.row(lab, "set_03, test_01 and test_03", self.run_of_set_03(),
                               [path for part in self.parts for path in logs.log_files(part)]),
                      self.row(lab, "truck, the rest of its second drive", self.run_of_truck(),
                               logs.log_files(rest / "rest"))]
        return ("Forged payloads at the times of the true frames, injected into the benign rows of "
                f"set_03 test_03 by seeds {', '.join(map(str, SEEDS))}; learned from the two "
                "benign logs of set_03, in which it stands.\n\n"
                + table(["attack", "windows", "F1", "false windows",
                         f"goal, {short(LEAST_F1, 2)}"], kinds)
                + "\n\nBenign windows. Goal: at most "
                f"{MOST_FALSE} of them flagged by a broken law.\n\n"
                + table(["scored", "ids with a counter", "with a checksum", "false windows",
                         "of them by laws", "goal"], benign))
