"""The vehicles of the fleet, what is asked of a detector on them, and figures of benign traffic."""
import dataclasses
import pathlib
import statistics

from reproduces import common
from reproduces.figures import poisson_interval
from reproduces.kinds import INJECTED
from reproduces.lab import Data

OWN_SECONDS = 15  # of its own traffic that a vehicle is learned from when it is new
BUDGET = 100  # flagged windows an hour
TIME_BUDGET = .02  # of the time under alarm
HELD = 2  # seconds that an alarm lasts after a flagged window
PAUSE = 60  # seconds: a longer gap is between two captures
# Of most runs, in this order: a finished run is found by its options.
OPTIONS = ("detector.take_supported=true", f"detector.false_alarms={BUDGET}",
           "detector.baselines=false")

# Of each vehicle: its data set, and its benign logs there.
FLEET = {"Kia": ("hcrl_sa", ["train_01_attack_free/attack-free-kia.csv.gz"]),
         "Sonata": ("hcrl_sa", ["train_01_attack_free/attack-free-sonata.csv.gz"]),
         "set_03": ("set_03", ["train_01_attack_free/accessory-3.csv.gz",
                               "train_01_attack_free/accessory-4.csv.gz"]),
         "Subaru": ("can-train-and-test", ["subaru-forester_accessory-1.csv.gz"]),
         "truck": ("recan", ["isuzu/exp1.csv.gz", "isuzu/exp2.csv.gz"]),
         "van": ("recan", ["piaggio/exp2.csv.gz"])}
SETS = tuple(dict.fromkeys(data for data, _ in FLEET.values()))


@dataclasses.dataclass(frozen=True)
class Vehicle:
    name: str
    files: tuple  # of benign traffic


def vehicles_of(paths):
    sets = {path.resolve().name: path for path in map(pathlib.Path, paths)}
    missing = [name for name in SETS if name not in sets]
    if missing or len(sets) > len(SETS):
        raise common.Failed(f"fleet needs folders of the names {', '.join(SETS)}"
                            + (f"; missing: {', '.join(missing)}" if missing else ""))
    out = []
    for name, (data, files) in FLEET.items():
        found = tuple(sets[data] / file for file in files)
        out.append(Vehicle(name, found))
    return out


def link_drive(vehicle, number, folder):
    """One of its files, from 1, under a name of its own: other folders may have the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = vehicle.files[number - 1]
    (folder / f"{vehicle.name}-{number}{''.join(path.suffixes)}").symlink_to(path.resolve())


def link_benign(vehicle, folder):
    for number in range(1, len(vehicle.files) + 1):
        link_drive(vehicle, number, folder)


def data_without(vehicle, vehicles):
    """Trains on all other vehicles; the parts test_benign and test_KIND are of this one."""
    def make(lab, folder):
        for other in vehicles:
            if other is not vehicle:
                link_benign(other, folder / "train_01")
        benign = folder / "test_benign"
        link_benign(vehicle, benign)
        for kind in INJECTED:
            lab.kdgat("data", "inject", benign, "-o", folder / f"test_{kind}", "--attacks", kind,
                      f"lead_seconds={OWN_SECONDS}")

    sources = tuple(path for one in vehicles for path in one.files)
    return Data(f"without-{vehicle.name}", make, sources, ("exclude=[]", f"own {OWN_SECONDS}"))


@dataclasses.dataclass
class Benign:
    """Of benign windows that were scored: how long they last, how many are flagged, and how long
    the bus is under alarm."""
    hours: float = 0
    flagged: int = 0
    alarm_hours: float = 0

    def add(self, rows, flags):
        """`rows`: windows of one log, one after another."""
        begins = [float(row["begin"]) for row in rows]
        lengths = [b - a for a, b in zip(begins, begins[1:])]
        usual = statistics.median(lengths) if lengths else 0
        until = float("-inf")
        for begin, length, row in zip(begins, [*lengths, usual], rows):
            length = min(length, PAUSE)
            self.hours += length / 3600
            if flags(row):
                self.flagged += 1
                end = begin + length + HELD
                self.alarm_hours += max(0, end - max(begin, until)) / 3600
                until = max(until, end)
        return self

    def cells(self, times=1):
        """`times`: so often the same traffic was added, which makes no interval narrower."""
        if not self.hours:
            return ["", ""]
        low, high = (bound * times / self.hours
                     for bound in poisson_interval(round(self.flagged / times)))
        return [f"{self.flagged / self.hours:.0f} ({low:.0f} to {high:.0f})",
                f"{100 * min(1, self.alarm_hours / self.hours):.1f} %"]


def windows_of_benign(result):
    """Of each benign log of a result."""
    return [windows for windows in result.windows().values()
            if windows[0]["part"].startswith("test_benign")]
