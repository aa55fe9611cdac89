"""Five seeds at once against five runs one after another, of the students of profiles/hcrl_sa.yaml.

  scripts/bench seeds --logs DIR [--epochs N]         DIR in the published layout

The runs one after another take --threads each (2), those of --seeds what it gives them. Both read a data set that was
imported before. Weights of every seed are compared, to the bit, with those of a run of its own with the same threads."""
import json
import os
import pathlib
import time

from benches.common import ROOT, Failed, Figure, Setup, median

SETUP = Setup(needs=("logs",), pair=None)
SEEDS = range(1, 6)
STEPS = ("autoencoder", "classifier")
GOAL = 0.6


def add_arguments(parser):
    parser.add_argument("--epochs", type=int, default=10, help="epochs of each training (10)")


def weights(run):
    return [(run / step / "model.safetensors").read_bytes() for step in STEPS]


def measure(build, args):
    logs = pathlib.Path(args.logs).resolve()
    data = build.once("data", lambda path: build.kdgat("data", "import", logs, "-o", path))
    words = ["run", ROOT / "profiles/hcrl_sa.yaml", "--data", data, f"max_epochs={args.epochs}"]
    alone, together = [], []
    for turn in range(max(1, args.repeat)):
        start = time.perf_counter()
        for seed in SEEDS:
            build.kdgat(*words, "--seed", seed, "--threads", args.threads, "--root", build.scratch / f"alone{turn}")
        alone.append(time.perf_counter() - start)
        start = time.perf_counter()
        answer = json.loads(build.kdgat(*words, "--seeds", "1..5", "--root", build.scratch / f"together{turn}", "--json"))
        together.append(time.perf_counter() - start)
    folder = pathlib.Path(answer["folder"]).parent
    threads = json.loads((pathlib.Path(answer["folder"]) / "run.json").read_text())["threads"]
    for one in answer["replicates"]:
        root = build.scratch / "twin"
        build.kdgat(*words, "--seed", one["seed"], "--threads", threads, "--root", root)
        twin = max((path for path in root.glob("*/*/run.json")), key=os.path.getmtime).parent
        if weights(folder / one["run"]) != weights(twin):
            raise Failed(f"seed {one['seed']}: other weights than those of a run of its own with {threads} threads")
    yield f"weights of {len(answer['replicates'])} seeds are to the bit those of single runs with {threads} thread(s)"
    ratio = median(together) / median(alone)
    yield Figure("five runs one after another", median(alone), "s", less=True)
    yield Figure("--seeds 1..5", median(together), "s", less=True, peer=median(alone))
    yield Figure("share of the time, percent", 100 * ratio, "%", less=True, goal=f"goal {100 * GOAL:.0f} %",
                 missed=ratio > GOAL)
