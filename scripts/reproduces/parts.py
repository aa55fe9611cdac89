"""The five test parts: learned with labels, from benign windows alone, and from the other data set."""
import dataclasses
import statistics

from reproduces import logs
from reproduces.common import table
from reproduces.figures import (DETECTOR, METHODS, OWN_RULE, UNLABELLED, attacks_found, bold_if, count, false_windows, median_run, over_seeds,
                                part_of, per_hour, seconds, short)
from reproduces.lab import Data
from reproduces.study import BENIGN_ONLY, HCRL, SET_03, Study

WITHIN = 0.005  # of the F1 of the best baseline


@dataclasses.dataclass(frozen=True)
class Goal:
    f1: float
    benign_f1: float  # learned from benign windows alone
    outside: int  # false windows
    false: int


PARTS = {(HCRL, "test_01"): Goal(.998, .990, 3, 6), (HCRL, "test_02"): Goal(.990, .980, 3, 10),
         (SET_03, "test_01"): Goal(.999, .999, 1, 2), (SET_03, "test_03"): Goal(.960, .950, 2, 12),
         (SET_03, "test_04"): Goal(.990, .975, 4, 8)}
WHAT = {(HCRL, "test_02"): "new car", (SET_03, "test_03"): "new attacks", (SET_03, "test_04"): "new car, new attacks"}


def part_name(name, part):
    what = WHAT.get((name, part))
    return f"{name} {part}" + (f", {what}" if what else "")


def best_of(methods, among):
    """The name and the figures of the baseline with the highest F1."""
    name = max((name for name in among if name in methods), key=lambda name: methods[name]["f1"])
    return name, methods[name]


def verdict(checks):
    """What was met of {"F1": [for each seed whether]}."""
    missed = [f"{what} in {sum(met)} of {len(met)}" for what, met in checks.items() if not all(met)]
    return "met" if not missed else "**" + ", ".join(missed) + "**"


def detector_cells(of_seeds):
    """Of one part: F1, false windows, false ones an hour, attacks found, time to alarm, PR-AUC."""
    m = median_run(of_seeds)
    return [over_seeds(one["f1"] for one in of_seeds), false_windows(of_seeds), per_hour(m), attacks_found(m),
            seconds(m["time_to_alarm"]), over_seeds(one["pr_auc"] for one in of_seeds)]


DETECTOR_HEAD = ["F1", "false windows outside shadows (all)", "an hour (95 %)", "attacks found", "time to alarm", "PR-AUC"]


class Labelled(Study):
    name, title = "labels", "Learned with the labels of the training logs"

    def options(self):
        return ()

    def goal_of(self, goal):
        return goal.f1

    def among(self):
        """Baselines that it is held against."""
        return METHODS[1:]

    def run_name(self, name):
        return f"{name}-{self.name}"

    def runs(self):
        return [run for name in (HCRL, SET_03) for run in self.of_seeds(self.whole(name), self.run_name(name), self.options())]

    def parts(self, lab):
        """Of each part what its methods came to, by seed."""
        for (name, part), goal in PARTS.items():
            runs = self.metrics(lab, self.whole(name), self.run_name(name), self.options())
            yield part_name(name, part), goal, [part_of(metrics, part) for metrics in runs]

    def goals(self, lab):
        rows = []
        for title, goal, runs in self.parts(lab):
            own = [methods[DETECTOR] for methods in runs]
            name, best = best_of(runs[0], self.among())
            least, most = self.goal_of(goal), max(goal.false, best["false_windows"])
            checks = {"F1": [m["f1"] >= least for m in own],
                      "false windows": [m["false_windows"] <= goal.false and m["false_outside_shadows"] <= goal.outside for m in own],
                      "beside the baseline": [m["f1"] >= best["f1"] - WITHIN and m["false_windows"] <= most for m in own]}
            rows.append([title, *detector_cells(own), f"{name} {short(best['f1'])}, {count(best['false_windows'])}",
                         f"{short(least, 3)}, {goal.outside} ({goal.false})", verdict(checks)])
        return table(["part", *DETECTOR_HEAD, "best baseline: F1, false windows", "goal", "goals met, of the seeds"], rows)

    def methods(self, lab):
        rows = []
        for title, _, runs in self.parts(lab):
            own = statistics.median(methods[DETECTOR]["f1"] for methods in runs)
            for method in METHODS:
                of_seeds = [methods[method] for methods in runs if method in methods]
                if not of_seeds:
                    continue
                cells = detector_cells(of_seeds)
                cells[0] = bold_if(statistics.median(m["f1"] for m in of_seeds) > own, cells[0])
                rows.append([title, method, *cells])
        return table(["part", "method", *DETECTOR_HEAD], rows)

    def text(self, lab):
        return "\n\n".join([
            self.goals(lab),
            "*beside the baseline*: F1 no more than .005 below that of the best baseline, and no more false windows than it or than the "
            "goal allows. All methods, on the windows that each judges (with an own profile those behind it); **bold**: a higher "
            "F1 than the detector's.",
            self.methods(lab)])


class BenignOnly(Labelled):
    name, title = "benign", "Learned from benign windows and injected attacks alone"

    def options(self):
        return BENIGN_ONLY

    def goal_of(self, goal):
        return goal.benign_f1

    def among(self):
        return UNLABELLED

    def text(self, lab):
        return ("`detector.use_labels=false`: windows with attack rows are left out of the training logs. The best baseline is that of "
                "those that learn from no label.\n\n" + self.goals(lab))


class Across(Study):
    name, title = "across", "Learned from the other data set"
    PAIRS = ((HCRL, SET_03, "test_03"), (SET_03, HCRL, "test_02"))

    def data(self, train, judged, part):
        def make(_, folder):
            logs.link_folders(self.sets[train], folder, "train")
            logs.link_folders(self.sets[judged], folder, part)

        return Data(f"{train}-{judged}-{part}", make, (*logs.sources_of(self.sets[train]), *logs.sources_of(self.sets[judged])))

    def runs(self):
        return [run for pair in self.PAIRS for run in self.of_seeds(self.data(*pair), "-".join(pair))]

    def text(self, lab):
        rows = []
        for train, judged, part in self.PAIRS:
            pair = (train, judged, part)
            runs = [part_of(metrics, part) for metrics in self.metrics(lab, self.data(*pair), "-".join(pair))]
            own, rule = [methods[DETECTOR] for methods in runs], runs[0][OWN_RULE]
            checks = {"F1": [m["f1"] >= rule["f1"] - WITHIN for m in own],
                      "false windows": [m["false_windows"] <= rule["false_windows"] for m in own]}
            rows.append([f"{train}; {judged} {part}", *detector_cells(own),
                         f"{short(rule['f1'])}, {rule['false_outside_shadows']} ({rule['false_windows']})", verdict(checks)])
        return (f"The profile is that of each log's own beginning. Goal: F1 no more than {short(WITHIN, 3)} below that of the rule with "
                "own profile, with no more false windows.\n\n"
                + table(["learned from; judged", *DETECTOR_HEAD, "rule with own profile: F1, false windows", "goals met, of the seeds"], rows))


class Doubts(Study):
    """What rests on errors of recordings and labels."""
    name, title = "doubts", "Clocks that step back, labels that may be wrong"
    OPTIONS = ("detector.monotonic=true",)
    LISTED = 12  # windows by number

    def runs(self):
        return [run for name in (HCRL, SET_03) for run in
                (*self.of_seeds(self.whole(name), f"{name}-labels"), *self.of_seeds(self.whole(name), f"{name}-monotonic", self.OPTIONS))]

    def rows(self, lab):
        for name, part in PARTS:
            as_they_are = self.metrics(lab, self.whole(name), f"{name}-labels")
            monotonic = self.metrics(lab, self.whole(name), f"{name}-monotonic", self.OPTIONS)
            cells = []
            for runs, group in ((as_they_are, "parts"), (monotonic, "parts"), (as_they_are, "without_suspects")):
                own = [found[DETECTOR] for found in (part_of(metrics, part, group) for metrics in runs) if found]
                cells.append(f"{over_seeds(m['f1'] for m in own)}, {false_windows(own)}" if own else "no suspects")
            yield [part_name(name, part), *cells]

    def suspects(self, lab):
        lines = []
        for name in (HCRL, SET_03):
            by_log = {}
            for one in self.metrics(lab, self.whole(name), f"{name}-labels")[0].get("suspects", []):
                by_log.setdefault(one["log"], []).append(one)
            for log, windows in by_log.items():
                numbers = ", ".join(str(one["window"]) for one in windows[:self.LISTED])
                more = f" and {len(windows) - self.LISTED} more" if len(windows) > self.LISTED else ""
                frames = sum(one["frames"] for one in windows)
                lines.append(f"- {name}, {log}: {len(windows)} windows with {frames} such frames ({numbers}{more})")
        return "\n".join(lines)

    def text(self, lab):
        return "\n\n".join([
            "The detector's F1 and false windows outside shadows (all) once more with times made monotonic (`detector.monotonic=true`), "
            "and without benign windows whose labels are suspect.",
            table(["part", "as recorded", "monotonic times", "without suspects"], list(self.rows(lab))),
            "Suspects are benign windows behind the last attack row of a log, or right beside an attack window, with frames of ids that "
            "the vehicle's benign traffic does not have:", self.suspects(lab)])
