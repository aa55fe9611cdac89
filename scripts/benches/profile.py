"""Where an epoch's time goes: operations that take 1 % of it or more, for every model.

  scripts/bench profile --logs DIR
"""
import re

from benches.common import PUBLISHED, TRAININGS, Figure, Setup, median

SETUP = Setup(needs=("logs",), targets=("kdgat_all", "kdgat_engine_bench"))


def measure(build, args):
    store = build.scratch / "store"
    build.kdgat("data", "import", build.training_logs(args.logs), "-o", store, *PUBLISHED)
    limits = build.json("kdgat_engine_bench", "machine", args.threads)
    yield f"limits: {limits['gflops']:.0f} GFLOP/s, {limits['gbytes']:.1f} GB/s of memory"
    for stage, _, size, *_ in TRAININGS:
        run = build.json("kdgat_engine_bench", "train", store / "graphs.safetensors", stage, size, 512, max(2, args.repeat),
                         args.threads)
        total, epoch = run["profiled_epoch_ms_a_step"], median(run["epoch_s"])
        yield Figure(f"{stage} {size}, epoch", epoch, "s", less=True, shown=False)
        yield Figure(f"{stage} {size}, peak memory", run["peak_rss_mib"], "MiB", less=True, shown=False)
        yield (f"\n{stage} {size}: {epoch:.2f} s an epoch, {total:.1f} ms a step (timed), "
               f"{run['peak_rss_mib']:.0f} MiB\n\n| operation | ms a step | share | GFLOP/s | GB/s |\n|---|---|---|---|---|")
        for row in run["operations"]:
            if row["ms"] >= 0.01 * total:
                rates = (f"{row[key]:.0f}" if key in row else "" for key in ("gflops", "gbytes"))
                name = re.sub(r"^.*::(\w+)>$", r"backward of \1", row["operation"])  # CppNode<...::Attention>
                yield f"| {name} | {row['ms']:.2f} | {row['ms'] / total:.0%} | " + " | ".join(rates) + " |"
        rest = total - sum(row["ms"] for row in run["operations"])
        yield f"| outside of LibTorch's operations | {rest:.2f} | {rest / total:.0%} | | |"
