"""Which measurements there are, their options, and what is done before one."""
import argparse
import difflib
import importlib
import os
import pathlib
import subprocess

from benches.common import HEAD_OF_ROWS, PRESET, ROOT, Build, Failed, Peer, Setup, machine


def measurements():
    """By name: the modules of this folder that measure."""
    modules = {path.stem: importlib.import_module("benches." + path.stem)
               for path in sorted(pathlib.Path(__file__).parent.glob("*.py"))}
    return {name: module for name, module in modules.items() if hasattr(module, "measure")}


def summary(module):
    return module.__doc__.splitlines()[0].rstrip(".")


def find(names, wanted):
    """`wanted`, if it is one of the names."""
    if wanted in names:
        return wanted
    near = difflib.get_close_matches(wanted, names, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else "see scripts/bench --help"
    raise Failed(f"there is no measurement {wanted}; {hint}", code=2)


def parser_of(name, module):
    parser = argparse.ArgumentParser(prog=f"bench {name}", description=module.__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    if module.SETUP.shared_options:
        add_shared_arguments(parser, module.SETUP)
    if hasattr(module, "add_arguments"):
        module.add_arguments(parser)
    return parser


def add_shared_arguments(parser, setup=Setup()):
    parser.add_argument("--logs", type=os.path.abspath, help="folder in the published layout")
    parser.add_argument("--peer", default="", help="command of the peer program")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peer-repeat", type=int, default=3, help="imports and epochs of the peer take long")
    parser.add_argument("--threads", type=int, default=0, help=f"default: {setup.threads or 'every core'}")
    parser.add_argument("--tmp", default=None, help="folder for scratch files")


def parse(name, module, words):
    parser = parser_of(name, module)
    args = parser.parse_args(words)
    setup = module.SETUP
    if setup.needs and not any(getattr(args, need) for need in setup.needs):
        parser.error(" or ".join("--" + need for need in setup.needs) + " is needed")
    args.threads = args.threads or setup.threads or os.cpu_count()
    args.peer = Peer(getattr(args, "peer", ""), args.threads)
    return args


def make_targets(modules):
    targets = sorted({target for module in modules for target in module.SETUP.targets})
    if targets:
        subprocess.run([str(ROOT / "scripts" / "build"), PRESET, *targets], check=True)


def build_of(checkout, threads, scratch):
    """The build of a checkout, or one in a folder of its own."""
    checkout = pathlib.Path(checkout).resolve()
    folder = checkout if (checkout / "kdgat").is_file() else checkout / "build" / PRESET
    if not (folder / "kdgat").is_file():
        raise Failed(f"{checkout}: no build/{PRESET}/kdgat there")
    return Build(folder, threads, scratch)


def head_of(setup, args):
    if setup.head == "machine":
        return machine(args.threads)
    return f"{machine(args.threads)}; medians of {args.repeat}\n{HEAD_OF_ROWS}" if setup.head else None
