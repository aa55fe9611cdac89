"""Traffic of made-up buses, frame by frame, and what is done to frames: for questions that no
recording at hand answers. The same seed gives the same bytes."""
import dataclasses
import math
import pathlib
import random

from reproduces import logs

HEADER = "timestamp,arbitration_id,data_field,attack\n"


@dataclasses.dataclass(frozen=True)
class Frame:
    time: float
    id: str
    data: str = "0000000000000000"
    attack: bool = False

    def row(self):
        return f"{self.time:.6f},{self.id},{self.data},{int(self.attack)}\n"


@dataclasses.dataclass(frozen=True)
class Sender:
    """One id that is sent every `period` seconds from `begin` to `end`, but not in `pauses`."""
    id: int
    period: float
    jitter: float = .02  # of the period
    begin: float = 0
    end: float = math.inf
    pauses: tuple = ()  # (begin, end)

    def frames(self, seconds, seed):
        """A counter, a value that wanders and a constant."""
        draw = random.Random(f"{seed} {self.id}")
        value, step = draw.randrange(20_000, 40_000), draw.randrange(1, 60)
        constant, counter = draw.randrange(1 << 24), draw.randrange(16)
        time = self.begin + draw.uniform(0, self.period)
        while time < min(self.end, seconds):
            value = min(65_535, max(0, value + draw.randint(-step, step)))
            counter = (counter + 1) % 16
            if not any(begin <= time < end for begin, end in self.pauses):
                data = f"{value:04X}{constant:06X}{0:04X}{counter:02X}"
                yield Frame(time, f"{self.id:03X}", data)
            time += self.period * (1 + draw.uniform(-self.jitter, self.jitter))


def usual_senders(seed):
    """Of a car: 24 ids of 10 ms to 1 s, about 370 frames a second."""
    draw = random.Random(f"senders {seed}")
    periods = [.01, .02, .02, *[.05] * 4, *[.1] * 6, *[.2] * 4, *[.5] * 4, *[1] * 3]
    ids = sorted(draw.sample(range(0x80, 0x600), len(periods)))
    return [Sender(one, period) for one, period in zip(ids, periods)]


def bus_of(senders, seconds, seed):
    """All of their frames in order, one at a time."""
    out, free = [], 0.0
    for frame in sorted((f for sender in senders for f in sender.frames(seconds, seed)),
                        key=lambda f: (f.time, f.id)):
        free = max(free + .00025, frame.time)
        out.append(dataclasses.replace(frame, time=free))
    return out


def standing(frames):
    """The values of these senders rest, their counters go on."""
    first = {}
    return [dataclasses.replace(one, data=first.setdefault(one.id, one.data[:4]) + one.data[4:])
            for one in frames]


def rounded(frames, step):
    """As a logger has them whose clock ticks so many seconds apart."""
    return [dataclasses.replace(one, time=math.floor(one.time / step) * step) for one in frames]


def read(path):
    """Of a log in the published layout."""
    out = []
    for line in logs.Rows(pathlib.Path(path)).lines:
        time, number, data, attack = (line.rstrip().split(",") + ["0"])[:4]
        out.append(Frame(float(time), number, data, attack == "1"))
    return out


def write(frames, path, labels=True):
    """Labelled, or as candump has them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as out:
        if labels:
            out.write(HEADER)
            out.writelines(frame.row() for frame in frames)
        else:
            out.writelines(f"({one.time:.6f}) can0 {one.id}#{one.data}\n" for one in frames)


def without(frames, number, begin, end):
    """The id falls silent from `begin` to `end`."""
    return [one for one in frames if one.id != number or not begin <= one.time < end]


def with_early(frames, number, begin, seconds_apart, gap):
    """From `begin` on a forged frame so many seconds apart, `gap` seconds behind a true one of
    the id, or ahead of it where that is negative; its payload is that of the true one."""
    out, due = list(frames), begin
    for one in frames:
        if one.id == number and one.time >= due:
            out.append(dataclasses.replace(one, time=one.time + gap, attack=True))
            due = one.time + seconds_apart
    return sorted(out, key=lambda f: f.time)


def gaps_of(frames, number):
    times = [one.time for one in frames if one.id == number]
    return [b - a for a, b in zip(times, times[1:])]
