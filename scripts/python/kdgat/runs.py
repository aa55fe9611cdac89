"""What a run left in its folder: steps, figures, curves of training, predictions, weights."""
from __future__ import annotations

import json
import math
import os
import pathlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Iterator

import numpy as np

from .errors import Error, optional
from .files import LARGEST_JSON, read_bytes
from .predictions import Predictions, read_predictions
from .safetensors import Tensors
from .stores import FILE, Graphs

MODEL = "model.safetensors"


def read_json(file: pathlib.Path) -> Any:
    """None where there is no such file. Raises Error where it is no JSON, no regular file or too large."""
    try:
        return json.loads(read_bytes(file, LARGEST_JSON).decode("utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as e:
        raise Error(f"cannot be read as JSON: {e}", path=file) from e


class Curves(dict[str, np.ndarray]):
    """Figures of each epoch: name -> float64 [epochs], NaN where an epoch has none. "epoch" [epochs] int64 counts from 1; a
    stage that learns in episodes has "episode" in its place. Those of "memory.*" are bytes, but for
    its fragmentation."""

    def frame(self) -> Any:
        """The same as a pandas DataFrame. Raises ImportError where there is no pandas."""
        return optional("pandas", "pandas", "frame()").DataFrame(dict(self))


@dataclass(frozen=True)
class Figure:
    """One number that a step measured. model and part ("val", a test scenario) are "" where they say nothing; "MODEL calibrated"
    is the model with a threshold for each file."""

    step: str
    model: str
    part: str
    name: str
    value: float


@dataclass(frozen=True)
class Step:
    """A step of a run.

    state    done, kept (from an earlier run), failed, skipped, running, interrupted or pending
    folder   where its files are: of a kept step, in the run that made it
    seconds  that it took; None while that is unknown
    error    of a failed one, else ""
    """

    name: str
    stage: str
    state: str
    folder: pathlib.Path
    seconds: float | None = None
    error: str = ""


class Run:
    """A run by its folder. Files are read when they are asked for; a running one shows what is there by then."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = pathlib.Path(folder)
        record = read_json(self.folder / "run.json")
        if not isinstance(record, dict) or not isinstance(record.get("steps", []), list):
            raise Error("not the folder of a run: it has no run.json with steps", path=folder)
        if isinstance(record.get("replicates"), list):
            raise Error("a run of several seeds: open one of its runs, " + _replicates(record["replicates"]), path=folder)
        self.record: dict[str, Any] = record  # run.json
        place = self.folder.resolve()
        self.id: str = place.name
        self.dataset: str = place.parent.name
        self.profile: str = str(record.get("profile", ""))
        self.exit_code: int | None = record.get("exit_code")
        self.steps: dict[str, Step] = {s["step"]: self._step(s) for s in record.get("steps", [])
                                       if isinstance(s, dict) and isinstance(s.get("step"), str)}

    def _step(self, state: dict[str, Any]) -> Step:
        name = state["step"]
        places = [self.folder / name]
        if state.get("folder"):  # of a kept step; beside this run, if both were moved together
            kept = pathlib.Path(state["folder"])
            places = [kept, self.folder.resolve().parent / kept.parent.name / kept.name]
        folder = next((place for place in places if place.is_dir()), places[0])
        return Step(name, str(state.get("stage", "")), str(state.get("status", "")), folder, state.get("seconds"),
                    str(state.get("error", "")))

    def __repr__(self) -> str:
        steps = ", ".join(f"{step.name} {step.state}" for step in self.steps.values())
        return f"Run({self.id}, {self.dataset}, profile {self.profile}: {steps})"

    def _only(self, step: str | None, file: str, what: str) -> Step:
        """The step named, or the only one with such a file."""
        having = [s for s in self.steps.values() if (s.folder / file).is_file()]
        names = ", ".join(s.name for s in having) or "none of its steps has any"
        if step is not None:
            if step not in self.steps:
                raise Error(f"no step is called {step}; there are: {', '.join(self.steps)}", path=self.folder)
            if self.steps[step] not in having:
                raise Error(f"the step {step} ({self.steps[step].state}) has no {what}; those that do: {names}",
                            path=self.folder)
            return self.steps[step]
        if len(having) != 1:
            raise Error(f"which {what}? name one step of: {names}" if having else f"no {what}: {names}", path=self.folder)
        return having[0]

    @cached_property
    def config(self) -> dict[str, dict[str, Any]]:
        """Of each step that began: config.json. Its "options" hold every option, "origin" who set each, "seed" the seed."""
        return self._files("config.json")

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Of each finished step: what metrics.json has, some of it in groups (by model, by part).
        figures() has its numbers, and those of figures.json, in a row."""
        return self._files("metrics.json")

    def _files(self, name: str) -> dict[str, dict[str, Any]]:
        found = {step.name: read_json(step.folder / name) for step in self.steps.values()}
        return {step: content for step, content in found.items() if isinstance(content, dict)}

    def figures(self) -> list[Figure]:
        """Every number, one behind the other. A name inside of a group is "group.name"."""
        metrics, figures = self.metrics, self._files("figures.json")
        # Programs before figures.json wrote them into metrics.json.
        return [figure for step in self.steps for content in [metrics.get(step, {})]
                for figure in _figures(step, content, figures.get(step, content).get("figures"))]

    def metrics_frame(self) -> Any:
        """figures() as a pandas DataFrame with columns step, model, part, name and value. Raises ImportError where there
        is no pandas."""
        pandas = optional("pandas", "pandas", "metrics_frame()")
        columns = ["step", "model", "part", "name", "value"]
        return pandas.DataFrame([[getattr(f, c) for c in columns] for f in self.figures()], columns=columns)

    def curves(self, step: str | None = None) -> Curves:
        """What a step measured after each epoch. `step` may be left out where only one has a journal with epochs. Raises
        Error where there are none."""
        if step is None:
            found = {name: curves for name, s in self.steps.items() if (curves := _curves(s))}
            if len(found) != 1:
                raise Error("which curves? name one step of: " + ", ".join(found) if found else
                            "none of its steps has finished an epoch", path=self.folder)
            return next(iter(found.values()))
        curves = _curves(self._only(step, "journal.jsonl", "journal"))
        if not curves:
            raise Error(f"the step {step} has no epochs", path=self.folder)
        return curves

    def model(self, step: str | None = None) -> Tensors:
        """Weights of a step's best epoch: name -> array, read-only, as stored; bfloat16 as float32. `.metadata` holds what
        the model is made of. `step` may be left out where only one has weights. A detector has trees in detector.json and
        no tensors. Raises Error."""
        return Tensors(self._only(step, MODEL, "weights").folder / MODEL)

    def predictions(self, step: str | None = None, store: str | os.PathLike[str] | None = None) -> Predictions:
        """What a step said of each window or graph; see Predictions. `step` may be left out where only one has
        predictions.safetensors (that of `evaluate`), or else only one has predictions as CSV. File and time of windows
        come from the store of the run; `store` names it where it was moved. Raises Error."""
        kinds = ["predictions.safetensors", "predictions.csv", "windows.csv"]
        asked = [self.steps[step]] if step in self.steps else list(self.steps.values())
        file = next((kind for kind in kinds if any((s.folder / kind).is_file() for s in asked)), kinds[0])
        found = self._only(step, file, "predictions").folder / file
        return read_predictions(found, Graphs(store) if store is not None else self.store)

    @property
    def store(self) -> Graphs | None:
        """The graphs of the run; None where they are not at their place any more."""
        def below(value: Any, name: str) -> Any:
            return value.get(name) if isinstance(value, dict) else None

        folders = [below(self.record.get("data"), "folder")]
        for config in self.config.values():
            graphs = below(config.get("inputs"), "graphs")
            folders += [below(graph, "path") for graph in (graphs if isinstance(graphs, list) else [])]
        for folder in dict.fromkeys(f for f in folders if f and isinstance(f, str)):
            for place in (pathlib.Path(folder), self.folder.resolve().parent / "data" / pathlib.Path(folder).name):
                if (place / FILE).is_file():
                    return Graphs(place)
        return None


def _replicates(listed: list[Any]) -> str:
    """"01M8... (seed 1), 01M9... (seed 2)" """
    runs = [f"{one['run']} (seed {one.get('seed')})" for one in listed if isinstance(one, dict) and one.get("run")]
    return ", ".join(runs) or "of which none has begun"


def _name(folder: pathlib.Path) -> str:
    """What its user called a run; "" where it has no name."""
    try:
        labels = read_json(folder / "labels.json")
    except Error:
        return ""
    return str(labels.get("name", "")) if isinstance(labels, dict) else ""


def _curves(step: Step) -> Curves:
    """From the journal. A step that was continued says again what came after its checkpoint: the last word counts."""
    rows: dict[int, dict[str, float]] = {}
    unit = "epoch"
    try:
        lines = read_bytes(step.folder / "journal.jsonl").splitlines()
    except FileNotFoundError:
        return Curves()
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue  # the last one, while it is written
        if not isinstance(event, dict) or event.get("event") != "metrics" or event.get("what") not in ("epoch", "episode"):
            continue
        index, values = event.get("index"), event.get("values")
        if not isinstance(index, int) or not 0 <= index < 2**63 or not isinstance(values, dict):
            continue
        unit = event["what"]
        for later in [i for i in rows if i >= index]:
            del rows[later]
        rows[index] = dict(_numbers(values))
    if not rows:
        return Curves()
    out = Curves({unit: np.array(list(rows), np.int64)})
    for name in dict.fromkeys(name for row in rows.values() for name in row):
        out[name] = np.array([row.get(name, np.nan) for row in rows.values()])
    return out


def _numbers(values: Any, prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield prefix + name, _real(value)


def _real(value: int | float) -> float:
    """Infinite where a whole number is beyond what a float holds."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, 1 if value > 0 else -1)


def _figures(step: str, content: dict[str, Any], told: Any) -> Iterator[Figure]:
    """Each once: told figures name model and part; evaluations have groups core and additional; all others are plain."""
    seen: set[tuple[str, str, str]] = set()

    def once(model: str, part: str, name: str, value: float) -> Iterator[Figure]:
        if (model, part, name) not in seen:
            seen.add((model, part, name))
            yield Figure(step, model, part, name, value)

    def judged(model: str, part: str, tables: dict[str, Any]) -> Iterator[Figure]:
        for group in ("core", "additional"):
            for name, value in _numbers(tables.get(group)):
                yield from once(model, part, name, value)
        for name, value in _numbers(tables.get("calibrated")):  # at thresholds of the files: told as a model of its own
            yield from once(model + " calibrated", part, name, value)

    plain = {}
    for key, value in content.items():
        if isinstance(value, dict) and isinstance(value.get("core"), dict):
            yield from judged(key, "val", value)
        elif not isinstance(value, list):
            plain[key] = value
    test = content.get("test")
    for model, parts in test.items() if isinstance(test, dict) else ():
        for part, tables in parts.items() if isinstance(parts, dict) else ():
            if isinstance(tables, dict) and isinstance(tables.get("core"), dict):
                plain.pop("test", None)
                yield from judged(model, part, tables)
    for f in told if isinstance(told, list) else ():
        if isinstance(f, dict) and isinstance(f.get("value"), (int, float)):
            yield from once(str(f.get("model", "")), str(f.get("part", "")), str(f.get("name", "")), _real(f["value"]))
    for name, value in _numbers(plain):
        yield from once("", "", name, value)


def open_run(run: str | os.PathLike[str], root: str | os.PathLike[str] = "runs") -> Run:
    """See kdgat.open()."""
    path = pathlib.Path(run)
    for folder in (path, path.parent) if os.fspath(run) else ():
        if (folder / "run.json").is_file():
            if folder == path or (path / "config.json").is_file():
                return Run(folder)
    if path.is_dir() and os.fspath(run):
        raise Error("neither the folder of a run nor of one of its steps", path=run)
    given = os.fspath(run)
    name = given.replace("...", "…")
    head, dots, tail = name.partition("…")
    runs = [file.parent for file in sorted(pathlib.Path(root).glob("*/*/run.json"))] if name else []
    found = [run for run in runs if run.name == name] or [
        run for run in runs if run.name.startswith(head) and (not dots or run.name.endswith(tail))
        or _name(run) == given]
    if len(found) == 1:
        return Run(found[0])
    if found:
        raise Error(f"{len(found)} runs in {os.fspath(root)} begin with {name} or are called so: give more of the id, or the "
                    "folder")
    raise Error(f"no run or folder is called {os.fspath(run)!r}; runs were looked for in {os.fspath(root)}")
