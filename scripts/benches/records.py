"""What journal, records and MLflow cost a training.

  scripts/bench records [--logs DIR]

The teacher's classifier, or without logs the smoke run's, for as long as a short training takes."""
import json
import os
import subprocess
import time

from benches.common import Failed, Figure, Setup, cpu_seconds, median

SETUP = Setup()


def add_arguments(parser):
    parser.add_argument("--mlflow", default="", help="http://HOST:PORT of an MLflow server, to measure that too")


def run_counted(build, words):
    """Wall seconds of a run, and the processor seconds of the host alone: its journal, status and looks at memory."""
    command = build.command("kdgat", *words)
    start = time.perf_counter()
    process = subprocess.Popen(command, env=build.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               cwd=build.scratch)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    seconds = time.perf_counter() - start
    host = cpu_seconds(process.pid)
    if process.wait() != 0:
        raise Failed(f"{' '.join(command)} ended with {process.returncode}")
    return seconds, host


def measure(build, args):
    words = ["run", "classifier", "--preset", "teacher", "--data", args.logs] if args.logs else \
            ["run", "classifier", "--preset", "smoke", "data.synth.seconds=120"]
    root = build.scratch / "runs"
    words += ["max_epochs=" + ("5" if args.logs else "60"), "patience=1000", "--threads", args.threads, "--force",
              "--root", root]
    forms = {"journal alone": ["records=[]"], "csv, tensorboard": [], "and MLflow's folder": ["mlflow_uri=mlruns"]}
    if args.mlflow:
        forms["and an MLflow server"] = ["mlflow_uri=" + args.mlflow]
    build.kdgat(*words, "max_epochs=1", cwd=build.scratch)  # imports the data
    found = {form: [] for form in forms}
    for _ in range(args.repeat):
        for form, more in forms.items():
            seconds, host = run_counted(build, [*words, *more])
            newest = max(root.glob("*/*/run.json"), key=lambda p: p.parent.name)
            beside = json.loads(newest.read_text())["records"].get("cpu_seconds", 0)
            found[form].append((seconds, host, beside))
    base = median(run[0] for run in found["journal alone"])
    for form, runs in found.items():
        seconds, host, beside = (median(run[i] for run in runs) for i in range(3))
        yield Figure(f"{form}, run", seconds, "s", less=True,
                     goal=f"{100 * (seconds / base - 1):+.2f} % of the journal's alone")
        yield Figure(f"{form}, host", 1e3 * host, "ms CPU", less=True, goal=f"{100 * host / seconds:.2f} % of the run")
        yield Figure(f"{form}, records", 1e3 * beside, "ms CPU", less=True,
                     goal=f"{100 * beside / seconds:.2f} % of the run; goal with the host's 1 %")
