"""Training in bfloat16 against 32 bits: seconds an epoch of the teachers, and whether validation differs.

  scripts/bench precision --logs DIR [--seeds 3] [--epochs 3]

Both precisions alternate, seed by seed. The difference in validation is held against the spread of the seeds in 32 bits.
Where the processor has no products of bfloat16 (AVX512-BF16) they are emulated, and nothing is to be gained."""
import json
import statistics
import tempfile

from benches.common import PUBLISHED, Failed, Figure, Setup, median

SETUP = Setup(needs=("logs",), pair=None)
GOAL = 1.4
MEASURES = {"autoencoder": "val_loss", "classifier": "val_loss"}


def add_arguments(parser):
    parser.add_argument("--seeds", type=int, default=3, help="two at least, for their spread")
    parser.add_argument("--epochs", type=int, default=3)


def train(build, args, store, stage, precision, seed):
    answer = json.loads(build.kdgat(
        "run", stage, "--preset", "teacher", "--data", store, "--root", tempfile.mkdtemp(dir=build.scratch), "--seed", seed,
        f"max_epochs={args.epochs}", "batch_size=512", "optimize_batch_size=false", "gradient_checkpointing=false",
        f"precision={precision}", "--threads", args.threads, "--force", "--json"))
    return answer["steps"][-1]["result"]["metrics"]


def measure(build, args):
    if args.seeds < 2:
        raise Failed(f"--seeds {args.seeds}: a spread needs two seeds at least", code=2)
    store = build.once("store", lambda path: build.kdgat("data", "import", args.logs, "-o", path, *PUBLISHED))
    for stage, name in MEASURES.items():
        seconds, values = {"32": [], "bf16-mixed": []}, {"32": [], "bf16-mixed": []}
        for seed in range(1, args.seeds + 1):
            for precision in seconds:
                metrics = train(build, args, store, stage, precision, seed)
                seconds[precision].append(metrics["train_graphs"] / metrics["graphs_per_second"])
                values[precision].append(metrics[name])
        exact, short = median(seconds["32"]), median(seconds["bf16-mixed"])
        yield Figure(f"{stage} teacher, epoch in bf16", short, "s", less=True, peer=exact, goal=f"goal {GOAL}x",
                     missed=exact < GOAL * short)
        means = {precision: statistics.mean(of) for precision, of in values.items()}
        spread = statistics.stdev(values["32"])
        yield (f"{stage} teacher, {name} of {args.seeds} seeds: {means['32']:.5f} ± {spread:.5f} in 32 bits, "
               f"{means['bf16-mixed']:.5f} in bf16")
