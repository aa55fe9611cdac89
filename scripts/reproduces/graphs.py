"""Whether the order of frames, which the edges of the published graphs hold, helps a classifier."""
import random

from reproduces import logs
from reproduces.common import table
from reproduces.figures import over_seeds, part_of, short
from reproduces.lab import Data, Run
from reproduces.parts import PARTS, part_name
from reproduces.study import HCRL, SET_03, Study

PROFILE = """dataset: graphs
stages:
  classifier: {preset: [gat, student], lr: 0.003, batch_size: 256, max_epochs: 12}
  evaluate:
"""


def shuffled(rows, draw):
    draw.shuffle(rows)


def by_id(rows, _):
    rows.sort(key=lambda row: row.split(",", 1)[0])


def reordered(path, order):
    """Its lines with the frames of each window in another order; times stay where they are."""
    rows, draw = logs.Rows(path), random.Random(logs.name_of(path))
    for begin in range(0, len(rows.lines), logs.WINDOW):
        window = [line.split(",", 1) for line in rows.lines[begin:begin + logs.WINDOW]]
        frames = [frame for _, frame in window]
        order(frames, draw)
        rows.lines[begin:begin + logs.WINDOW] = [f"{time},{frame}" for (time, _), frame in zip(window, frames)]
    return rows


class Graphs(Study):
    name, title, always = "graphs", "Does the graph matter", False
    ORDERS = {"as recorded": None, "shuffled": shuffled, "by id": by_id}

    def data(self, name, order):
        if self.ORDERS[order] is None:
            return self.whole(name)

        def make(_, folder):
            for path in logs.sources_of(self.sets[name]):
                rows = reordered(path, self.ORDERS[order])
                logs.write_rows(folder / path.parent.name / (logs.name_of(path) + ".csv"), rows.header, rows.lines)

        return Data(f"{name}-{order.replace(' ', '-')}", make, tuple(logs.sources_of(self.sets[name])))

    def runs_of(self, name, order):
        return [Run(self.data(name, order), f"{name}-classifier-{order.replace(' ', '-')}", (), seed, 1, 60, PROFILE, "evaluate", ())
                for seed in self.seeds]

    def runs(self):
        return [run for name in (HCRL, SET_03) for order in self.ORDERS for run in self.runs_of(name, order)]

    def text(self, lab):
        rows = []
        for name, part in PARTS:
            cells = []
            for order in self.ORDERS:
                tests = [part_of(lab.result(run).metrics["test"], part, "classifier")["core"] for run in self.runs_of(name, order)]
                cells += [over_seeds([m["auc"] for m in tests], lambda value: short(value, 3)),
                          over_seeds([m["f1"] for m in tests], lambda value: short(value, 3))]
            rows.append([part_name(name, part), *cells])
        return ("The detector has no graph: its numbers are those of a window. The published classifier (GAT, student, 12 epochs, threshold .5) has "
                "one, whose edges are the order of frames. It is trained and judged on the same logs as recorded, with the frames of each window "
                "shuffled (rewired at random), and sorted by id (edges join neighbours in number, and say nothing of the order). Features of nodes "
                "stay the same but for the place of an id's last frame.\n\n"
                + table(["part", *(f"{order}: {what}" for order in self.ORDERS for what in ("AUC", "F1"))], rows))
