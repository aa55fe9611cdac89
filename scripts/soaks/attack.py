"""Kills, full disks, flipped bits, hostile files, names, folders, buses and signals, small memory: what
docs/reliability.md promises, tried.

  scripts/soak attack [--only PART ...] [--sample] [--seed N] [--keep DIR]

A table for each part, a row for each thing that was tried; ends with 1 if one is not as promised.
Parts whose means this machine does not give (memory control groups, mounting) are skipped and say
so. --sample tries a few of each, in about a minute."""
import argparse
import importlib
import pathlib
import signal
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("kills", "disks", "flips", "hostile", "documents", "names", "completion", "lent", "secrets", "signals", "bus",
         "limits", "large")
# What of each part is tried: all, and of a sample.
SIZES = {"kills": (60, 3), "disks": (64, 3), "flips": (1000, 8), "trainings": (20, 1), "names": (None, 6),
         "sizes": (None, [100, 400]), "seconds": (34000, 120),
         "megabytes": (None, [60]), "limits": (None, 1), "runs": (None, 3), "commands": (None, 1), "signals": (None, 1)}


def read(words):
    parser = argparse.ArgumentParser(prog="scripts/soak attack", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; may be repeated")
    parser.add_argument("--sample", action="store_true", help="a few of each")
    parser.add_argument("--seed", type=int, default=1, help="of moments, places and bits (1)")
    parser.add_argument("--keep", type=pathlib.Path, help="work here and keep what was made")
    parser.add_argument("--kdgat", type=pathlib.Path, default=ROOT / "build/release/kdgat", help="the program")
    return parser.parse_args(words)


def options_of(args, part, scratch):
    options = argparse.Namespace(kdgat=args.kdgat.resolve(), scratch=scratch / part, seed=args.seed)
    for name, (whole, sample) in SIZES.items():
        setattr(options, name, sample if args.sample else whole)
    options.scratch.mkdir(parents=True)
    return options


def table(rows):
    widths = [max(len(str(row[key])) for row in rows) for key in ("part", "case", "figure")]
    for row in rows:
        cells = [str(row[key]).ljust(width) for key, width in zip(("part", "case", "figure"), widths)]
        yield "  ".join(["ok " if row["good"] else "BAD", *cells, row["outcome"]]).rstrip()


def main(words):
    args = read(words)
    # A shell ignores these two for a command in the background, and the programs that are tried
    # would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if not args.kdgat.is_file():
        sys.exit(f"soak: {args.kdgat} is not there: scripts/build makes it")
    with tempfile.TemporaryDirectory(prefix="kdgat-soak.") as temporary:
        scratch = pathlib.Path(args.keep or temporary).resolve()
        rows = []
        for part in args.only or PARTS:
            print(f"soak: {part}", file=sys.stderr, flush=True)
            tried = importlib.import_module(f"soaks.{part}").run(options_of(args, part, scratch))
            if tried:
                print("\n".join(table(tried)), flush=True)
            rows += tried
    bad = [row for row in rows if not row["good"]]
    if bad:
        print("\n".join(["", "Not as promised:", *table(bad)]))
    print(f"{len(rows)} rows, {len(bad)} not as promised")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path[0] = str(ROOT / "scripts")  # in the place of scripts/soaks, whose names are those of others, too
    sys.exit(main(sys.argv[1:]))
