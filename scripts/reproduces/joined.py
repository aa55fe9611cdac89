"""What the networks of the published student models add to a detector, and what they cost it (profiles/joined.yaml)."""
from benches.common import ROOT
from reproduces.common import table
from reproduces.figures import DETECTOR, OWN_RULE, false_windows, over_seeds, part_of
from reproduces.lab import Run
from reproduces.parts import PARTS, part_name
from reproduces.study import HCRL, SET_03, Study

METHODS = ("classifier", "fusion", "fusion with its detector", DETECTOR, OWN_RULE)


class Joined(Study):
    name, title, always = "joined", "A fusion of networks, joined with the detector", False

    def runs_of(self, name):
        profile = (ROOT / "profiles" / "joined.yaml").read_text()
        return [Run(self.whole(name), f"{name}-joined", (), seed, 1, 120, profile, "evaluate", ()) for seed in self.seeds]

    def runs(self):
        return [run for name in (HCRL, SET_03) for run in self.runs_of(name)]

    def text(self, lab):
        rows = []
        for name, part in PARTS:
            tests = [part_of(lab.result(run).metrics["baselines"], part) for run in self.runs_of(name)]
            for method in METHODS:
                of_method = [methods[method] for methods in tests if method in methods]
                if of_method:
                    rows.append([part_name(name, part), method, over_seeds(m["f1"] for m in of_method), false_windows(of_method)])
        return ("The student autoencoder and classifier of `profiles/joined.yaml`, their fusion at its threshold of .5, and the same joined with the "
                "detector: an alarm is what either of the two finds odd, the fusion at as few false alarms as benign validation windows support. "
                "F1 of the attack class, median of the seeds (lowest to highest); false windows outside shadows (all).\n\n"
                + table(["part", "method", "F1", "false windows"], rows))
