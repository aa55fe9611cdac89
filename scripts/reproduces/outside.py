"""Methods of scikit-learn on the windows that the networks learn from, each vehicle left out:
histogram boosting and a random forest, on the largest and the mean value of each column over the
nodes of a window. Where it is not installed nothing is shown."""
import json
import shutil
import statistics
import struct

from reproduces.common import table
from reproduces.figures import short

METHODS = ("histogram boosting", "random forest")
THRESHOLD = .5  # probability of attack


def installed():
    try:
        import numpy, sklearn  # noqa: F401
        return True
    except ImportError:
        return False


def tensors_of(path, names):
    """Those of a safetensors file whose names begin with one of these."""
    import numpy
    types = {"F32": numpy.float32, "I32": numpy.int32, "I64": numpy.int64}
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    out = {}
    for name, entry in header.items():
        if not name.startswith(tuple(names)) or entry.get("dtype") not in types:
            continue
        begin, end = entry["data_offsets"]
        out[name] = numpy.memmap(path, types[entry["dtype"]], "r", 8 + size + begin,
                                 tuple(entry["shape"])) if end > begin else None
    return out


def windows_of(store):
    """Numbers of all windows, their labels, and windows by part."""
    import numpy
    graphs = tensors_of(store / "graphs.safetensors", ("x", "y", "node_ptr"))
    first = graphs["node_ptr"][:-1]
    counts = numpy.diff(graphs["node_ptr"])[:, None]
    x = numpy.hstack([numpy.maximum.reduceat(graphs["x"], first),
                      numpy.add.reduceat(graphs["x"], first) / counts])
    return x, numpy.array(graphs["y"]), tensors_of(store / "split.safetensors", ("train", "test"))


def figures(labels, probabilities):
    from sklearn.metrics import average_precision_score
    flagged = probabilities > THRESHOLD
    has_attacks = (labels == 1).any()
    return {"attacks": int((labels == 1).sum()),
            "missed_windows": int((~flagged[labels == 1]).sum()),
            "false_windows": int(flagged[labels == 0].sum()),
            "pr_auc": float(average_precision_score(labels == 1, probabilities))
            if has_attacks else 0.0}


def judge(store, seed):
    """Of each method and part its figures."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    x, y, parts = windows_of(store)
    train = [g for g in parts["train"] if y[g] >= 0]
    made = (HistGradientBoostingClassifier(random_state=seed),
            RandomForestClassifier(200, n_jobs=-1, random_state=seed))
    out = {}
    for name, method in zip(METHODS, made):
        method.fit(x[train], y[train])
        out[name] = {part: figures(y[ids], method.predict_proba(x[ids])[:, 1])
                     for part, ids in parts.items() if part.startswith("test/")}
    return out


class Outside:
    def __init__(self, lab, seed):
        self.folder, self.lab, self.seed = lab.root / "outside", lab, seed

    def result(self, data):
        """Made once for each data set."""
        file = self.folder / f"{data.name}-{self.lab.data_key(data)}-{self.seed}.json"
        if not file.exists():
            store = self.lab.store(data)
            text = json.dumps(judge(store, self.seed))
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
        return (f"Methods of scikit-learn as they come, threshold {THRESHOLD}, on the largest and "
                "the mean value of each column over the nodes of a window.\n\n"
                + table(["method", "pooled F1", "missed windows", "false windows",
                         f"PR-AUC of {', '.join(hard)}"], self.rows(data_sets, pool, hard)))
