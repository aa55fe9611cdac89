"""Reading logs in the forms of the industry, against python-can and asammdf.

  scripts/bench formats [--peer PYTHON] [--frames 1000000] [--large]

One drive of synthetic traffic in every form: a Python with python-can and asammdf writes BLF, ASC, TRC and MF4,
kdgat writes pcapng, candump and CSV. Frames a second of processor time, on one thread: kdgat's reader, python-can's
reader, and asammdf's loading of its arrays. Every form must hold the same frames as the candump log, which is checked
frame by frame. --large: the memory that a log 40 times as long takes, too."""
import json
import subprocess

from benches.common import Failed, Figure, Setup, median, output

SETUP = Setup(targets=("kdgat_all", "kdgat_bench"), threads=1)
FORMS = ("log", "csv", "blf", "asc", "trc", "pcapng", "mf4")
GOALS = {"blf": 4, "trc": 4, "asc": 8, "mf4": 18}

WRITE = """
import sys, can
for form in ("blf", "asc", "trc", "mf4"):
    with can.Logger("drive." + form) as log:
        for m in can.LogReader("drive.log"):
            m.channel = 0
            log(m)
"""
READ = """
import json, sys, time, can
start = time.process_time()
frames = sum(1 for _ in can.LogReader(sys.argv[1]))
print(json.dumps({"frames": frames, "cpu_seconds": time.process_time() - start}))
"""
ARRAYS = """
import json, sys, time
from asammdf import MDF
start = time.process_time()
with MDF(sys.argv[1]) as file:
    arrays = [file.get("CAN_DataFrame." + name) for name in ("ID", "DataLength", "DataBytes")]
print(json.dumps({"frames": len(arrays[0]), "cpu_seconds": time.process_time() - start}))
"""


def add_arguments(parser):
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--large", action="store_true", help="also the memory of longer logs")


def make_drive(build, frames):
    """candump's text, of the first so many frames of synthetic traffic."""
    seconds = frames // 300 + 60  # 320 rows a second of one vehicle
    build.kdgat("data", "synth", "-o", build.scratch / "traffic", "--seconds", seconds, "--vehicles", 1,
                "--attacks", "dos", "--format", "candump")
    source = next((build.scratch / "traffic").rglob("*attack-free*.log"))
    with open(source) as read, open(build.scratch / "drive.log", "w") as write:
        written = sum(write.write(line) > 0 for line, _ in zip(read, range(frames)))
    if written < frames:
        raise Failed(f"the traffic has {written:,} frames, not {frames:,}")


def frame_of(line):
    time, bus, frame = line.split()
    return float(time[1:-1]), bus, frame


def check_same(build, form):
    """Frame by frame; times to the microsecond, from the first frame on."""
    build.kdgat("data", "convert", build.scratch / f"drive.{form}", "-o", build.scratch / "back.log", "--quiet")
    with open(build.scratch / "drive.log") as ours, open(build.scratch / "back.log") as back:
        shift = None
        for number, (a, b) in enumerate(zip(ours, back, strict=True)):
            (time, *frame), (back_time, *back_frame) = frame_of(a), frame_of(b)
            shift = back_time - time if shift is None else shift
            # TRC counts tenths of a millisecond, and the clock of a double at today's date 0.24 us.
            if frame != back_frame or abs(back_time - time - shift) > (1.1e-4 if form == "trc" else 2.1e-6):
                raise Failed(f"{form}: frame {number + 1} is {b.strip()}, not {a.strip()}")


def large(build, form):
    """A log of 40 such drives, one after another; the clock falls back between them."""
    file = build.scratch / f"large.{form}"
    convert = subprocess.Popen(build.command("kdgat", "data", "convert", "-", "-o", file, "--quiet"), env=build.env,
                               stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    drive = (build.scratch / "drive.log").read_bytes()
    with convert.stdin as pipe:
        for _ in range(40):
            pipe.write(drive)
    if convert.wait() != 0:
        raise Failed(f"{file.name} could not be written")
    found = build.json("kdgat_bench", "log", file)
    size = file.stat().st_size
    file.unlink()
    return Figure(f"{form}, peak memory of {size / 1e9:.1f} GB", found["peak_mib"], "MiB", less=True,
                  goal="goal: within 10 of the small one")


def measure(build, args):
    make_drive(build, args.frames)
    forms = [form for form in FORMS if args.peer or form not in ("trc", "mf4")]  # which kdgat does not write
    if args.peer:
        output([*args.peer.words, "-c", WRITE], args.peer.env, cwd=build.scratch)
    for form in ("csv", "pcapng", *(() if args.peer else ("blf", "asc"))):
        build.kdgat("data", "convert", build.scratch / "drive.log", "-o", build.scratch / f"drive.{form}", "--quiet")
    for form in forms:
        file = build.scratch / f"drive.{form}"
        if form != "log":
            check_same(build, form)
        ours, peers, arrays = [], [], []
        for run in range(args.repeat):
            ours.append(build.json("kdgat_bench", "log", file))
            if args.peer and run < args.peer_repeat and form not in ("csv", "pcapng"):
                peers.append(json.loads(output([*args.peer.words, "-c", READ, file], args.peer.env)))
            if args.peer and run < args.peer_repeat and form == "mf4":
                arrays.append(json.loads(output([*args.peer.words, "-c", ARRAYS, file], args.peer.env)))

        def rate(runs):
            return median(one["frames"] / one["cpu_seconds"] for one in runs)

        goal = f"goal {GOALS[form]}x and 2,000,000" if form in GOALS else "goal 2,000,000"
        yield Figure(form, rate(ours), "frames/s", peer=rate(peers), goal=goal)
        if arrays:
            yield Figure(f"{form}, asammdf's arrays", rate(ours), "frames/s", peer=rate(arrays), goal="goal 1x")
        yield Figure(f"{form}, peak memory", median(one["peak_mib"] for one in ours), "MiB", less=True)
        if args.large and form not in ("trc", "mf4"):
            yield large(build, form)
