"""Watching: windows judged natively, live frames over UDP on loopback, logs played again, memory.

  scripts/bench live --logs DIR                       DIR in the published layout
  scripts/bench live --logs DIR --seconds 600         frames for ten minutes
  scripts/bench live --logs DIR --hours 24            as many frames as 2,000 a second for a day, through a pipe
  scripts/bench live --logs DIR --all FOLDER          every log below FOLDER is scored and played again
  scripts/bench live --logs DIR --engines             every log of DIR by either engine: how far their scores are apart

A second core is kept busy while frames come. The sender keeps absolute deadlines; drops are those that the kernel and the
program count. Alarms of a log that is played again are those of `kdgat score`, compared byte by byte."""
import contextlib
import json
import pathlib
import queue
import re
import signal
import socket
import subprocess
import threading
import time

from benches.common import Failed, Figure, Setup, cpu_seconds, median

SETUP = Setup(needs=("logs",), targets=("kdgat_all", "kdgat_live_bench"), threads=1, pair=None)
RATE = 9000


def add_arguments(parser):
    parser.add_argument("--seconds", type=float, default=20, help="how long frames come (20)")
    parser.add_argument("--hours", type=float, default=0, help="so many hours of 2,000 frames a second through a pipe")
    parser.add_argument("--engines", action="store_true", help="score every log of --logs natively and with LibTorch")
    parser.add_argument("--all", default="", help="a folder of logs to score and to play again")


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def status_of(pid, key):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{key}:\s+(\d+)", text, re.M)[1])


@contextlib.contextmanager
def busy_core():
    burn = subprocess.Popen(["python3", "-c", "while True: pass"])
    try:
        yield
    finally:
        burn.kill()
        burn.wait()


class Watching:
    """`kdgat watch` beside this process; its lines of JSON, which are read as they come."""

    def __init__(self, build, words, **kwargs):
        self.process = subprocess.Popen([str(build.folder / "kdgat"), "watch", *map(str, words)], env=build.env, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, close_fds=False, **kwargs)
        self.lines = queue.SimpleQueue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def line(self):
        """The next line; None at the end."""
        line = self.lines.get()
        return line and json.loads(line)

    def rest(self):
        """All lines to the end of the program."""
        yield from iter(self.line, None)
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return [line for line in self.rest() if line["event"] == "traffic"][-1]


def live(build, model, log, seconds, rate=RATE, buffer=4 << 20, heartbeat="1s"):
    """The last report, the sent frames, and what of the machine it took."""
    port = free_port()
    watch = Watching(build, [f"udp:127.0.0.1:{port}", "--model", model, "--heartbeat", heartbeat, "--receive-buffer", buffer])
    watch.line()
    cpu = cpu_seconds(watch.process.pid)
    sent = build.json("kdgat_live_bench", "send", port, log, rate, seconds)["sent"]
    time.sleep(0.5)
    cpu = cpu_seconds(watch.process.pid) - cpu
    memory = status_of(watch.process.pid, "VmHWM")
    return watch.end(), sent, cpu, memory


def alarms_of(text):
    return [line for line in text.splitlines() if '"event":"alarm"' in line]


def played_again(build, model, logs):
    """How many logs, alarms, and logs that differ; a log without times has no pace."""
    same, alarms, different = 0, 0, []
    for log in logs:
        scored = subprocess.run([str(build.folder / "kdgat"), "score", str(log), "--run", str(model), "--json"], env=build.env,
                                capture_output=True, text=True)
        if scored.returncode != 0:
            continue
        watched = subprocess.run([str(build.folder / "kdgat"), "watch", "--replay", str(log), "--speed", "max", "--model",
                                  str(model)], env=build.env, capture_output=True, text=True)
        wanted, said = alarms_of(scored.stdout), alarms_of(watched.stdout)
        alarms += len(wanted)
        if wanted == said and watched.returncode == 0:
            same += 1
        else:
            different.append(str(log))
    return same, alarms, different


def scores_of(build, model, log, engine):
    """Score and decision of each window."""
    out = build.kdgat("score", log, "--run", model, "--engine", engine, "-q")
    rows = [line.split(",") for line in out.splitlines()]
    score, decision = rows[0].index("score"), rows[0].index("decision")
    return [(float(row[score]), row[decision]) for row in rows[1:]]


def engines(build, name, model, logs):
    """Of all windows of the logs the largest difference of scores, and decisions that differ."""
    worst, windows, differ = 0.0, 0, 0
    for log in logs:
        native, torch = scores_of(build, model, log, "native"), scores_of(build, model, log, "libtorch")
        if len(native) != len(torch):
            raise Failed(f"{log}: {len(native)} windows natively, {len(torch)} with LibTorch")
        windows += len(native)
        for (one, says), (other, said) in zip(native, torch):
            worst = max(worst, abs(one - other))
            differ += says != said
    yield Figure(f"{name}: windows by both engines", windows, "windows")
    yield Figure("  largest difference", 1e6 * worst, "millionths", less=True, goal="goal 10", missed=worst > 1e-5)
    yield Figure("  decisions that differ", differ, "windows", less=True)


def measure(build, args):
    logs = sorted(p for p in pathlib.Path(args.logs).glob("test_*/*"))
    if not logs:
        raise Failed("live needs a folder test_... with a log")
    detector = build.detector(args.logs)
    networks = build.networks(args.logs, "networks", "--preset", "vgae,gat,student")
    models = {"detector": detector}
    for name in ("classifier", "autoencoder"):
        models["student " + name] = next(networks.glob(f"*/*/{name}/model.safetensors"))
    if args.engines:
        all_logs = sorted(p for p in pathlib.Path(args.logs).rglob("*") if p.is_file())
        for name, model in models.items():
            yield from engines(build, name, model, all_logs)
        return
    for name, model in models.items():
        runs = [build.json("kdgat_live_bench", "windows", model, logs[0]) for _ in range(args.repeat)]
        for share in ("p50", "p99"):
            yield Figure(f"{name}, a window, {share}", median(r[share] for r in runs), "us", less=True,
                         goal="goal 250 us" if share == "p99" else "")
    starts = []
    for _ in range(args.repeat):
        begin = time.monotonic()
        watch = Watching(build, ["--replay", logs[0], "--speed", "max", "--heartbeat", "0.1s", "--model", detector])
        watch.line()
        starts.append(1000 * (time.monotonic() - begin))
        list(watch.rest())
    yield Figure("from start to the first report", median(starts), "ms", less=True, goal="goal 30 ms")
    with busy_core():
        last, sent, cpu, memory = live(build, detector, logs[0], args.seconds)
    bus = last["buses"][0]
    yield Figure(f"sent at {RATE:,}/s beside a busy core", sent, "frames")
    yield Figure("  judged", last["frames"], "frames", missed=last["frames"] != sent)
    yield Figure("  lost", bus["kernel_drops"] + bus["queue_drops"], "frames", less=True, goal="goal 0")
    yield Figure("  CPU a frame, model included", 1e6 * cpu / max(sent, 1), "us", less=True)
    yield Figure("  to the decision, p99", 1e6 * last["decision"]["p99"], "us", less=True, goal="goal 1,000 us")
    yield Figure("  to the alarm with reasons, p99", 1e6 * last["alarm"]["p99"], "us", less=True, goal="goal 25,000 us")
    yield Figure("  memory, at most", memory / 1024, "MiB", less=True, goal="goal 20 MiB")
    last, sent, _, _ = live(build, detector, logs[0], 2, rate=200_000, buffer=4096)
    bus = last["buses"][0]
    lost = bus["kernel_drops"] + bus["queue_drops"]
    yield Figure("a buffer of 4 kB at 200,000/s: lost", lost, "frames")
    yield Figure("  judged and lost, of those sent", 100 * (last["frames"] + lost) / sent, "%")
    if args.all:
        files = sorted(p for p in pathlib.Path(args.all).rglob("*") if p.is_file() and p.suffix in (".gz", ".csv", ".log", ".txt"))
        same, alarms, different = played_again(build, detector, files)
        yield Figure("logs whose alarms are the same", same, "logs", missed=bool(different))
        yield Figure("  events of alarms in them", alarms, "events")
        yield from (f"differs: {log}" for log in different)
    if args.hours:
        yield from day(build, detector, args.hours)


def day(build, model, hours):
    """Made-up traffic through standard input: memory at a tenth of it and at the end."""
    begin = time.monotonic()
    made = subprocess.Popen([str(build.folder / "kdgat"), "data", "synth", "-o", "-", "--seconds", str(int(hours * 3600)),
                             "--vehicles", "6"], env=build.env,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    watch = Watching(build, ["--replay", "-", "--speed", "max", "--heartbeat", "2s", "--model", model], stdin=made.stdout)
    made.stdout.close()
    seen = []
    last = {}
    for report in watch.rest():
        if report["event"] == "traffic":
            last = report
            with contextlib.suppress(FileNotFoundError, TypeError):
                seen.append((report["frames"], status_of(watch.process.pid, "VmRSS") / 1024))
    made.wait()
    frames = last.get("frames", 0)
    early = [memory for count, memory in seen if count >= frames / 10]
    yield Figure(f"{hours:g} hours through a pipe", frames, "frames", missed=made.returncode != 0 or watch.process.returncode != 0)
    yield Figure("  of the traffic in a second", frames / hours / 3600, "frames/s")
    yield Figure("  judged in a second", frames / (time.monotonic() - begin), "frames/s")
    yield Figure("  memory at a tenth of it", early[0] if early else 0, "MiB", less=True)
    yield Figure("  memory at the end, at most", max(early, default=0), "MiB", less=True)
