"""How much of a new car's own traffic is needed."""
import functools
import statistics

from reproduces import logs
from reproduces.common import table
from reproduces.figures import Tally, bold_if, flagged_by_detector, flagged_by_rule, short
from reproduces.lab import Data, Run
from reproduces.study import HCRL, SET_03, Study

WITHOUT_BASELINES = "detector.baselines=false"


@functools.lru_cache(maxsize=None)
def beginning(path):
    """Rows ahead of the first attack row, and windows a second there."""
    rows = logs.Rows(path)
    first = rows.first_attack()
    return first, first / logs.WINDOW / (rows.time(first - 1) - rows.time(0))


def has(path, own):
    return beginning(path)[0] // logs.WINDOW >= own


def tallied(windows):
    """F1 and false windows outside shadows (all) of the detector and of the rule with the same profile."""
    tallies = [Tally.of(windows, flags) for flags in (flagged_by_detector, flagged_by_rule)]
    return [cell for tally in tallies
            for cell in (bold_if(tally.f1() > tallies[0].f1(), short(tally.f1())), f"{tally.outside} ({tally.false})")]


HEAD = ["F1", "false windows outside shadows (all)", "rule, same profile: F1", "its false windows"]


class NewCar(Study):
    name, title = "own-traffic", "How much of its own traffic a new car needs"
    PARTS = ((HCRL, "test_02"), (SET_03, "test_04"))
    POINTS = (3, 7, 15)  # seconds

    def files(self, name, part):
        return logs.log_files(logs.folder_of(self.sets[name], part))

    def own_windows(self, name, part, point):
        return round(point * statistics.median(beginning(path)[1] for path in self.files(name, part)))

    def judged(self, name, part, point):
        """Files with so much own traffic ahead of their first attack."""
        return [path for path in self.files(name, part) if has(path, self.own_windows(name, part, point))]

    def run(self, name, part, point):
        options = (WITHOUT_BASELINES, f"detector.own_seconds={point}")
        return Run(self.whole(name), f"{name}-{part}-{point}s", options, self.seeds[0])

    def runs(self):
        return [self.run(name, part, point) for name, part in self.PARTS for point in self.POINTS
                if self.judged(name, part, point)]

    def text(self, lab):
        rows = []
        for name, part in self.PARTS:
            for point in self.POINTS:
                judged = self.judged(name, part, point)
                row = [f"{name} {part}", f"{point} s", self.own_windows(name, part, point), f"{len(judged)} of {len(self.files(name, part))}"]
                if judged:
                    windows = lab.result(self.run(name, part, point)).windows()
                    row += tallied([self.behind(windows, path, name, part) for path in judged])
                rows.append(row + [""] * (4 + len(HEAD) - len(row)))
        return ("`detector.own_seconds`; files with less ahead of their first attack are left out. "
                f"A file's windows count from the longest beginning on that it has, so that they are the same at each point. Seed {self.seeds[0]}.\n\n"
                + table(["part", "own traffic", "windows", "files", *HEAD], rows))

    def behind(self, windows, path, name, part):
        """Rows of the file's windows that are judged at every point that it has."""
        first = logs.WINDOW * max(own for own in (self.own_windows(name, part, point) for point in self.POINTS)
                                  if has(path, own))
        [rows] = [rows for log, rows in windows.items() if log.endswith("/" + path.name) and log.startswith(part)]
        return [row for row in rows if int(row["first_row"]) >= first]


class LeftOut(Study):
    name, title = "left-out", "A car left out: 15 to 240 s of its own traffic"
    POINTS = (15, 30, 60, 120, 240)  # seconds
    SETTLING = 1  # second behind the joint of two recordings

    def before(self):
        return logs.log_files(logs.folder_of(self.sets[SET_03], "train_01"))

    def judged(self):
        return {part: logs.log_files(logs.folder_of(self.sets[SET_03], part)) for part in ("test_01", "test_03")}

    def data(self):
        def make(_, folder):
            logs.link_folders(self.sets[HCRL], folder, "train")
            before = [logs.Rows(path) for path in self.before()]
            for part, files in self.judged().items():
                for path in files:
                    logs.put_ahead(before, path, folder / f"{part}_behind_own_traffic")

        files = [path for files in self.judged().values() for path in files]
        return Data("hcrl_sa-left-out", make, (*logs.sources_of(self.sets[HCRL]), *self.before(), *files))

    def rate(self):
        return statistics.median(beginning(path)[1] for path in self.before())

    def run(self, point):
        options = (WITHOUT_BASELINES, f"detector.own_seconds={point}")
        return Run(self.data(), f"left-out-{point}s", options, self.seeds[0], seconds=40)

    def runs(self):
        return [self.run(point) for point in self.POINTS]

    def text(self, lab):
        ahead = sum(beginning(path)[0] for path in self.before()) // logs.WINDOW + round(self.SETTLING * self.rate())
        rows = []
        for part in self.judged():
            for point in self.POINTS:
                windows = lab.result(self.run(point)).windows()
                counted = [[row for row in rows if int(row["first_row"]) >= ahead * logs.WINDOW] for log, rows in windows.items() if log.startswith(part)]
                rows.append([f"{SET_03} {part}", f"{point} s", *tallied(counted)])
        return (f"Learned from {HCRL}; the new car is that of {SET_03}, whose attack-free files stand ahead of each test log, the time going on. "
                f"Windows count from {self.SETTLING} s behind the joint on, the same at each point. Seed {self.seeds[0]}.\n\n"
                + table(["part", "own traffic", *HEAD], rows))
