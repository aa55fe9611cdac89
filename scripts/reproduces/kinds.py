"""Attacks of a kind that the detector was never shown, written into benign logs; masquerade without times."""
import statistics

from reproduces import logs
from reproduces.common import table
from reproduces.figures import DETECTOR, OWN_RULE, RULE, bold_if, over_seeds, part_of, short
from reproduces.lab import Data
from reproduces.parts import verdict
from reproduces.study import BENIGN_ONLY, HCRL, ROAD, SET_03, Study

INJECTED = ("dos", "fuzzing", "fuzzing-known", "spoofing", "fabrication", "targeted", "masquerade", "suspension", "replay")


class HiddenKinds(Study):
    name, title = "kinds", "Attacks of a kind never shown"
    KINDS = ("fabrication", "targeted", "masquerade", "suspension", "replay")
    DATA_SEEDS = (1, 2, 3, 4, 5)
    LEARNED = 0.6  # of each attack-free log
    LEAD = 5  # seconds without attack, for the rule's own profile
    GOOD_RULE, GAIN, LOSS = .95, .05, .01

    def data(self, name, kind):
        source = self.sets[name]
        free, attacked = logs.folder_of(source, "train_01"), logs.folder_of(source, "train_02")
        names = {path.name for path in logs.log_files(free)}
        others = [path for path in logs.log_files(attacked) if path.name not in names]

        def make(lab, folder):
            held_out = folder.parent / "held_out"
            for path in logs.log_files(free):
                logs.cut(path, self.LEARNED, folder / free.name, held_out)
            logs.link(others, folder / attacked.name)
            for seed in self.DATA_SEEDS:
                lab.kdgat("data", "inject", held_out, "-o", folder / f"test_{kind}_{seed}", "--attacks", kind, "--seed", seed,
                          f"lead_seconds={self.LEAD}")

        return Data(f"{name}-{kind}", make, (*logs.log_files(free), *others),
                    ("exclude=[]", f"cut {self.LEARNED} {self.LEAD} {self.DATA_SEEDS}"))

    def runs_of(self, name, kind):
        learned = ",".join(other for other in INJECTED if other != kind)
        return self.of_seeds(self.data(name, kind), f"{name}-without-{kind}", (*BENIGN_ONLY, f"detector.inject=[{learned}]"))

    def runs(self):
        return [run for name in (HCRL, SET_03) for kind in self.KINDS for run in self.runs_of(name, kind)]

    def text(self, lab):
        rows = []
        for name in (HCRL, SET_03):
            for kind in self.KINDS:
                runs = [lab.result(run).metrics for run in self.runs_of(name, kind)]

                def means(method):
                    """Over the data seeds, for each training seed."""
                    return [statistics.mean(part_of(metrics, f"test_{kind}_{seed}")[method]["f1"] for seed in self.DATA_SEEDS)
                            for metrics in runs]

                own, rules = means(DETECTOR), [statistics.median(means(RULE)), statistics.median(means(OWN_RULE))]
                best = max(rules)
                goal = best + self.GAIN if best < self.GOOD_RULE else best - self.LOSS
                outside = statistics.median(sum(part_of(metrics, f"test_{kind}_{seed}")[DETECTOR]["false_outside_shadows"]
                                                for seed in self.DATA_SEEDS) for metrics in runs)
                hours = sum(part_of(runs[0], f"test_{kind}_{seed}")[DETECTOR]["benign_hours"] for seed in self.DATA_SEEDS)
                rows.append([kind, name, over_seeds(own), *(bold_if(rule > statistics.median(own), short(rule)) for rule in rules), short(min(goal, 1)), f"{outside:g} in {60 * hours:.0f} min",
                             verdict({"F1": [mean >= goal for mean in own]})])
        return (f"Learned from benign windows (the first {100 * self.LEARNED:.0f} % of each attack-free log, and the logs with attacks without attack "
                "windows) and from injected attacks of all kinds but the one that is judged. `kdgat data inject` writes that into the rest of the "
                f"attack-free logs by {len(self.DATA_SEEDS)} seeds, behind {self.LEAD} s without attack: the car is known, and so is the beginning of the "
                "drive. F1 is the mean over these seeds. Goal: where both rules of the same run are below "
                f"{short(self.GOOD_RULE, 2)}, {short(self.GAIN, 2)} more than the better one, else no more than {short(self.LOSS, 2)} below it. Of a suspension only the first "
                "frame behind a gap is labelled: windows within the silence that are flagged count as false.\n\n"
                + table(["kind", "data", "detector", "rule", "rule with own profile", "goal", "false windows outside shadows", "goal met, of the seeds"],
                        rows))


class Masquerade(Study):
    name, title, needs = "masquerade", "Masquerade without times", (ROAD,)
    BLOCKS = 5
    COMPARED = (DETECTOR, "boosted trees")

    def data(self, block):
        [path] = logs.log_files(self.sets[ROAD])

        def make(_, folder):
            with logs.open_log(path) as lines:
                rows = list(lines)
            windows = len(rows) // logs.WINDOW
            ends = [logs.WINDOW * (windows * i // self.BLOCKS) for i in range(self.BLOCKS + 1)]
            for i, (begin, end) in enumerate(zip(ends, ends[1:]), 1):
                part = f"test_{block}" if i == block else "train_01"
                logs.write_rows(folder / part / f"block-{i}.csv", "", rows[begin:end])

        return Data(f"{ROAD}-{block}", make, (path,), (f"block {block} of {self.BLOCKS}",))

    def runs_of(self, block):
        # Its few seconds support no budget of 100 an hour; no threshold is shown.
        return self.of_seeds(self.data(block), f"{ROAD}-{block}", ("detector.take_supported=true",))

    def runs(self):
        return [run for block in range(1, self.BLOCKS + 1) for run in self.runs_of(block)]

    def text(self, lab):
        rows, medians = [], {method: [] for method in self.COMPARED}
        for block in range(1, self.BLOCKS + 1):
            runs = [part_of(lab.result(run).metrics, "test_") for run in self.runs_of(block)]
            m = runs[0][DETECTOR]
            row = [f"block {block}", m["n_samples"], m["attacks"]]
            for method in self.COMPARED:
                aucs = [methods[method]["auc"] for methods in runs]
                if 0 < m["attacks"] < m["n_samples"]:
                    medians[method].append(statistics.median(aucs))
                    row.append(bold_if(medians[method][-1] > medians[DETECTOR][-1], over_seeds(aucs)))
                else:
                    row.append("one class only")
            rows.append(row)
        means = [statistics.mean(medians[method]) for method in self.COMPARED]
        rows.append(["mean", "", "", *(bold_if(mean > means[0], short(mean)) for mean in means)])
        return (f"The file of `{ROAD}` has ids, payloads and labels, no times; {self.BLOCKS} contiguous blocks of it, each judged by a detector that "
                "learned from the others with their labels, beside boosting on the same windows. AUC:\n\n"
                + table(["left out", "windows", "attacks", *self.COMPARED], rows))
