"""Which frames of a flagged window were injected."""
from reproduces.common import table
from reproduces.figures import DETECTOR, over_seeds
from reproduces.parts import Labelled
from reproduces.study import HCRL, SET_03

GOALS = {"DoS": .95, "fuzzing": .95, "standstill": .95, "speed": .95, "rpm": .85}


class Frames(Labelled):
    name, title = "frames", "Which frames of a window were injected"

    def run_name(self, name):
        return f"{name}-{Labelled.name}"

    def text(self, lab):
        rows = []
        for name in (HCRL, SET_03):
            runs = self.metrics(lab, self.whole(name), self.run_name(name))
            for kind in runs[0]["kinds"]:
                of = [metrics["kinds"][kind][DETECTOR] for metrics in runs]
                frames = [one["frames"] for one in of]
                f1 = [one["f1"] for one in frames]
                goal = GOALS.get(kind)
                met = "" if goal is None else "met" if min(f1) >= goal else f"**{goal}**"
                rows.append([f"{name} {kind}", over_seeds(one["f1"] for one in of), over_seeds(f1),
                             *(over_seeds((one[key] for one in frames), str)
                               for key in ("found", "missed", "false")), met])
        head = ["kind of attack", "F1 by window", "F1 by frame", "injected frames found", "missed",
                "true frames taken for injected", "goal"]
        return ("All test parts, learned with labels. Frames of windows that are not flagged are "
                "taken for true ones. True frames that an attack makes late or early are no "
                "injected ones. Goals: .95, and .85 for single frames (rpm).\n\n"
                + table(head, rows))
