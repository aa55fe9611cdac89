"""Methods of scikit-learn on the windows that the networks learn from, each vehicle left out:
what others would use, and what the numbers of nodes add to those of a window. Where it is not
installed nothing is shown."""
import json
import shutil
import statistics
import struct

from reproduces.common import table
from reproduces.figures import short

AS_THEY_COME = ("histogram boosting", "random forest")  # on largest values and means
# Boosting whose scores never fall where a column grows, as the detector's trees: on columns of
# the window, with the numbers that only nodes have, and with how far an id is beyond all others.
NEVER_FALLS = {"the columns of the trees": ("window",),
               "and the numbers of nodes": ("window", "node"),
               "and those beyond other ids": ("window", "node", "beyond")}
METHODS = (*AS_THEY_COME, *NEVER_FALLS)
WINDOW_COLUMNS = 15  # the first of a node's are those of a window
COMPARED = ("new", "new_mean", "changed")  # how far these are beyond their means over other ids
THRESHOLD = .5  # probability of attack


def installed():
    try:
        import numpy, sklearn  # noqa: F401
        return True
    except ImportError:
        return False


def header_of(path):
    """Of a safetensors file: what it says of its tensors, and where these begin."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(size)), 8 + size


def tensors_of(path, names):
    """Those of a safetensors file whose names begin with one of these."""
    import numpy
    types = {"F32": numpy.float32, "I32": numpy.int32, "I64": numpy.int64}
    header, start = header_of(path)
    out = {}
    for name, entry in header.items():
        if not name.startswith(tuple(names)) or entry.get("dtype") not in types:
            continue
        begin, end = entry["data_offsets"]
        out[name] = numpy.memmap(path, types[entry["dtype"]], "r", start + begin,
                                 tuple(entry["shape"])) if end > begin else None
    return out


def beyond_others(x, first, counts, columns):
    """[windows, columns] the largest difference between an id and the mean of all others."""
    import numpy
    values = x[:, columns]
    sums = numpy.repeat(numpy.add.reduceat(values, first), counts, axis=0)
    others = numpy.repeat(numpy.maximum(counts - 1, 1), counts)[:, None]
    return numpy.maximum.reduceat(values - (sums - values) / others, first)


def windows_of(store):
    """Numbers of all windows by name, their labels, and windows by part."""
    import numpy
    file = store / "graphs.safetensors"
    names = json.loads(header_of(file)[0]["__metadata__"]["node_feature_names"])
    graphs = tensors_of(file, ("x", "y", "node_ptr"))
    x, first, counts = graphs["x"], graphs["node_ptr"][:-1], numpy.diff(graphs["node_ptr"])
    largest = numpy.maximum.reduceat(x, first)
    numbers = {"window": largest[:, :WINDOW_COLUMNS], "node": largest[:, WINDOW_COLUMNS:],
               "mean": numpy.add.reduceat(x, first) / counts[:, None],
               "beyond": beyond_others(x, first, counts, [names.index(one) for one in COMPARED])}
    return numbers, numpy.array(graphs["y"]), tensors_of(store / "split.safetensors",
                                                         ("train", "test"))


def figures(labels, probabilities):
    from sklearn.metrics import average_precision_score
    flagged = probabilities > THRESHOLD
    has_attacks = (labels == 1).any()
    return {"attacks": int((labels == 1).sum()),
            "missed_windows": int((~flagged[labels == 1]).sum()),
            "false_windows": int(flagged[labels == 0].sum()),
            "pr_auc": float(average_precision_score(labels == 1, probabilities))
            if has_attacks else 0.0}


def trained(numbers, chosen, labels, seed):
    """Of each method its name, its columns and the classifier."""
    import numpy
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    everything = numpy.hstack([numbers["window"], numbers["node"], numbers["mean"]])
    as_they_come = (HistGradientBoostingClassifier(random_state=seed),
                    RandomForestClassifier(200, n_jobs=-1, random_state=seed))
    for name, method in zip(AS_THEY_COME, as_they_come):
        yield name, everything, method.fit(everything[chosen], labels[chosen])
    for name, parts in NEVER_FALLS.items():
        x = numpy.hstack([numbers[part] for part in parts])
        method = HistGradientBoostingClassifier(random_state=seed,
                                                monotonic_cst=[1] * x.shape[1])
        yield name, x, method.fit(x[chosen], labels[chosen])


def figures_of_store(store, seed):
    """Of each method and part its figures."""
    numbers, labels, parts = windows_of(store)
    chosen = [window for window in parts["train"] if labels[window] >= 0]
    return {name: {part: figures(labels[ids], method.predict_proba(x[ids])[:, 1])
                   for part, ids in parts.items() if part.startswith("test/")}
            for name, x, method in trained(numbers, chosen, labels, seed)}


class Outside:
    def __init__(self, lab, seed):
        self.folder, self.lab, self.seed = lab.root / "outside", lab, seed

    def result(self, data):
        """Made once for each data set."""
        file = self.folder / f"{data.name}-{self.lab.data_key(data)}-{self.seed}.json"
        if not file.exists():
            store = self.lab.store(data)
            text = json.dumps(figures_of_store(store, self.seed))
            self.folder.mkdir(exist_ok=True)
            file.write_text(text)
            if not data.keep:
                shutil.rmtree(store)
        return json.loads(file.read_text())

    def rows(self, data_sets, pool, hard):
        """Of each method: pooled F1, missed and false windows, mean PR-AUC of hard kinds."""
        results = [self.result(data) for data in data_sets]
        out = []
        for method in METHODS:
            total = pool()
            for result in results:
                for part, m in result[method].items():
                    if part != "test/test_benign":
                        total.add(m)
            values = [m["pr_auc"] for result in results for part, m in result[method].items()
                      if part.removeprefix("test/test_") in hard]
            out.append([method, short(total.f1()), total.missed, total.false,
                        short(statistics.mean(values), 3)])
        return out

    def text(self, data_sets, pool, hard):
        if not installed():
            return ""
        return (f"Methods of scikit-learn, threshold {THRESHOLD}. The first two as they come, on "
                "the largest and the mean value of each column over the nodes of a window. The "
                "others are boosting that never falls where a column grows, as the trees: on the "
                "largest value of each column that windows have too; with the numbers that only "
                f"nodes have; with how far {', '.join(COMPARED)} of an id are beyond their means "
                "over all others.\n\n"
                + table(["method", "pooled F1", "missed windows", "false windows",
                         f"PR-AUC of {', '.join(hard)}"], self.rows(data_sets, pool, hard)))
