"""The tables of pockets: the preset `pocket` on pockets of RNA, beside methods without a network."""
import concurrent.futures
import pathlib
import statistics
import subprocess

from reproduces import common
from reproduces.forest import forest_rankings

SPLITS = {"split": "Entries never seen", "split_family": "Folds never seen"}
MEASURES = ("top_1", "hit_5", "hit_10", "hit_20", "mrr", "median_rank")
MINUTES = 9  # of one run on one core
GOALS = {"hit_5": 0.60, "hit_10": 0.72, "hit_20": 0.85, "mrr": 0.42}


def make_store(args, split):
    source = pathlib.Path(args.data)
    out = args.root / split / "store"
    if out.is_dir():
        return out
    subprocess.run([str(common.KDGAT), "data", "import", str(source / "pockets.tar.gz"), "-o", str(out), f"labels={source / 'pockets.csv'}",
                    "label_column=ligand", f"embeddings={source / 'ligand_maccs.safetensors'}", f"split_column={split}"], check=True,
                   stdout=subprocess.DEVNULL)
    return out


def run(args, split, seed, data, say):
    what = f"{split}, seed {seed}"
    answer = common.answer_of(
        what, "run", "--preset", "pocket", "--data", data, "--seed", seed,
        "--threads", args.threads, "--root", args.root / split / f"seed{seed}", "--json",
        *args.options)
    say(f"{what}: done")
    return answer["steps"][0]["result"]["metrics"]


def numbers(metrics):
    return [f"{metrics[name]:.1f}" if name == "median_rank" else f"{metrics[name]:.3f}" for name in MEASURES]


def middle(rows, name):
    values = [row[name] for row in rows]
    digits = 1 if name == "median_rank" else 3
    spread = f" ({min(values):.{digits}f} to {max(values):.{digits}f})" if min(values) < max(values) else ""
    return f"{statistics.median(values):.{digits}f}{spread}"


def table_of(runs, forests):
    tests = [metrics["parts"]["test"] for metrics in runs]
    rows = [["this encoder", "all", tests[0]["molecules"], *(middle(tests, name) for name in MEASURES)]]
    for some in ("seen", "unseen"):
        if some in tests[0]:
            rows.append(["this encoder", f"{some} in training", tests[0][some]["molecules"],
                         *(middle([test[some] for test in tests], name) for name in MEASURES)])
    for name, metrics in runs[0]["baselines"].items():  # some are drawn by the seed
        of_seeds = [run["baselines"][name] for run in runs]
        rows.append([name, "all", metrics["molecules"], *(middle(of_seeds, measure) for measure in MEASURES)])
    for name, metrics in forests.items():
        rows.append([name, "all", tests[0]["molecules"], *numbers(metrics)])
    rows.append(["chance", "all", "", *numbers(runs[0]["chance"])])
    return common.table(["method", "ligands", "pockets", *MEASURES], rows)


def verdicts(runs, forests):
    """Which goals are met by the median of the seeds, and who is better."""
    tests = [metrics["parts"]["test"] for metrics in runs]
    ours = {name: statistics.median(test[name] for test in tests) for name in MEASURES}
    missed = [f"{name} {ours[name]:.3f} (goal {goal})" for name, goal in GOALS.items() if ours[name] < goal]
    others = {name: [run["baselines"][name] for run in runs] for name in runs[0]["baselines"]}
    others |= {name: [metrics] for name, metrics in forests.items()}
    better = []
    for other, of_seeds in others.items():
        theirs = {name: statistics.median(metrics[name] for metrics in of_seeds) for name in GOALS}
        if above := [f"{name} {value:.3f}" for name, value in theirs.items() if value > ours[name]]:
            better.append(f"{other} ({', '.join(above)})")
    return " ".join([f"Goals missed: {', '.join(missed)}." if missed else "All goals are met by the median of the seeds.",
                     f"Better than the encoder: {'; '.join(better)}." if better else "No baseline is better in any of the four."])


def interval(runs):
    test = runs[0]["parts"]["test"]["interval"]
    return ", ".join(f"{name} {low:.3f} to {high:.3f}" for name, (low, high) in test.items())


def main(args):
    args.root = args.root / "pockets"
    clock = common.Clock()
    jobs = [(split, seed) for split in SPLITS for seed in args.seeds]
    minutes = len(jobs) * MINUTES / args.jobs
    print(f"{len(jobs)} runs, {args.jobs} at a time: about {minutes:.0f} minutes from nothing; finished runs are kept", flush=True)
    stores = {split: make_store(args, split) for split in SPLITS}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = {job: pool.submit(run, args, *job, stores[job[0]], clock.say) for job in jobs}
        runs = {job: one.result() for job, one in waiting.items()}
    parts = [f"`scripts/reproduce pockets --data rna`, seeds {', '.join(map(str, args.seeds))}, {args.jobs} runs at a time with {args.threads} "
             f"thread each on {common.machine()}: about {minutes:.0f} minutes from nothing. 497 pockets of RNA, 196 ligands ranked for each by the "
             "angle to their fingerprints; validation pockets choose the epoch. Cells of the encoder are medians of the seeds, in brackets the "
             "lowest and the highest. *hit_10*: share of pockets whose ligand is among the nearest 10 % of all. Plain numbers are counts and "
             "histograms of distances."]
    for split, title in SPLITS.items():
        of_split = [runs[split, seed] for seed in args.seeds]
        forests = forest_rankings(args.data, split)
        parts += [f"### {title}", table_of(of_split, forests),
                  f"95 % of the first seed, by entries: {interval(of_split)}."]
        if split == "split":
            parts.append(verdicts(of_split, forests))
    text = "\n\n".join(parts)
    print(text)
    if args.write:
        common.write(text, "pockets")
