"""The table of labelled graphs: the preset `graphs` on data sets of the TUDataset collection, ten folds each."""
import concurrent.futures
import json
import pathlib
import statistics

from reproduces import common

FOLDS = 10
# Among these the validation part of each fold chooses, for each network by itself.
RATES = {"one rate": {}, "cosine": {"use_scheduler": True, "scheduler_type": "cosine"}}
SETTINGS = {f"{layers} layers {name}": {"layers": layers, **rate} for layers in (2, 4) for name, rate in RATES.items()}
NETWORKS = {"gin": "gin", "without edges": "none"}  # the option conv of each
MODELS = (*NETWORKS, "majority class")
MEASURES = {"accuracy": "accuracy", "macro_f1": "macro F1", "auc": "AUC"}
GOALS = {"MUTAG": 0.83, "PROTEINS": 0.71, "BZR": 0.82}


def steps_of(args, source, fold, profile):
    """What the steps of a run of `profile` come to, by name. Steps that an earlier run did are kept."""
    folder = args.root / source.name / f"fold{fold}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "profile.json"
    path.write_text(json.dumps({"dataset": "graphs", "stages": profile}))
    answer = common.answer_of(
        f"{source.name}, fold {fold}", "run", path, "--data", source, "--seed", args.seeds[0],
        "--threads", args.threads, "--root", folder, "--json", "data.split=group",
        f"data.folds={FOLDS}", f"data.fold={fold}", "data.val_fraction=0.1",
        "data.attributes=false", *args.options)
    return {step["step"]: step["result"]["metrics"] for step in answer["steps"]}


def run(args, source, fold, say):
    """The metrics on the test part of one fold, by model. The test part is not judged before the settings are chosen."""
    trained = {f"{network} {name}": {**args.classifier, "stage": "classifier", "conv": conv, **setting}
               for network, conv in NETWORKS.items() for name, setting in SETTINGS.items()}
    losses = {step: metrics["val_loss"] for step, metrics in steps_of(args, source, fold, trained).items()}
    chosen = {network: min((f"{network} {name}" for name in SETTINGS), key=losses.get) for network in NETWORKS}
    profile = {step: trained[step] for step in chosen.values()}
    profile["evaluate"] = {"needs": ["data", *chosen.values()]}
    metrics = steps_of(args, source, fold, profile)["evaluate"]
    steps = {**chosen, "majority class": "majority class"}
    out = {model: metrics["test"][step]["test"]["core"] for model, step in steps.items()}
    said = [f"{chosen.get(model, model)} {of['accuracy']:.3f}" for model, of in out.items()]
    say(f"{source.name}, fold {fold}: {'; '.join(said)}")
    return out


def cell(folds, model, measure):
    values = [fold[model][measure] for fold in folds]
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values):.3f}"


def verdict(name, folds):
    means = {model: statistics.mean(fold[model]["accuracy"] for fold in folds) for model in MODELS}
    goal = GOALS.get(name)
    said = "" if goal is None else f"goal {goal:.2f} {'met' if means['gin'] >= goal else 'missed'}; "
    gains = [fold["gin"]["accuracy"] - fold["without edges"]["accuracy"] for fold in folds]
    wins, losses = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    error = statistics.stdev(gains) / len(gains) ** 0.5
    return (f"{name}: {said}more accurate than without edges in {wins} folds, less in {losses}, "
            f"by {statistics.mean(gains):+.3f} ± {error:.3f} (standard error).")


def classifier_options():
    """Those of the preset, each of them, so that a profile that holds them means the same."""
    shown = common.answer_of("graphs", "config", "show", "--preset", "graphs", "--json")
    return shown["stages"]["classifier"]


def main(args):
    sources = [pathlib.Path(path) for path in args.data]
    args.root, args.classifier = args.root / "labelled", classifier_options()
    clock = common.Clock()
    clock.say(f"{len(sources)} data sets, {FOLDS} folds each, {args.jobs} runs at a time")
    of_set = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        started = {source.name: [pool.submit(run, args, source, fold, clock.say) for fold in range(FOLDS)] for source in sources}
        for name, runs in started.items():
            of_set[name] = [one.result() for one in runs]
    rows = []
    for name, folds in of_set.items():
        graphs = sum(fold["gin"]["n_samples"] for fold in folds)
        for model in MODELS:
            rows.append([name, graphs, model, *(cell(folds, model, measure) for measure in MEASURES)])
    names = " ".join(f"--data {source.name}" for source in sources)
    text = (f"`scripts/reproduce graphs {names}`, seed {args.seeds[0]}, {FOLDS} folds, on {common.machine()}. Each graph is in "
            "the test part of exactly one fold. A tenth of the rest chooses, by its loss, the epoch and, for each network, 2 or 4 "
            "layers, with one learning rate or one that falls as a cosine; the test part is judged once, by the model so chosen. Labels of nodes are the features, attributes are left out. Cells are means over the folds ± their standard "
            "deviation. *without edges*: the same network, which no edge reaches.\n\n"
            + common.table(["data", "graphs", "model", *MEASURES.values()], rows)
            + "\n\n" + "\n".join(verdict(name, folds) for name, folds in of_set.items()))
    print(text)
    if args.write:
        common.write(text, "graphs")
