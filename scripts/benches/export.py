"""Exported models: a window in C, what it takes, and what int8 costs; on a Cortex-M4 an estimate.

  scripts/bench export --logs DIR                     DIR in the published layout

The detector of the preset ecu and the student's networks are trained, exported and compiled by gcc -O3 -std=c99
-ffp-contract=off, without -march. A window's time is all that its frames take, from frames in memory; the fastest of
--repeat passes counts. Worst case: made-up windows in which each frame has another id. Flash is what `size` counts at
-Os, stack what was touched on the test vectors. --arm runs the detector for a Cortex-M4 under qemu-arm and counts its
instructions (packages gcc-arm-linux-gnueabihf, libc6-dev-armhf-cross and qemu-user)."""
import json
import pathlib
import random
import re
import struct
import subprocess

from benches.common import ROOT, Failed, Figure, Setup, output

SETUP = Setup(needs=("logs",), threads=1, pair=None)
STRICT = ["-std=c99", "-ffp-contract=off"]
SOURCE = ROOT / "tests/bench/exported.c"
FRAME = struct.Struct("<dIBB2x64s")
CYCLES = 1.5  # of an instruction on a Cortex-M4: loads and taken branches take 2 or 3
CLOCK = 100e6
LINE = re.compile(r"\((\S+)\) \S+ ([0-9A-F]+)#(?:#.)?([0-9A-F]*)")


def add_arguments(parser):
    parser.add_argument("--arm", action="store_true", help="count instructions on a Cortex-M4 as well")


def packed(text):
    """Lines of candump as rows of tests/bench/exported.c."""
    out = bytearray()
    for time, name, data in LINE.findall(text):
        payload = bytes.fromhex(data)
        out += FRAME.pack(float(time), int(name, 16) | (1 << 31 if len(name) == 8 else 0), 0, len(payload), payload)
    return bytes(out)


def frames_of(build, logs):
    """A file for each log, in order."""
    out = []
    for i, log in enumerate(logs):
        text, rows = build.scratch / f"{i}.log", build.scratch / f"{i}.frames"
        build.kdgat("data", "convert", log, "-o", text)
        rows.write_bytes(packed(text.read_text()))
        text.unlink()
        out.append(rows)
    return out


def worst_frames(path):
    """Windows of a hundred ids and more, which no bus has."""
    random.seed(1)
    rows = (FRAME.pack(1000 + 1e-4 * i, (37 * i) % 2048, 0, 8, random.randbytes(8)) for i in range(5000))
    path.write_bytes(b"".join(rows))


def export(build, model, folder, logs, *words):
    checks = [word for log in logs for word in ("--check", log)]
    return json.loads(build.kdgat("export", model, "--format", "c", "-o", folder, "--json", *words, *checks))


def compiled(folder):
    program = folder / "exported"
    output(["gcc", *STRICT, "-O3", "-I", folder, SOURCE, folder / "detector.c", "-o", program], None)
    return program


def times(program, frames, passes):
    return json.loads(output([program, frames, passes], None))


def instructions(program, frames, most):
    """Of one pass over so many frames. qemu says each instruction that it runs, one block a line."""
    words = ["qemu-arm", "-singlestep", "-d", "nochain,exec", "-D", "/dev/stderr",
             str(program), str(frames), "1", str(most)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as ran:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: ran.stderr.read(1 << 20), b""))


def on_arm(folder, frames, window):
    """Bytes of code and constants, and instructions of a window: the difference of two runs, so that no start-up counts."""
    tool, thing = "arm-linux-gnueabihf-", folder / "m4.o"
    flags = [*STRICT, "-mthumb", "-fno-pic"]
    output([tool + "gcc", *flags, "-O3", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-c", folder / "detector.c",
            "-o", thing], None)
    size = int(output([tool + "size", thing], None).splitlines()[1].split()[0])
    # A program of Linux is of another profile than the M4's code in it, which the linker would refuse.
    output([tool + "objcopy", "--remove-section", ".ARM.attributes", thing], None)
    program = folder / "exported_m4"
    output([tool + "gcc", *flags, "-O2", "-static", "-I", folder, SOURCE, thing, "-o", program], None)
    few, many = 20, 60
    count = instructions(program, frames, many * window + 1) - instructions(program, frames, few * window + 1)
    return size, count / (many - few)


def vehicle_of(model):
    return json.loads(model.read_text())["vehicles"][0]["name"]


def stated(folder, name):
    """A number of the header's first comment."""
    return int(re.search(rf"^ \*   {name}\D*(\d+)", (folder / "detector.h").read_text(), re.M)[1])


def figures_of(step):
    return json.loads((step / "figures.json").read_text())["figures"]


def measure(build, args):
    train = sorted(path for path in pathlib.Path(args.logs).glob("train_*/*") if path.is_file())
    test = sorted(path for path in pathlib.Path(args.logs).glob("test_*/*") if path.is_file())
    if not train or not test:
        raise Failed("export needs folders train_... and test_... with logs")
    model = {preset: build.detector(args.logs, preset) for preset in ("detector", "ecu")}
    networks = build.networks(args.logs, "networks", "--preset", "vgae,gat,student")
    figures = {preset: {(f["part"], f["name"]): f["value"] for f in figures_of(path.parent)}
               for preset, path in model.items()}
    for (part, name), value in figures["ecu"].items():
        if name in ("f1", "auc", "pr_auc"):
            grain = {"f1": 0.01}.get(name, 0.002)
            full = figures["detector"][part, name]
            yield f"ecu beside detector, {part}, {name}: {value:.4f} and {full:.4f}" + (
                "  missed: more than " + str(grain) + " less" if full - value > grain else "")
    frames = frames_of(build, test)
    worst = build.scratch / "worst.frames"
    worst_frames(worst)
    of = {"classifier": next(networks.glob("*/*/classifier")), "autoencoder": next(networks.glob("*/*/autoencoder"))}
    jobs = [("ecu", model["ecu"], "int8"), ("ecu", model["ecu"], "float32"), ("detector", model["detector"], "float32"),
            *((name, path, weights) for name, path in of.items() for weights in ("float32", "int8"))]
    for name, path, weights in jobs:
        folder = build.scratch / f"{name}_{weights}"
        vehicle = ["--vehicle", vehicle_of(path)] if path.suffix == ".json" else []
        # A detector is exported for a car: on another one its profile says nothing, in any number format.
        checked = [log for log in test if not vehicle or "unknown_vehicle" not in log.parent.name]
        report = export(build, path, folder, checked if weights == "int8" else [], "--weights", weights, *vehicle)
        program = compiled(folder)
        all_times = [times(program, one, args.repeat) for one in frames]
        middle = sorted((t["median"], t["windows"]) for t in all_times)
        yield Figure(f"{name}, {weights}: a window, median", weighted(middle), "us", less=True,
                     goal="goal 110 us" if name == "classifier" else "")
        yield Figure("  slowest of the logs", max(t["worst"] for t in all_times), "us", less=True)
        yield Figure("  each frame another id", times(program, worst, args.repeat)["worst"], "us", less=True)
        yield Figure("  operations a window, at most", stated(folder, "a window"), "", less=True)
        small = name == "ecu"
        yield Figure("  flash", report["size"]["flash"] / 1024, "KiB", less=True, goal="goal 128 KiB" if small else "")
        memory = report["size"]["state"] + report["size"]["memory"] + report["size"]["stack"]
        yield Figure("  memory, stack included", memory / 1024, "KiB", less=True, goal="goal 128 KiB" if small else "")
        kept = [check for check in report["checks"] if "auc" in check]
        if kept:
            for key in ("auc", "f1"):
                yield Figure(f"  largest change of {key.upper()} by int8", 1000 * max(abs(c[key] - c["exact_" + key]) for c in kept),
                             "thousandths", less=True)
            yield Figure("  decisions that differ", sum(c["decisions_differ"] for c in kept), "windows", less=True)
            yield Figure("    of", sum(c["windows"] for c in kept), "windows")
        if args.arm and name == "ecu" and weights == "int8":
            size, count = on_arm(folder, frames[0], 100)
            yield Figure("  code and constants, Cortex-M4, -O3", size / 1024, "KiB", less=True, goal="goal 128 KiB")
            yield Figure("  instructions a window, Cortex-M4", count, "", less=True)
            yield Figure("  at 100 MHz, an estimate", 1e3 * count * CYCLES / CLOCK, "ms", less=True)


def weighted(middle):
    """The median of logs by their windows, of (median, windows) in order."""
    half, seen = sum(count for _, count in middle) / 2, 0
    for value, count in middle:
        seen += count
        if seen >= half:
            return value
    return 0
