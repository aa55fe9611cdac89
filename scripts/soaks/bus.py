"""A bus that is hostile: frames with the id that alarms are sent with, and a clock that jumps while `watch` learns.

Frames with the alarm's id are scored and counted like all others, in the replay of a log and on a bus by UDP.
A clock that begins in 1970 and is set later, or is set back, neither ends the learning early without a word nor
keeps it going for ever.

run(options) reads of `options`: kdgat (the program) and scratch (an empty folder)."""
import itertools
import json
import re
import signal
import socket
import struct
import subprocess
import threading

from soaks.material import SECONDS, command, material, row

OWN = "6F0"
REPORTS = 50  # of the traffic, after which frames that are not counted never will be
CAN_FRAME = struct.Struct("=IB3x8s")


def _events(text, kind):
    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [event for event in events if event.get("event") == kind]


def _own_log(made, folder):
    """The attack with the id of the alarm frames."""
    path = folder / "own.csv"
    header, *lines = made.attacked.read_text().splitlines()
    rows = [line.split(",") for line in lines]
    for fields in rows:
        if fields[-1] == "1":
            fields[1] = OWN
    path.write_text("\n".join([header, *(",".join(fields) for fields in rows)]) + "\n")
    return path, rows


def _replays(options, made, log):
    words = ("watch", "--replay", str(log), "--speed", "max", "--model", str(made.detector), "--json")
    plain = command(options, words, options.scratch)
    own = command(options, (*words, "--alarm", f"can:udp:127.0.0.1:9,id={OWN}"), options.scratch)
    scored = command(options, ("score", str(log), "--run", str(made.detector), "--json"), options.scratch)
    alarms = [_events(done.out, "alarm") for done in (plain, own, scored)]
    good = plain.code == own.code == 0 and alarms[0] and alarms[0] == alarms[1] == alarms[2]
    yield row("bus", "the alarm's id in a replay", good,
              f"exit {own.code}, {len(alarms[1])} lines of alarms", f"without the alarm {len(alarms[0])}")
    counts = [_frames(done.out + done.err) for done in (plain, own)]
    yield row("bus", "its frames are counted", counts[0] and counts[0] == counts[1], f"{counts[1]} frames",
              f"without the alarm {counts[0]}")


def _frames(text):
    """Of the last report of the traffic."""
    found = re.findall(r'"frames":(\d+)', text) or [n.replace(",", "") for n in re.findall(r"([\d,]+) frames", text)]
    return int(found[-1]) if found else 0


def _by_udp(options, made, rows):
    """Frames to a bus by UDP, all with the alarm's id among them: as many are counted as were sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as alarms:
        alarms.bind(("127.0.0.1", 0))
        to = f"can:udp:127.0.0.1:{alarms.getsockname()[1]},id={OWN}"
        process = subprocess.Popen(
            [options.kdgat, "watch", "udp:127.0.0.1:0", "--model", str(made.detector), "--json", "--heartbeat",
             "0.1s", "--alarm", to], cwd=options.scratch, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        guard = threading.Timer(SECONDS, process.kill)
        guard.start()
        sent, counted = [fields for fields in rows if fields[1] == OWN][:200], 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bus:
            traffic = (event for event in map(json.loads, process.stdout) if event.get("event") == "traffic")
            for event in itertools.islice(traffic, REPORTS):
                counted = event["frames"]
                if counted >= len(sent):
                    break
                # Again at each heartbeat: datagrams may be lost.
                port = int(event["buses"][0]["name"].rsplit(":", 1)[1])
                for _, name, data, _ in sent:
                    payload = bytes.fromhex(data)
                    frame = CAN_FRAME.pack(int(name, 16), len(payload), payload.ljust(8, b"\0"))
                    bus.sendto(frame, ("127.0.0.1", port))
        process.send_signal(signal.SIGTERM)
        process.stdout.close()
        code = process.wait()
        guard.cancel()
    yield row("bus", "the alarm's id by UDP", code == 143 and sent and counted >= len(sent),
              f"exit {code}, {counted} counted", f"{len(sent)} sent")


def _jumping(log, path, begin, behind, back=None):
    """Its first `behind` frames have the clock of 1970; from frame `back` on they have it again."""
    header, *lines = log.read_text().splitlines()
    offset = float(lines[0].split(",", 1)[0])
    with path.open("w", encoding="utf-8") as out:
        out.write(header + "\n")
        for i, line in enumerate(lines):
            moment, rest = line.split(",", 1)
            is_early = i < behind or (back is not None and i >= back)
            out.write(f"{float(moment) - (offset - begin if is_early else 0):.6f},{rest}\n")
    return path


def _learned(done):
    """How many windows it learned from, as it says."""
    found = re.findall(r"(\d[\d,]*) windows", done.err)
    return int(found[0].replace(",", "")) if found else 0


def _clocks(options, made):
    def learn(name, log):
        words = ("watch", "--replay", str(log), "--speed", "max", "--model", str(made.detector), "--calibrate",
                 "10s", "--save", f"{name}.json")
        return command(options, words, options.scratch)

    steady = learn("steady", made.benign)
    frames = sum(1 for _ in made.benign.open()) - 1
    for name, behind, back in (("ahead", 300, None), ("ahead and back", 300, 600), ("back", 0, 500),
                               ("back at the end", 0, frames - 50)):
        log = _jumping(made.benign, options.scratch / f"{name}.csv", 5.0, behind, back)
        jumped = learn(name, log)
        # A jump takes a second: nearly as much is learned as from a steady clock, or a warning says
        # that it was less. Nothing else fails.
        enough = _learned(jumped) >= 0.8 * _learned(steady) > 0
        is_refused = jumped.code == 3 and "error" in jumped.err
        good = is_refused or (jumped.code == 0 and (enough or "warning" in jumped.err))
        yield row("bus", f"a clock that jumps {name}", good, f"exit {jumped.code}: {jumped.said()}",
                  f"{_learned(jumped)} windows, steady {_learned(steady)}")


def run(options):
    """A row for each attack."""
    made = material(options)
    log, rows = _own_log(made, options.scratch)
    return [*_replays(options, made, log), *_by_udp(options, made, rows), *_clocks(options, made)]
