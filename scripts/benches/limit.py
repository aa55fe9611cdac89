"""Peak of RssAnon where only memory limits the batch.

  scripts/bench limit

Runs whose batch only memory limits: the peak of RssAnon, looked at every 10 ms, against the limit."""
import json
import shutil

from benches.common import Figure, Setup

SETUP = Setup(head="machine")


def measure(build, args):
    folder = build.scratch
    build.kdgat("data", "synth", "-o", folder / "traffic", "--seconds", 600, "--vehicles", 2, "--attacks", "dos,fuzzing")
    build.kdgat("data", "import", folder / "traffic", "-o", folder / "data", "stride=40")
    yield ("| model | limit MiB | limited by | graphs a batch | peak RssAnon MiB | of the limit | splits |\n"
           "|---|---|---|---|---|---|---|")
    for stage, size in (("classifier", "teacher"), ("autoencoder", "teacher"), ("classifier", "student")):
        for mib in (512, 1024, 2048):
            root = folder / f"{stage}_{size}_{mib}"
            build.kdgat("run", stage, "--preset", size, "--data", folder / "data", "--root", root, "max_epochs=1",
                        "batch_size=1000000", "min_steps_per_epoch=1", "--memory-limit", f"{mib}MiB",
                        "--threads", args.threads)
            record = json.loads(next(root.glob("*/*/*/memory.json")).read_text())
            shutil.rmtree(root)
            planned, actual = record["planned"], record["actual"]
            peak = actual["peak_anonymous_bytes"] / 2**20
            yield Figure(f"{stage} {size}, {mib} MiB", peak, "MiB", less=True, shown=False)
            yield (f"| {stage} {size} | {mib} | {planned['binds']} | {planned['batch']['graphs']:,} | {peak:.0f} | "
                   f"{peak / mib:.1%} | {actual['splits']} |")
