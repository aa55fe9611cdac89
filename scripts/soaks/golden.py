"""Golden values of other windows and seeds than those that the tests come with, made by PyTorch Geometric.

  scripts/soak golden --python PYTHON [--shared DIR] [--keep DIR]

PYTHON has torch, torch_geometric, numpy, pandas and safetensors; DIR holds fixtures/make_fixtures.py and data/hcrl_sa.
Three sets are made in a temporary folder and every test of golden values is run on each, |a-b| <= 1e-5 + 1e-4 |b|.
PyTorch's own values are rounded, too: the same layers are computed again in double precision, and their tests run on
those. What disagrees with PyTorch's float is rounding where it agrees with double precision, or where PyTorch's float
does not agree with its own double either. Ends with 1 if it is more than that."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETS = ((11, 300), (23, 1000), (101, 700))  # seed, first window
# Run by PYTHON: FROM TO. The single layers again, in double precision; prints which given values do not agree with it.
EXACT = """
import pathlib, shutil, sys
import torch
from safetensors.torch import load_file, save_file
from torch_geometric.nn import GATConv, GATv2Conv, GraphNorm, JumpingKnowledge, SAGEConv
given, to = map(pathlib.Path, sys.argv[1:])
LAYERS = {
    "gat_conv": (GATConv(12, 6, heads=4), lambda m, i: m(i["x"], i["edge_index"])),
    "gatv2_conv": (GATv2Conv(12, 6, heads=4, edge_dim=11), lambda m, i: m(i["x"], i["edge_index"], i["edge_attr"])),
    "graph_norm": (GraphNorm(12), lambda m, i: m(i["x"], i["batch"])),
    "jk_lstm": (JumpingKnowledge("lstm", 12, 3), lambda m, i: m([i["x0"], i["x1"], i["x2"]])),
    "sage_conv": (SAGEConv(12, 6), lambda m, i: m(i["x"], i["edge_index"])),
}
for path in given.glob("*.safetensors"):
    shutil.copy(path, to)
for name, (layer, call) in LAYERS.items():
    values = load_file(given / f"{name}.safetensors")
    exact = dict(values)
    layer = layer.double()
    layer.load_state_dict({k[7:]: v.double() for k, v in values.items() if k.startswith("weight.")}, strict=False)
    inputs = {k: v.double().requires_grad_() if v.is_floating_point() else v
              for k, v in values.items() if k != "output" and "." not in k}
    exact["output"] = call(layer, inputs)
    exact["output"].pow(2).sum().backward()
    exact.update({f"grad.{k}": p.grad for k, p in layer.named_parameters()})
    exact.update({f"grad.{k}": v.grad for k, v in inputs.items() if v.requires_grad and f"grad.{k}" in values})
    exact = {k: v.detach().to(values[k].dtype).contiguous() for k, v in exact.items()}
    for key, value in values.items():
        gap = ((value.double() - exact[key].double()).abs() - 1e-5 - 1e-4 * exact[key].double().abs()).max().item()
        if value.is_floating_point() and gap > 0:
            print(f"{name} {key}: {gap:.1e} beyond the bound")
    save_file(exact, to / f"{name}.safetensors")
"""


# Test -> the file of its values, where EXACT makes it again.
FILES = {"attention of the second kind": "gatv2_conv", "attention equals": "gat_conv", "graph norm": "graph_norm",
         "jumping knowledge": "jk_lstm", "a mean layer": "sage_conv"}


def tests(args, shared):
    """What fails by the values below `shared`, as "file tensor"."""
    with tempfile.NamedTemporaryFile() as report:
        done = subprocess.run([args.tests, "[golden]", "-r", "junit", "-o", report.name], cwd=ROOT, capture_output=True,
                              text=True, env={**os.environ, "KDGAT_SHARED": str(shared), "OMP_NUM_THREADS": "1"})
        failed = set()
        for case in xml.etree.ElementTree.parse(report.name).iter("testcase"):
            name = case.get("name")
            file = next((file for words, file in FILES.items() if name.startswith(words)), name)
            for failure in case.iter("failure"):  # the line before "at FILE:LINE" names the tensor
                failed.add(f"{file} {failure.text.strip().splitlines()[-2].strip()}")
    if done.returncode != 0 and not failed:
        raise RuntimeError(done.stdout[-500:] + done.stderr[-500:])
    return sorted(failed)


def main(words):
    parser = argparse.ArgumentParser(prog="scripts/soak golden", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="a Python with torch and torch_geometric")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared", help="(../shared)")
    parser.add_argument("--keep", type=pathlib.Path, help="make the values here and keep them")
    parser.add_argument("--tests", type=pathlib.Path, default=ROOT / "build/release/kdgat_engine_tests")
    args = parser.parse_args(words)
    maker = args.shared / "fixtures" / "make_fixtures.py"
    if not maker.is_file():
        print(f"skipped: no {maker}")
        return 0
    bad = 0
    with tempfile.TemporaryDirectory(prefix="kdgat-golden.") as temporary:
        for seed, first in SETS:
            folder = pathlib.Path(args.keep or temporary) / str(seed)
            given, exact = folder / "float" / "fixtures", folder / "double" / "fixtures"
            for path in (given, exact):
                path.mkdir(parents=True)
            subprocess.run([args.python, maker, args.shared / "data" / "hcrl_sa", given, "--seed", str(seed),
                            "--first-window", str(first)], check=True)
            inexact = subprocess.run([args.python, "-c", EXACT, given, exact], check=True, capture_output=True,
                                     text=True).stdout.splitlines()
            of_float, of_double = tests(args, given.parent), tests(args, exact.parent)
            print(f"seed {seed}, windows {first} to {first + 63}: " + ("all agree" if not of_float else ""))
            for name in of_float:
                file, tensor = name.split(" ", 1)
                theirs = any(line.startswith((f"{file} {tensor}:", f"{file} grad.{tensor}:")) for line in inexact)
                if name not in of_double:
                    verdict = "agrees with double precision: PyTorch's rounding"
                elif theirs:
                    verdict = "neither agrees with double precision: a sum that cancels, rounding of both"
                else:
                    verdict, bad = "disagrees with double precision, too", bad + 1
                print(f"  {name}: {verdict}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
