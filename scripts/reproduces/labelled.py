"""The table of labelled graphs: the preset `graphs` on data sets of the TUDataset collection, ten folds each."""
import concurrent.futures
import json
import pathlib
import statistics
import subprocess

from reproduces import common

FOLDS = 10
STEPS = {"classifier": "gin", "without edges": "without edges", "majority class": "majority class"}
MEASURES = {"accuracy": "accuracy", "macro_f1": "macro F1", "auc": "AUC"}
GOALS = {"MUTAG": 0.83, "PROTEINS": 0.71, "BZR": 0.82}


def words_of(args, source, fold):
    folder = args.root / source.name / f"fold{fold}"
    return [str(common.KDGAT), "run", "--preset", "graphs", "--data", str(source), "--seed", str(args.seeds[0]), "--threads",
            str(args.threads), "--root", str(folder), "--json", "data.split=group", f"data.folds={FOLDS}", f"data.fold={fold}",
            "data.val_fraction=0.1", "data.attributes=false", *args.options]


def run(args, source, fold, say):
    """The metrics on the test part of one fold, by step."""
    done = subprocess.run(words_of(args, source, fold), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise common.Failed(f"{source.name}, fold {fold}: kdgat ended with {done.returncode}\n{done.stderr[-3000:]}")
    metrics = next(step for step in json.loads(done.stdout)["steps"] if step["step"] == "evaluate")["result"]["metrics"]
    out = {step: metrics["test"][step]["test"]["core"] for step in STEPS}
    accuracy = [f"{STEPS[step]} {of['accuracy']:.3f}" for step, of in out.items()]
    say(f"{source.name}, fold {fold}: {', '.join(accuracy)}")
    return out


def cell(folds, step, measure):
    values = [fold[step][measure] for fold in folds]
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values):.3f}"


def verdict(name, folds):
    means = {step: statistics.mean(fold[step]["accuracy"] for fold in folds) for step in STEPS}
    goal = GOALS.get(name)
    said = "" if goal is None else f"goal {goal:.2f} {'met' if means['classifier'] >= goal else 'missed'}; "
    wins = sum(fold["classifier"]["accuracy"] > fold["without edges"]["accuracy"] for fold in folds)
    losses = sum(fold["classifier"]["accuracy"] < fold["without edges"]["accuracy"] for fold in folds)
    return f"{name}: {said}more accurate than without edges in {wins} folds, less in {losses}."


def main(args):
    sources = [pathlib.Path(path) for path in args.data]
    args.root = args.root / "labelled"
    clock = common.Clock()
    clock.say(f"{len(sources)} data sets, {FOLDS} folds each, {args.jobs} runs at a time")
    of_set = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        started = {source.name: [pool.submit(run, args, source, fold, clock.say) for fold in range(FOLDS)] for source in sources}
        for name, runs in started.items():
            of_set[name] = [one.result() for one in runs]
    rows = []
    for name, folds in of_set.items():
        graphs = sum(fold["classifier"]["n_samples"] for fold in folds)
        for step, word in STEPS.items():
            rows.append([name, graphs, word, *(cell(folds, step, measure) for measure in MEASURES)])
    names = " ".join(f"--data {source.name}" for source in sources)
    text = (f"`scripts/reproduce graphs {names}`, seed {args.seeds[0]}, {FOLDS} folds, on {common.machine()}. Each graph is in "
            "the test part of exactly one fold. A tenth of the rest chooses the epoch; the test part is judged once, by the "
            "model of that epoch. Labels of nodes are the features, attributes are left out. Cells are means over the folds ± "
            "their standard deviation. *without edges*: the same network, which no edge reaches.\n\n"
            + common.table(["data", "graphs", "model", *MEASURES.values()], rows)
            + "\n\n" + "\n".join(verdict(name, folds) for name, folds in of_set.items()))
    print(text)
    if args.write:
        common.write(text, "graphs")
