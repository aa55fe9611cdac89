"""What the memory plan says against what a step holds.

  scripts/bench memory --logs DIR
  scripts/bench memory --pockets
  scripts/bench memory random --count 300

The plan's prediction against the most bytes of tensors that a step held, over one epoch, for --combinations of data,
model, size, precision, checkpointing and batch, each with either mode of estimation. With --pockets it is the stage
equivariant on synthetic molecules: atoms of a molecule, cutoff of its pairs, irreps, layers, precision, checkpointing
and batch; with a data set after it, on that one.

`random` draws --count configurations by --seed, on synthetic data: model, size, batch, precision,
checkpointing, teacher and policy. It prints planned over measured, with the plan's margin and
without. What was measured is kept in --state, so that a measurement that was ended goes on."""
import itertools
import json
import pathlib
import random
import shutil

from benches.common import ROOT, Failed, Figure, Setup, median
from benches.memory_random import Drawn, Ledger

SETUP = Setup(needs=("logs", "pockets", "what"), head="machine")
POCKETS = 24  # molecules of a synthetic set
# Goals of a mode of estimation: median and worst error.
MODES = {"measured": (0.03, 0.10), "static": (0.10, 0.25)}


def add_arguments(parser):
    parser.add_argument("what", nargs="?", choices=("random",),
                        help="configurations drawn by chance")
    parser.add_argument("--count", type=int, default=300, help="how many are drawn (300)")
    parser.add_argument("--seed", type=int, default=1, help="what they are drawn by (1)")
    parser.add_argument("--state", type=pathlib.Path,
                        default=ROOT / "build" / "memory_random.jsonl",
                        help="what was measured so far (build/memory_random.jsonl)")
    parser.add_argument("--combinations", type=int, default=64, help="how many of 144, with --pockets of 288; 0 = all")
    parser.add_argument("--pockets", nargs="?", const="synthetic", default="", metavar="DATA",
                        help="the stage equivariant, on synthetic molecules or on this data set")
    parser.add_argument("--device", default="cpu", help="where the steps run")


def planned_and_actual(text):
    """Of a memory.json: bytes predicted and seen, the plan's margin, seconds of its probe. A plan for a card is of what its
    allocator reserves, one for the processor of tensors."""
    memory = json.loads(text)
    planned = memory["planned"]
    if not planned:
        raise Failed("a step left no plan in memory.json")
    of_card = planned["device"]["name"] != "cpu"
    seen = memory["actual"]["peak_reserved_bytes" if of_card else "peak_tensor_bytes"]
    return {"predicted": planned["predicted"], "actual": seen,
            "margin": planned.get("margin", 0), "seconds": planned.get("probe_seconds", 0)}


def error_of(row):
    return row["predicted"] / row["actual"] - 1


def summary(mode, rows):
    """One line on all rows of a mode, and its figures."""
    errors = [abs(error_of(row)) for row in rows]
    low = sum(error_of(row) < -row["margin"] for row in rows)
    seconds = [row["seconds"] for row in rows]
    goal = MODES[mode]
    yield Figure(f"{mode}, median error", 100 * median(errors), "%", less=True, shown=False)
    yield Figure(f"{mode}, worst error", 100 * max(errors), "%", less=True, shown=False)
    yield Figure(f"{mode}, probe", median(seconds), "s", less=True, shown=False)
    yield (f"{mode}: {len(rows)} combinations, error {median(errors):.1%} median (goal {goal[0]:.0%}), "
           f"{max(errors):.1%} worst (goal {goal[1]:.0%}); {low} below the truth by more than the margin "
           f"of {max(row['margin'] for row in rows):.0%} (goal 0); probe {median(seconds):.2f} s median, "
           f"{max(seconds):.2f} s longest")


def of_detectors(build, args):
    """Columns of a table, and of each combination its cells and the words of its run."""
    # Overlapping or sparse windows, so that there are some 2,000 to train on.
    folder = build.scratch
    build.kdgat("data", "import", args.logs, "-o", folder / "logs", "stride=250")
    build.kdgat("data", "synth", "-o", folder / "traffic", "--seconds", 60, "--vehicles", 2, "--attacks", "dos,fuzzing")
    build.kdgat("data", "import", folder / "traffic", "-o", folder / "synth", "stride=25")
    return ("data", "model", "precision", "checkpointing", "batch"), [
        ((data, f"{stage} {size}", precision, checkpointing, batch),
         (stage, "--preset", size, "--data", folder / data, f"batch_size={batch}", f"precision={precision}",
          f"gradient_checkpointing={checkpointing}"))
        for data, stage, size, precision, checkpointing, batch in itertools.product(
            ("logs", "synth"), ("autoencoder", "classifier"), ("student", "teacher"),
            ("32", "bf16-mixed", "16-mixed"), ("false", "true"), (64, 512, 2048))]


def of_pockets(build, args):
    """The same of encoders of molecules."""
    data = {args.pockets: pathlib.Path(args.pockets)}
    if args.pockets == "synthetic":
        data = {}
        for atoms, cutoff in itertools.product((100, 400), (3, 6)):
            name = f"{atoms} atoms, {cutoff} A"
            data[name] = build.scratch / f"{atoms}_{cutoff}"
            files = build.scratch / f"{atoms}_{cutoff}_files"
            build.kdgat("data", "synth", "--kind", "molecules", "-o", files, "--graphs", POCKETS, "--nodes", atoms)
            build.kdgat("data", "import", files, "-o", data[name], f"distance_cutoff={cutoff}")
    return ("data", "irreps", "layers", "precision", "checkpointing", "batch"), [
        ((name, irreps, layers, precision, checkpointing, batch),
         ("equivariant", "--data", data[name], f"hidden_irreps={irreps}", f"num_layers={layers}", f"batch_size={batch}",
          f"precision={precision}", f"gradient_checkpointing={checkpointing}", "use_layer_norm=true", "baselines=false"))
        for name, irreps, layers, precision, checkpointing, batch in itertools.product(
            data, ("32x0e+16x1o+8x2e", "32x0e+8x1o+4x2e", "16x0e+4x1o"), (1, 2, 4), ("32", "bf16-mixed"),
            ("false", "true"), (2, 8))]


def chosen_of(everything, count):
    count = count or len(everything)
    return sorted(random.Random(1).sample(range(len(everything)), min(count, len(everything))))


def row_of(build, args, words, mode):
    """Bytes planned and seen of a run of one epoch."""
    root = build.scratch / "memory_run"
    modes = (f"memory_estimation={mode}",) if mode else ()
    build.kdgat("run", *words, "--root", root, "max_epochs=1", "optimize_batch_size=false", *modes,
                "--threads", args.threads, "--device", args.device)
    row = planned_and_actual(next(root.glob("*/*/*/memory.json")).read_text())
    shutil.rmtree(root)
    return row


def planned_and_seen(build, args, modes):
    """Rows of the chosen combinations, without a table."""
    _, everything = (of_pockets if args.pockets else of_detectors)(build, args)
    return [row_of(build, args, everything[number][1], mode)
            for number, mode in itertools.product(chosen_of(everything, args.combinations), modes)]


def measure_drawn(build, args):
    program = (build.folder / "lib" / "libkdgat_engine.so").stat()
    ledger = Ledger(args.state, f"{args.seed} {args.device} {args.threads} "
                                f"{program.st_size} {program.st_mtime_ns}")
    drawn = Drawn(build, args.seed)
    for number in range(args.count):
        if number not in ledger.rows:
            words = [str(word) for word in drawn.words(number)]
            ledger.add(number, {"words": words, **row_of(build, args, words, "")})
        row = ledger.rows[number]
        ratio = row["predicted"] / row["actual"]
        if ratio * (1 + row["margin"]) < 1 or abs(ratio - 1) > 0.1:
            yield (f"{number}: planned {row['predicted'] / 2**20:.1f} MiB, "
                   f"seen {row['actual'] / 2**20:.1f}, ratio {ratio:.3f}, "
                   f"margin {row['margin']:.0%}: {' '.join(row['words'])}")
    rows = [ledger.rows[number] for number in range(args.count)]
    yield ("\n| mode | plans | | minimum | median | maximum | median error |\n"
           "|---|---|---|---|---|---|---|")
    for mode in (*MODES, "all"):
        chosen = [row for row in rows
                  if mode == "all" or f"memory_estimation={mode}" in row["words"]]
        if not chosen:
            continue
        plain = [row["predicted"] / row["actual"] for row in chosen]
        sure = [row["predicted"] * (1 + row["margin"]) / row["actual"] for row in chosen]
        for name, ratios in (("as planned", plain), ("with the margin", sure)):
            error = median(abs(ratio - 1) for ratio in ratios)
            yield (f"| {mode} | {len(chosen)} | {name} | {min(ratios):.3f} | "
                   f"{median(ratios):.3f} | {max(ratios):.3f} | {error:.1%} |")
    low = sum(row["predicted"] * (1 + row["margin"]) < row["actual"] for row in rows)
    error = 100 * median(abs(row["predicted"] / row["actual"] - 1) for row in rows)
    yield Figure("plans below what was seen, with the margin", low, "", less=True, goal="goal 0",
                 missed=low > 0)
    yield Figure("median error without the margin", error, "%", less=True, goal="goal 3 %",
                 missed=error > 3)


def measure(build, args):
    if args.what == "random":
        yield from measure_drawn(build, args)
        return
    columns, everything = (of_pockets if args.pockets else of_detectors)(build, args)
    rows = {mode: [] for mode in MODES}
    yield (f"| {' | '.join(columns)} | mode | planned MiB | seen MiB | error |\n" + "|---" * (len(columns) + 4) + "|")
    for number, mode in itertools.product(chosen_of(everything, args.combinations), MODES):
        cells, words = everything[number]
        row = row_of(build, args, words, mode)
        rows[mode].append(row)
        yield (f"| {' | '.join(map(str, cells))} | {mode} | "
               f"{row['predicted'] / 2**20:.1f} | {row['actual'] / 2**20:.1f} | {error_of(row):+.1%} |")
    yield ""
    for mode in MODES:
        yield from summary(mode, rows[mode])
