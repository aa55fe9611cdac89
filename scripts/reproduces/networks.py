"""Graph networks in the place of the detector's trees, on vehicles and attacks not trained on."""
import dataclasses
import math
import statistics

from reproduces.common import table
from reproduces.figures import (DETECTOR, OWN_RULE, flagged_by_detector, flagged_by_rule, part_of,
                                short)
from reproduces.kinds import INJECTED
from reproduces.lab import Run
from reproduces.outside import Outside
from reproduces.vehicles import (BUDGET, OWN_SECONDS, Benign, data_without,
                                 windows_of_benign)

WINDOWS = 10000  # of the training logs, each seen some 12 times
FOREST = "isolation forest with own profile"
HARD = ("masquerade", "fabrication", "targeted")  # where a network might see more than trees
# Steps that end in a detector, and the network of each.
VARIANTS = {"student": "student, distilled", "alone": "student, no teacher",
            "edges": "student with edges", "teacher": "teacher, with edges"}
TREES = "trees"
SCORED = {TREES: "trees", **VARIANTS}

PROFILE = """dataset: networks
options:
  classifier:
    conv: none
    norm: batch
    pooling: max
    monotone: true
    hidden: 32
    layers: 2
    fc_layers: 2
    dropout: 0.1
    lr: 0.01
    batch_size: 256
    max_epochs: 4
    gradient_checkpointing: false
  detector: {OPTIONS}
stages:
STAGES
"""
TEACHER = "  teacher: {stage: classifier, needs: data, conv: gin, hidden: 64, layers: 3}"
STUDENTS = {"teacher": TEACHER,
            "student": "  student: {stage: classifier, needs: teacher, use_kd: true}",
            "alone": "  alone: {stage: classifier, needs: data}",
            "edges": "  edges: {stage: classifier, needs: data, conv: gin}"}
AUTOENCODER = """  autoencoder:
    needs: data
    hidden_dims: [32, 16]
    latent_dim: 16
    heads: 1
    readout: mean_and_max
    batch_size: 256
    max_epochs: 4
  evaluate: {needs: [data, autoencoder, student]}"""


def profile_of(networks, kinds, more=""):
    options = (f"{{take_supported: true, false_alarms: {BUDGET}, own_seconds: {OWN_SECONDS}, "
               f"inject: [{', '.join(kinds)}], most_windows: {WINDOWS}, baselines: false}}")
    lines = [STUDENTS[name] for name in networks]
    lines += [f"  by {name}: {{stage: detector, needs: {name}}}" for name in networks]
    return PROFILE.replace("{OPTIONS}", options).replace("STAGES", "\n".join(lines + [more]))


@dataclasses.dataclass
class Pool:
    """Windows of attacks, of several parts together."""
    found: int = 0
    missed: int = 0
    false: int = 0

    def add(self, m):
        self.found += m["attacks"] - m["missed_windows"]
        self.missed += m["missed_windows"]
        self.false += m["false_windows"]

    def f1(self):
        return 2 * self.found / max(1, 2 * self.found + self.missed + self.false)


def interval(values):
    """The mean, with the 95 % interval of Student's t."""
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:+.4f}"
    t = {2: 12.71, 3: 4.303, 6: 2.571, 18: 2.110}.get(len(values), 1.96 + 2.5 / (len(values) - 1))
    half = t * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:+.4f} ({mean - half:+.4f} to {mean + half:+.4f})"


class Networks:
    title = "Graph networks in the place of the trees"

    def __init__(self, vehicles, seeds, trees):
        """`trees`: the same with trees, as a LeftOut."""
        self.vehicles, self.seeds, self.trees = vehicles, seeds, trees

    def run(self, vehicle, seed, without=None):
        kinds = [kind for kind in INJECTED if kind != without]
        data = data_without(vehicle, self.vehicles)
        data = dataclasses.replace(
            data, name=f"{data.name}-relative" + (f"-{without}" if without else ""), keep=False,
            options=(*data.options, "features=relative", "split=group", f"most_windows={WINDOWS}",
                     f"own_seconds={OWN_SECONDS}", f"inject={','.join(kinds)}"))
        networks = ("alone",) if without else ("teacher", "student", "alone", "edges")
        steps = tuple(f"by {name}" for name in networks) + (() if without else ("evaluate",))
        profile = profile_of(networks, kinds, "" if without else AUTOENCODER)
        name = f"{vehicle.name}-networks" + (f"-without-{without}" if without else "")
        return Run(data, name, (), seed, seconds=70 if without else 370, profile=profile,
                   steps=steps, files=("windows.csv",))

    def runs(self):
        """The main table's first."""
        both = [(vehicle, seed, None) for seed in self.seeds for vehicle in self.vehicles]
        both += [(vehicle, self.seeds[0], kind) for kind in INJECTED for vehicle in self.vehicles]
        return [run(*one) for one in both for run in (self.run, self.trees.run)]

    def result(self, lab, variant, vehicle, seed):
        if variant == TREES:
            return lab.result(self.trees.run(vehicle, seed))
        return lab.result(self.run(vehicle, seed)).of_step(f"by {variant}")

    def parts(self, lab, variant, vehicle, seed, kinds=INJECTED, method=DETECTOR):
        """Metrics of each kind that the vehicle has."""
        metrics = self.result(lab, variant, vehicle, seed).metrics
        for kind in kinds:
            methods = part_of(metrics, f"test_{kind}")
            if methods and method in methods:
                yield kind, methods[method]

    def pooled(self, lab, variant, seed, vehicles=None, method=DETECTOR):
        pool = Pool()
        for vehicle in vehicles or self.vehicles:
            for _, m in self.parts(lab, variant, vehicle, seed, method=method):
                pool.add(m)
        return pool

    def main(self, lab):
        rows = []
        for variant, name in [*SCORED.items(), (OWN_RULE, "rule with own profile")]:
            method = OWN_RULE if variant == OWN_RULE else DETECTOR
            of = TREES if variant == OWN_RULE else variant
            pools = [self.pooled(lab, of, seed, method=method) for seed in self.seeds]
            benign = Benign()
            for vehicle in self.vehicles:
                for seed in self.seeds:
                    for windows in windows_of_benign(self.result(lab, of, vehicle, seed)):
                        benign.add(windows, flagged_by_rule if variant == OWN_RULE
                                   else flagged_by_detector)
            hard = [m["pr_auc"] for seed in self.seeds for vehicle in self.vehicles
                    for _, m in self.parts(lab, of, vehicle, seed, HARD, method)]
            rows.append([name, short(statistics.median(pool.f1() for pool in pools)),
                         statistics.median(pool.missed for pool in pools),
                         statistics.median(pool.false for pool in pools),
                         short(statistics.mean(hard), 3), *benign.cells(len(self.seeds))])
        return table(["classifier", "pooled F1", "missed windows", "false windows",
                      f"PR-AUC of {', '.join(HARD)}", "benign: flagged windows an hour (95 %)",
                      "time under alarm"], rows)

    def kinds(self, lab):
        rows = []
        for kind in INJECTED:
            cells = [kind]
            for variant in SCORED:
                values = [m["f1"] for seed in self.seeds for vehicle in self.vehicles
                          for _, m in self.parts(lab, variant, vehicle, seed, [kind])]
                cells.append(short(statistics.median(values), 3) if values else "")
            rows.append(cells)
        return table(["kind", *SCORED.values()], rows)

    def never_shown(self, lab):
        rows = []
        for kind in INJECTED:
            cells = [kind]
            for run, step in ((self.trees.run, None), (self.run, "by alone")):
                values = []
                for vehicle in self.vehicles:
                    result = lab.result(run(vehicle, self.seeds[0], kind))
                    metrics = result.metrics[step] if step else result.metrics
                    methods = part_of(metrics, f"test_{kind}")
                    if methods:
                        values.append(methods[DETECTOR]["f1"])
                cells += [short(statistics.median(values), 3), short(min(values), 3)]
            rows.append(cells)
        return table(["kind never shown", "trees: median", "lowest", "network: median", "lowest"],
                     rows)

    def differences(self, lab):
        def gaps(one, other):
            return [self.pooled(lab, one, seed, [vehicle]).f1()
                    - self.pooled(lab, other, seed, [vehicle]).f1()
                    for seed in self.seeds for vehicle in self.vehicles]

        pairs = (("student", "alone", "distilling"), ("edges", "alone", "edges"),
                 ("student", TREES, "the student in the place of trees"))
        return table(["what it adds", "F1, by vehicle and seed (95 %)"],
                     [[name, interval(gaps(one, other))] for one, other, name in pairs])

    def autoencoder(self, lab):
        rows = []
        for kind in INJECTED:
            values = {"autoencoder": [], FOREST: [], OWN_RULE: []}
            for vehicle in self.vehicles:
                for seed in self.seeds:
                    metrics = lab.result(self.run(vehicle, seed)).metrics["evaluate"]
                    part = part_of(metrics["baselines"], f"test_{kind}")
                    for method, found in values.items():
                        if part and method in part:
                            found.append(part[method]["pr_auc"])
            rows.append([kind, *(short(statistics.mean(found), 3) if found else ""
                                 for found in values.values())])
        return table(["kind, none shown", *("autoencoder", FOREST, OWN_RULE)], rows)

    def outside(self, lab):
        data = [self.run(vehicle, self.seeds[0]).data for vehicle in self.vehicles]
        return Outside(lab, self.seeds[0]).text(data, Pool, HARD)

    def text(self, lab):
        return "\n\n".join(filter(None, [
            f"Each vehicle left out, learned from its first {OWN_SECONDS} s; networks and trees "
            f"learn from the other five (networks from at most {WINDOWS:,} windows, each seen some "
            "12 times). Thresholds of trees follow from all other vehicles in turn, those of "
            "networks from the vehicles that their validation part holds. Pooled: windows of all "
            "vehicles and kinds together.", self.main(lab),
            "F1 by kind of attack, median over vehicles and seeds.", self.kinds(lab),
            "Differences of F1, pairs of the same vehicle and seed.", self.differences(lab),
            f"A kind of attack never shown, seed {self.seeds[0]}: F1 over vehicles; the network is "
            "the student without a teacher.", self.never_shown(lab),
            "PR-AUC of methods that learn from benign windows alone, means over vehicles and "
            "seeds.",
            self.autoencoder(lab), self.outside(lab)]))
