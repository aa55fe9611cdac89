"""The tables of the detector: what is run for them, in which order they stand."""
import pathlib

from reproduces import common
from reproduces.costs import Budget, Cost
from reproduces.curves import LeftOut, NewCar
from reproduces.frames import Frames
from reproduces.graphs import Graphs
from reproduces.joined import Joined
from reproduces.kinds import HiddenKinds, Masquerade
from reproduces.lab import Lab
from reproduces.parts import Across, BenignOnly, Doubts, Labelled
from reproduces.reasons import Reasons
from reproduces.study import HCRL, ROAD, SET_03

STUDIES = (Labelled, Frames, BenignOnly, Across, HiddenKinds, Masquerade, NewCar, LeftOut, Budget,
           Doubts, Reasons, Graphs, Joined, Cost)
NAMES = tuple(study.name for study in STUDIES)


def sets_of(paths):
    """Data sets by name; a path ends with its name."""
    sets = {}
    for path in map(pathlib.Path, paths):
        name = path.resolve().name
        if name not in (HCRL, SET_03, ROAD):
            raise common.Failed(f"{path}: a folder {HCRL}, {SET_03} or {ROAD} is needed")
        if not path.is_dir():
            raise common.Failed(f"{path}: no such folder")
        sets[name] = path
    return sets


def chosen(args, sets):
    """The studies that are made; those that there is no data for, with the reason; those that take too long."""
    studies, without, later = [], [], []
    for study in STUDIES:
        missing = [name for name in study.needs if name not in sets]
        if args.only and study.name not in args.only:
            continue
        if missing:
            without.append(f"{study.title}: needs --data {', --data '.join(missing)}")
        elif not study.always and not args.all and not args.only:
            later.append(f"{study.title}: with --all")
        else:
            studies.append(study(sets, args.seeds))
    return studies, without, later


def text_of(args, sets, studies, lab, minutes):
    data = " ".join(f"--data {name}" for name in sets)
    parts = [f"`scripts/reproduce detector {data}{' --all' if args.all else ''}`, seeds {', '.join(map(str, args.seeds))}, {args.jobs} runs at a time "
             f"with one thread each on {common.machine()}: about {minutes:.0f} minutes from nothing. Windows of 100 frames; budget 100 false "
             "windows an hour unless it says otherwise. Cells are medians of the seeds, in brackets "
             "the lowest and the highest; counts and intervals (Poisson) of a part are those of the "
             "seed with the median number of false windows. A *shadow* is the benign window "
             "right after an attack window."]
    for study in studies:
        parts += [f"### {study.title}", study.text(lab)]
    return "\n\n".join(parts)


def main(args):
    sets, clock = sets_of(args.data), common.Clock()
    studies, without, later = chosen(args, sets)
    lab = Lab(args.root / "detector", args.jobs, clock.say)
    runs = list(dict.fromkeys(run for study in studies for run in study.runs()))
    minutes = lab.print_budget(runs, sum(study.minutes for study in studies))
    for line in without + later:
        print("left out: " + line, flush=True)
    lab.make_all(runs)
    text = text_of(args, sets, studies, lab, minutes)
    print(text)
    if args.write:
        if without or args.only:
            raise common.Failed("not written: it would take other tables out of the page")
        common.write(text, "detector")
