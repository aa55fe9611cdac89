"""Two builds, in alternating pairs of the same measurements.

  scripts/bench compare --before DIR data start train latency --logs DIR

--before is another checkout, built (build/release in it), or a build folder; this checkout is built first. Of every figure:
the medians of both builds, their difference, the spread (interquartile range in percent of the median, the larger one of
the two builds), and "worse" where this build is worse by more than 3 % and by more than the spread. Ends with 1 if any is.
The measurements are those of this checkout, each short: one repetition a pair, of train the student's models alone."""
import argparse
import collections
import dataclasses
import pathlib
import statistics
import tempfile

from benches import catalog
from benches.common import ROOT, Failed, Figure, machine, median

LEAST = 3.0  # percent that count
WIDTH = 44


def spread_of(values):
    """The interquartile range in percent of the median."""
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    middle = median(values)
    return 100 * (high - low) / abs(middle) if middle else 0.0


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A figure of two builds; `figure` says what it is, not how much."""
    figure: Figure
    before: float
    after: float
    change: float  # percent of before
    spread: float

    @classmethod
    def of(cls, figure, before, after):
        old, new = median(before), median(after)
        change = 100 * (new / old - 1) if old else 0.0 if new == old else float("inf")
        return cls(figure, old, new, change, max(spread_of(before), spread_of(after)))

    @property
    def word(self):
        if abs(self.after - self.before) <= self.figure.grain:
            return ""
        loss = self.change if self.figure.less else -self.change
        limit = max(LEAST, self.spread)
        return "worse" if loss > limit else "better" if loss < -limit else ""

    def row(self):
        return (f"{self.figure.name:<{WIDTH}}{self.before:14,.2f} {self.after:14,.2f} {self.change:+8.1f} % "
                f"{self.spread:7.1f} %  {self.figure.unit:<10} {self.word}").rstrip()


def figures_of(module, build, args):
    """By name and its how-manieth it is: parts of two models may bear one name."""
    seen, out = collections.Counter(), {}
    for figure in module.measure(build, args):
        if isinstance(figure, Figure):
            seen[figure.name] += 1
            out[figure.name, seen[figure.name]] = figure
    return out


def compare(module, builds, args, pairs):
    """Verdicts on all figures of a measurement; `builds` are the one before and this one."""
    runs = ([], [])
    for pair in range(pairs):
        for side in ((0, 1), (1, 0))[pair % 2]:  # neither is always the first
            runs[side].append(figures_of(module, builds[side], args))
    keys = list(runs[1][0])
    if any(list(run) != keys for run in runs[0] + runs[1]):
        raise Failed("the builds do not give the same figures: " +
                     ", ".join(sorted({name for run in runs[0] + runs[1] for name, _ in set(run) ^ set(keys)})))
    for key in keys:
        before, after = ([run[key].value for run in side] for side in runs)
        yield Verdict.of(runs[1][0][key], before, after)


def parse(words):
    known = {name: module for name, module in catalog.measurements().items() if module.SETUP.pair is not None}
    parser = argparse.ArgumentParser(prog="bench compare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME", help="any of " + ", ".join(known))
    parser.add_argument("--before", required=True, metavar="DIR", help="the other checkout, or its build folder")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--logs", help="folder in the published layout")
    parser.add_argument("--threads", type=int, default=0, help="default: as each measurement does")
    parser.add_argument("--tmp", default=None, help="folder for scratch files")
    args = parser.parse_args(words)
    if args.pairs < 3:
        parser.error("--pairs must be 3 or more: fewer have no spread")
    wanted = {name: known[catalog.find(known, name)] for name in args.names}
    return args, wanted


def main(words):
    """The exit code."""
    args, wanted = parse(words)
    shared = ["--repeat", "1", "--threads", str(args.threads), *(["--logs", args.logs] if args.logs else [])]
    options = {name: catalog.parse(name, module, [*shared, *module.SETUP.pair]) for name, module in wanted.items()}
    catalog.make_targets(wanted.values())
    is_worse = False
    for name, module in wanted.items():
        threads = options[name].threads
        with tempfile.TemporaryDirectory(dir=args.tmp) as folder:
            scratch = [pathlib.Path(folder) / side for side in ("before", "after")]
            for path in scratch:
                path.mkdir()
            builds = [catalog.build_of(checkout, threads, path) for checkout, path in zip((args.before, ROOT), scratch)]
            print(f"{name}: {machine(threads).removeprefix('machine: ')}; medians of {args.pairs} pairs\n"
                  f"{'':<{WIDTH}}{'before':>14} {'after':>14} {'change':>10} {'spread':>9}", flush=True)
            for verdict in compare(module, builds, options[name], args.pairs):
                print(verdict.row(), flush=True)
                is_worse |= verdict.word == "worse"
    return 1 if is_worse else 0
