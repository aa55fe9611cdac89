"""What recordings at hand do not show, or not often: ids that disappear, single early frames, buses
whose benign traffic looks odd, an attacked log among benign ones."""
import dataclasses
import json
import math
import pathlib
import statistics

from reproduces import buses, logs
from reproduces.common import table
from reproduces.figures import DETECTOR, flagged_by_detector, part_of, short
from reproduces.forged import Forged
from reproduces.lab import Data, Run
from reproduces.vehicles import OPTIONS, OWN_SECONDS, TIME_BUDGET, Benign, windows_of_benign

SYNTHETIC = "synthetic"
LEAD = 30  # seconds ahead of what happens
MOST_FALSE = 5  # windows
SEED = 42


@dataclasses.dataclass
class Scored:
    windows: list  # of `kdgat score --json`

    def flagged(self):
        return [one for one in self.windows if one["decision"] == "attack"]

    def benign(self):
        rows = [{**one, "begin": one["time"]} for one in self.windows]
        return Benign().add(rows, lambda row: row["decision"] == "attack")


def score(lab, frames, model=None, labels=False):
    with lab.scratch() as scratch:
        log = pathlib.Path(scratch) / ("log.csv" if labels else "log.log")
        out = pathlib.Path(scratch) / "out.jsonl"
        buses.write(frames, log, labels)
        lab.kdgat("score", log, "--json", "-o", out, *(("--run", model) if model else ()))
        lines = [json.loads(line) for line in out.read_text().splitlines()]
    return Scored([one for one in lines if "window" in one])


def periodic_ids(frames, seconds):
    """Ids that were sent all the time in the first seconds, by their median gap, the fastest
    first; of fewer than 20 frames nobody knows."""
    begin = frames[0].time
    out = {}
    for number in {one.id for one in frames}:
        gaps = buses.gaps_of([one for one in frames if one.time < begin + seconds], number)
        if len(gaps) >= 20 and max(gaps) < 2 * statistics.median(gaps):
            out[number] = statistics.median(gaps)
    return sorted(out, key=out.get)


def period_text(frames, number):
    return f"{1000 * statistics.median(buses.gaps_of(frames, number)):.0f} ms"


def share_text(benign):
    """Of its time that is under alarm."""
    return f"{100 * benign.alarm_hours / benign.hours:.1f} %"


def verdict(is_met):
    return "met" if is_met else "missed"


class Missing:
    """Three ids of each bus, the fastest, a middle one and the slowest, fall silent."""
    SECONDS = (5, 60, 300)
    MOST_LATE = 3  # usual longest silences; the window in which they end is the first to show it

    def rows_of(self, lab, name, frames, model):
        ids = periodic_ids(frames, OWN_SECONDS)
        for number in (ids[0], ids[len(ids) // 2], ids[-1]):
            ahead = [one for one in frames if one.time < frames[0].time + LEAD]
            longest = max(buses.gaps_of(ahead, number))
            for seconds in self.SECONDS:
                yield self.row(lab, name, frames, model, number, longest, seconds)

    def row(self, lab, name, frames, model, number, longest, seconds):
        begin = frames[0].time + LEAD
        end = begin + seconds
        log = [f for f in buses.without(frames, number, begin, end) if f.time < end + LEAD]
        last = max(f.time for f in log if f.id == number and f.time < begin)
        back = min(f.time for f in log if f.id == number and f.time >= end)
        scored = score(lab, log, model, labels=True)
        times = [one["time"] for one in scored.windows] + [log[-1].time]
        ends = {one["window"]: after for one, after in zip(scored.windows, times[1:])}
        since = last + self.MOST_LATE * longest
        silent = [one for one in scored.windows
                  if since < one["time"] and ends[one["window"]] < back]
        found = [one for one in silent if one["decision"] == "attack"]
        first = min((ends[one["window"]] for one in scored.flagged()
                     if ends[one["window"]] > last), default=math.inf)
        window = statistics.median(ends[one["window"]] - one["time"] for one in scored.windows)
        after = [one for one in scored.flagged() if one["time"] > back]
        is_in_time = first - last <= self.MOST_LATE * longest + window
        is_met = is_in_time and len(found) == len(silent) and not after
        return [name, period_text(frames, number), f"{seconds} s",
                "never" if math.isinf(first) else f"{first - last:.2f} s", f"{window:.2f} s",
                f"{len(found)} of {len(silent)}", len(after), verdict(is_met)]

    def text(self, lab, benign):
        rows = [row for one in benign for row in self.rows_of(lab, *one)]
        return ("An id falls silent and returns. It is known from the first "
                f"{OWN_SECONDS} s; one with fewer than 20 frames there is not missed.\n\n"
                + table(["bus", "period", "silent for", "flagged after", "a window lasts",
                         "windows flagged meanwhile", "windows flagged afterwards", "goal"], rows))


class Early:
    """Each second one copy of a true frame, right behind it or right ahead of it."""
    GAPS = (.0005, -.0005)
    LEAST = .9

    def rows_of(self, lab, name, frames, model):
        ids = periodic_ids(frames, OWN_SECONDS)
        begin = frames[0].time
        some = [one for one in frames if one.time < begin + 180]
        for number in (ids[len(ids) // 4], ids[len(ids) // 2], ids[3 * len(ids) // 4]):
            for gap in self.GAPS:
                log = buses.with_early(some, number, begin + LEAD, 1, gap)
                scored = score(lab, log, model, labels=True)
                flags = {one["row"] // logs.WINDOW for one in scored.flagged()}
                forged = {row // logs.WINDOW for row, one in enumerate(log) if one.attack}
                beside = {one + step for one in forged for step in (-1, 0, 1)}
                found, wrong = len(forged & flags), len(flags - beside)
                is_met = found >= self.LEAST * len(forged) and wrong <= MOST_FALSE
                side = "behind" if gap > 0 else "ahead"
                yield [name, period_text(frames, number), f"{1000 * abs(gap):g} ms {side}",
                       f"{found} of {len(forged)}", wrong, verdict(is_met)]

    def text(self, lab, benign):
        rows = [row for one in benign for row in self.rows_of(lab, *one)]
        return ("Each second one forged frame next to a true one, with the same payload.\n\n"
                + table(["bus", "period", "forged", "windows found", "false windows elsewhere",
                         "goal"], rows))


def tester(seconds, ask, answer, count):
    """Each half minute so many questions 12 ms apart, each with an answer."""
    out = []
    for begin in range(5, seconds, 30):
        for i in range(count):
            out.append(buses.Frame(begin + .012 * i, ask, "0322F19000000000"))
            data = f"2{i % 16:X}{i * 7919 % (1 << 56):014X}"
            out.append(buses.Frame(begin + .012 * i + .002, answer, data))
    return out


def merged(*parts):
    return sorted((one for part in parts for one in part), key=lambda f: f.time)


class Odd:
    """Benign traffic that looks odd, on a car that the shipped detector has never seen."""
    SECONDS = 400

    def cases(self):
        senders, seed = buses.usual_senders(7), 7
        usual = buses.bus_of(senders, self.SECONDS, seed)
        yield "nothing odd", usual
        yield "times rounded to 15 ms", buses.rounded(usual, .015)
        for ids in (("7DF", "7E8"), ("6A1", "6A9")):
            yield (f"a tester asks each half minute, {' and '.join(ids)}",
                   merged(usual, tester(self.SECONDS, *ids, 40)))
        for text, count, on, off in (("an id pauses for 3 s in 10", 1, 7, 3),
                                     ("two ids pause for 15 s in a minute", 2, 45, 15),
                                     ("one id does, and not in the first 15 s", 1, 45, 15)):
            whole = on + off
            pauses = tuple((begin + on, begin + whole) for begin in range(0, self.SECONDS, whole))
            more = [buses.Sender(0x3AA + i, .1, pauses=pauses) for i in range(count)]
            yield text, buses.bus_of([*senders, *more], self.SECONDS, seed)
        at = usual[102 * logs.WINDOW].time
        burst = [buses.Frame(at + .0003 * i, f"{0x700 - i:03X}") for i in range(6)]
        yield "six unknown ids in one window, the 102nd", merged(usual, burst)

    def text(self, lab):
        rows = []
        for name, frames in self.cases():
            scored = score(lab, frames)
            flagged, benign = len(scored.flagged()), scored.benign()
            rows.append([name, len(scored.windows), flagged, share_text(benign),
                         verdict(flagged <= MOST_FALSE)])
        return ("Made-up benign traffic without labels, scored by the detector that comes with the "
                f"program. Goal: at most {MOST_FALSE} flagged windows.\n\n"
                + table(["bus", "windows", "flagged", "time under alarm", "goal"], rows))


def run_of(name, learned, scored, kinds, seconds):
    """Learns from some frames; the parts test_benign and test_KIND are of others, with attacks."""
    def make(lab, folder):
        buses.write(learned(), folder / "train_01" / "learned.csv")
        benign = folder / "test_benign"
        buses.write(scored(), benign / "scored.csv")
        for kind in kinds:
            lab.kdgat("data", "inject", benign, "-o", folder / f"test_{kind}", "--attacks", kind,
                      f"lead_seconds={OWN_SECONDS}")

    return Run(Data(name, make, (), ("exclude=[]",)), name, OPTIONS, seconds=seconds)


def benign_of(result):
    out = Benign()
    for windows in windows_of_benign(result):
        out.add(windows, flagged_by_detector)
    return out


class SlowBus:
    """Ids 10 to 60 s apart, ids of a mode that begins late, times rounded to 15 ms."""
    KINDS = ("dos", "fuzzing", "fabrication")
    LEAST_F1 = .98

    def bus(self, seconds, seed, modes):
        slow = [buses.Sender(0x650 + i, period, jitter=.01)
                for i, period in enumerate((10, 15, 20, 30, 45, 60))]
        mode = [buses.Sender(0x690 + i, period, begin=begin, end=end)
                for begin, end in modes for i, period in enumerate((.1, .1, .2, 1.0))]
        senders = [*buses.usual_senders(11), *slow, *mode]
        return buses.rounded(buses.bus_of(senders, seconds, seed), .015)

    def run(self):
        return run_of("slow-bus", lambda: self.bus(1800, 1, [(1500, 1800)]),
                      lambda: self.bus(3600, 2, [(600, 900), (2000, 2600)]), self.KINDS, 100)

    def text(self, lab):
        result = lab.result(self.run())
        benign = benign_of(result)
        f1 = {kind: part_of(result.metrics, f"test_{kind}")[DETECTOR]["f1"] for kind in self.KINDS}
        met = [benign.alarm_hours <= TIME_BUDGET * benign.hours,
               *(one >= self.LEAST_F1 for one in f1.values())]
        return ("A bus with ids that are sent each 10 to 60 s, with ids of a mode, and with times "
                "rounded to 15 ms: half an hour is learned, the next hour scored.\n\n"
                + table(["", "of benign windows flagged", "time under alarm", *f1],
                        [["detector", benign.flagged, share_text(benign),
                          *(short(one, 3) for one in f1.values())],
                         ["goal", "", *map(verdict, met)]]))


class Standing:
    """A car that stood while it was learned, scored on a drive."""
    KINDS = ("dos", "fuzzing", "fabrication")
    LEAST_F1, MOST_FALSE = .98, 15

    def run(self):
        senders = buses.usual_senders(17)
        return run_of("standing",
                      lambda: buses.standing(buses.bus_of(senders, 300, "17 stands")),
                      lambda: buses.bus_of(senders, 300, "17 drives"), self.KINDS, 30)

    def text(self, lab):
        result = lab.result(self.run())
        benign = benign_of(result)
        rows = []
        for kind in self.KINDS:
            one = part_of(result.metrics, f"test_{kind}")[DETECTOR]
            is_met = one["f1"] >= self.LEAST_F1 and one["false_windows"] <= self.MOST_FALSE
            rows.append([kind, short(one["f1"], 3), one["false_windows"], verdict(is_met)])
        is_met = benign.alarm_hours <= TIME_BUDGET * benign.hours
        return ("A made-up car that stood for 300 s while it was learned drives for 300 s: of the "
                f"benign drive {benign.flagged} windows are flagged and {share_text(benign)} of "
                f"the time is under alarm ({verdict(is_met)}).\n\n"
                + table(["attack", "F1", "false windows", "goal"], rows))


class AttackedLog:
    """Five benign logs and an attacked one, none with labels."""
    KINDS = ("dos", "fuzzing", "spoofing", "fabrication", "suspension", "replay", "targeted")

    def __init__(self, vehicles):
        self.vehicles = vehicles  # by name

    def drives(self, name):
        """Six benign drives."""
        if name == SYNTHETIC:
            for drive in range(6):
                frames = buses.bus_of(buses.usual_senders(31), 120, f"31 {drive}")
                yield buses.standing(frames) if drive % 2 == 0 else frames
            return
        for path in self.vehicles[name].files:
            frames = buses.read(path)
            for part in range(3):
                yield frames[part * len(frames) // 3:(part + 1) * len(frames) // 3]

    def said(self, lab, name, kind):
        with lab.scratch() as scratch:
            folder = pathlib.Path(scratch) / "logs"
            for number, frames in enumerate(self.drives(name)):
                if number == 5:
                    benign = pathlib.Path(scratch) / "benign" / "drive.csv"
                    buses.write(frames, benign)
                    attacked = benign.parent / "attacked"
                    lab.kdgat("data", "inject", benign, "-o", attacked, "--attacks", kind)
                    frames = buses.read(next(attacked.iterdir()))
                buses.write(frames, folder / f"drive{number}.log", labels=False)
            _, said = lab.kdgat_said("fit", folder, "--root", pathlib.Path(scratch) / "runs",
                                     "--threads", 1, "detector.baselines=false")
        return [number for number in range(6) if f"not learned from: drive{number}.log" in said]

    def text(self, lab):
        rows = []
        for name in (SYNTHETIC, "set_03", "truck"):
            for kind in self.KINDS:
                out = self.said(lab, name, kind)
                rows.append([name, kind, ", ".join(f"drive{one}" for one in out) or "none",
                             verdict(out == [5])])
        return ("Six drives without labels, of which `drive5` is attacked.\n\n"
                + table(["vehicle", "attack", "left out", "goal"], rows))


class Cases:
    title = "Cases that recordings do not show"

    def __init__(self, vehicles, run_without):
        """`run_without`: of a vehicle and a seed, the run that learns from all others."""
        self.vehicles = {one.name: one for one in vehicles}
        self.run_without = run_without

    def run(self, name):
        return self.run_without(self.vehicles[name], SEED)

    def runs(self):
        return [*map(self.run, ("truck", "van")), SlowBus().run(), Standing().run(),
                *Forged(self.vehicles).runs()]

    def text(self, lab):
        benign = [(SYNTHETIC, buses.bus_of(buses.usual_senders(7), 400, 7), None)]
        for name in ("truck", "van"):
            benign.append((name, buses.read(self.vehicles[name].files[0]),
                           lab.result(self.run(name)).folder / "detector.json"))
        return "\n\n".join([Missing().text(lab, benign), Early().text(lab, benign),
                            Odd().text(lab), SlowBus().text(lab), Standing().text(lab),
                            Forged(self.vehicles).text(lab), AttackedLog(self.vehicles).text(lab)])
