"""Two processes against one; a checkpoint's time.

  scripts/bench ranks [--logs DIR]

The teacher classifier in one process and in two, one thread each; what a checkpoint of it takes; and two trainings that
know nothing of one another, which is all that the machine's memory and clock allow."""
import json
import shutil
import subprocess

from benches.common import PUBLISHED, Failed, Figure, Setup, epochs_of, median, output

SETUP = Setup(threads=1, head="machine")


def command(build, root, nproc):
    return build.command("kdgat", "run", "classifier", "--preset", "gat,teacher", "--data", build.scratch / "data", "--root", root,
                         "max_epochs=4", "batch_size=1024", "optimize_batch_size=false", "memory_estimation=static",
                         "gradient_checkpointing=false", "checkpoint_seconds=5", "--threads", 1, "--nproc", nproc)


def epoch_seconds(step):
    """Between the ends of epochs: what lies before the first is not training alone."""
    ends = [event["unix"] for event in epochs_of(step)]
    return median(b - a for a, b in zip(ends, ends[1:]))


def beside_another(build, roots):
    """Seconds an epoch of two trainings at once."""
    both = [subprocess.Popen(command(build, root, 1), env=build.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for root in roots]
    if any([process.wait() for process in both]):
        raise Failed("a training beside another one failed")
    seconds = [epoch_seconds(next(root.glob("*/*/classifier"))) for root in roots]
    for root in roots:
        shutil.rmtree(root)
    return seconds


def measure(build, args):
    folder = build.scratch
    if args.logs:
        traffic, words = args.logs, PUBLISHED
    else:
        traffic, words = folder / "traffic", ["stride=40"]
        build.kdgat("data", "synth", "-o", traffic, "--seconds", 300, "--vehicles", 2, "--attacks", "dos,fuzzing")
    build.kdgat("data", "import", traffic, "-o", folder / "data", *words)

    seconds, checkpoints, beside = {1: [], 2: []}, [], []
    for repeat in range(args.repeat):
        for nproc in (1, 2):
            root = folder / f"{repeat}_{nproc}"
            output(command(build, root, nproc), build.env)
            step = next(root.glob("*/*/classifier"))
            seconds[nproc].append(epoch_seconds(step))
            saved = json.loads((step / "metrics.json").read_text()).get("checkpoints")
            if saved:
                checkpoints.append(1e3 * saved["seconds"] / saved["count"])
            shutil.rmtree(root)
        beside += beside_another(build, [folder / f"{repeat}_{name}" for name in "ab"])
    one, two, beside = median(seconds[1]), median(seconds[2]), median(beside)
    yield Figure("epoch, one process", one, "s", less=True, shown=False)
    yield Figure("epoch, two processes", two, "s", less=True, shown=False)
    yield Figure("epoch beside another training", beside, "s", less=True, shown=False)
    yield Figure("checkpoint of the teacher", median(checkpoints), "ms", less=True, shown=False)
    yield f"epoch, one process {one:.2f} s, two {two:.2f} s: {one / two:.2f}x (goal 1.7x)"
    yield f"two trainings beside one another {beside:.2f} s each: two cores are worth {2 * one / beside:.2f}x"
    yield (f"checkpoint of the teacher {median(checkpoints):.1f} ms, longest mean of a run "
           f"{max(checkpoints):.1f} ms (goal 50)")
