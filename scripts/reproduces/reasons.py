"""Whether the reasons of a flagged window name the id that was attacked."""
import collections
import json
import pathlib

from reproduces import logs
from reproduces.common import table
from reproduces.figures import short
from reproduces.kinds import INJECTED, HiddenKinds
from reproduces.lab import Data, Run
from reproduces.study import BENIGN_ONLY, SET_03, Study


def cells(lines):
    """Time, id, payload and label of each row."""
    return [line.rstrip().split(",") for line in lines]


def id_of(text):
    return int(text, 16)


def attacked(rows):
    """By window the ids of its attack rows."""
    out = collections.defaultdict(set)
    for number, row in enumerate(rows):
        if row[3] == "1":
            out[number // logs.WINDOW].add(id_of(row[1]))
    return out


def missing(rows, recorded):
    """By window the ids that are silent in it: from their first row that was taken out to their next one."""
    taken, at = {}, 0
    out = collections.defaultdict(set)
    for number, row in enumerate(rows):
        while recorded[at][:3] != row[:3]:
            taken.setdefault(id_of(recorded[at][1]), number)
            at += 1
        at += 1
        out[number // logs.WINDOW].update(taken)
        taken.pop(id_of(row[1]), None)
    return out


def named(reason):
    """The ids of a reason in words: "316: ...", "316 and 2C0: ...", "316 2C0 01A and 9 more: ..."."""
    words = reason.split(": ", 1)[0].split(" and ")
    return [id_of(word) for word in words[0].split() + [word for word in words[1:] if not word.endswith("more")]]


class Reasons(Study):
    name, title, needs, minutes = "reasons", "Reasons: is the attacked id named", (SET_03,), 3
    DATA_SEEDS, LEARNED, LEAD = HiddenKinds.DATA_SEEDS, HiddenKinds.LEARNED, HiddenKinds.LEAD
    GOAL = .95

    def free(self):
        return logs.log_files(logs.folder_of(self.sets[SET_03], "train_01"))

    def data(self):
        def make(_, folder):
            for path in self.free():
                logs.cut(path, self.LEARNED, folder / "train_01_attack_free", folder.parent / "held_out")

        return Data(f"{SET_03}-reasons", make, tuple(self.free()), (f"cut {self.LEARNED}",))

    def run(self):
        return Run(self.data(), f"{SET_03}-reasons", (*BENIGN_ONLY, "detector.baselines=false"), self.seeds[0], files=("detector.json",))

    def runs(self):
        return [self.run()]

    def text(self, lab):
        model = lab.result(self.run()).folder / "detector.json"
        counts = {kind: [self.count(lab, model, kind, seed) for seed in self.DATA_SEEDS] for kind in INJECTED}
        rows = []
        for kind, seeds in counts.items():
            windows, first, three = (sum(column) for column in zip(*seeds))
            if windows == 0:
                rows.append([kind, 0, "", "", "", "nothing flagged"])
                continue
            lowest = min(of_first / of_seed for of_seed, of_first, _ in seeds if of_seed)
            rows.append([kind, windows, short(first / windows), short(lowest), short(three / windows),
                         "met" if first >= self.GOAL * windows else f"**missed**, {windows - first} windows"])
        return (f"One detector, seed {self.seeds[0]}, learned from the first {100 * self.LEARNED:.0f} % of the attack-free logs of {SET_03} and "
                f"attacks injected into them. `kdgat data inject` writes attacks into the rest by {len(self.DATA_SEEDS)} seeds, behind {self.LEAD} s "
                "without attack, and `kdgat score` gives the reasons. Counted are flagged windows with attack rows of one id, of a suspension "
                f"those in which one id is missing. Goal: that id is the first one named in {short(self.GOAL, 2)} of them.\n\n"
                + table(["kind", "windows", "named first", "lowest seed", "among the first three reasons", "goal"], rows))

    def count(self, lab, model, kind, seed):
        """Flagged windows with one such id; of these, with it named first, and in one of three reasons."""
        windows = first = three = 0
        with lab.scratch() as scratch:
            held_out, made = pathlib.Path(scratch) / "held_out", pathlib.Path(scratch) / "made"
            for path in self.free():
                logs.cut(path, self.LEARNED, pathlib.Path(scratch) / "learned", held_out)
            lab.kdgat("data", "inject", held_out, "-o", made, "--attacks", kind, "--seed", seed, f"lead_seconds={self.LEAD}")
            for recorded in logs.log_files(held_out):
                log = made / f"{logs.name_of(recorded)}-{kind}.csv"
                rows = cells(logs.Rows(log).lines)
                ids = missing(rows, cells(logs.Rows(recorded).lines)) if kind == "suspension" else attacked(rows)
                for line in map(json.loads, lab.kdgat("score", log, "--run", model, "--json").splitlines()):
                    if line.get("decision") != "attack" or len(ids[line["window"]]) != 1:
                        continue
                    [wanted] = ids[line["window"]]
                    reasons = [named(reason) for reason in line.get("reasons", [])]
                    windows += 1
                    first += bool(reasons) and reasons[0][0] == wanted
                    three += any(wanted in reason for reason in reasons)
        return windows, first, three
