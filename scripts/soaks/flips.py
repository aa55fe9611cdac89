"""One flipped bit in a store, in the place it is used from: found, or of no consequence, never a crash.

Of each of the four kinds of store, bits are flipped one after another in the import below a run, first so
that its hashes are read, then as if they had been read within the last day: then only what leads outside of
the file is looked for. Each time the store is inspected, and now and then a stage is run on it.

run(options) reads of `options`: kdgat (the program), scratch (an empty folder), seed, flips (how many of each kind in
each way) and trainings (on how many of them a stage is run, too)."""
import json
import os
import random
import struct
import subprocess
import time

from soaks.material import row

# kind, options of `kdgat data synth`, stage that is run on it
KINDS = (("can", ("seconds=10",), "autoencoder"), ("tree", ("graphs=12", "nodes=40"), "gtssl"),
         ("text", ("graphs=60", "nodes=40"), "textgcn"), ("ratings", ("graphs=30", "nodes=12"), "graphsage"))
STORE = "graphs.safetensors"


def program(options, folder, *words):
    """(exit code, text) of kdgat; the code of one that a signal ended is negative."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run([options.kdgat, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=600)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def must(options, folder, *words):
    code, text = program(options, folder, *words)
    if code != 0:
        raise RuntimeError(f"kdgat {' '.join(words)}: exit {code}\n{text}")
    return text


def padding(content):
    """Whether a byte says nothing: it fills up a tensor's place, or the header."""
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    used = [(0, 1 + content.rindex(b"}", 0, 8 + length))]
    used += [(8 + length + begin, 8 + length + end)
             for name, tensor in header.items() if name != "__metadata__" and not name.startswith("_pad.")
             for begin, end in [tensor["data_offsets"]]]
    return lambda at: not any(begin <= at < end for begin, end in used)


def believe(folder, store, content_hash):
    """Notes that the store's hashes were read now."""
    status = os.stat(store)
    line = f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {content_hash}"
    (folder / "cache" / "kdgat" / "verified").write_text(f"{line} {int(time.time())}\n")


def flip(store, at, bit):
    with open(store, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ (1 << bit)]))


def attack(options, kind, synth, stage, folder, is_believed):
    """A row: what became of options.flips flips."""
    chance = random.Random(options.seed)
    must(options, folder, "data", "synth", "--kind", kind, "-o", "in", *synth)
    must(options, folder, "data", "import", "in", "-o", "given")
    # It is linked into the runs: what is flipped here is flipped there.
    store = folder / "given" / STORE
    train = ["run", stage, "--data", "given", "--root", "runs", "--force", "max_epochs=1"]
    must(options, folder, *train)
    content = store.read_bytes()
    is_padding = padding(content)
    content_hash = json.loads(must(options, folder, "data", "inspect", "given", "--json"))["content_hash"]
    crashed, refused, silent, wrong = 0, 0, 0, []
    for number in range(options.flips):
        at, bit = chance.randrange(len(content)), chance.randrange(8)
        flip(store, at, bit)
        if is_believed:
            believe(folder, store, content_hash)
        calls = [["data", "inspect", "given"]]
        if number % max(1, options.flips // options.trainings) == 0:
            calls.append(train)
        codes = [program(options, folder, *call)[0] for call in calls]
        flip(store, at, bit)
        if any(code < 0 or code >= 128 for code in codes):
            crashed += 1
            wrong.append(f"byte {at} bit {bit}: exit {codes}")
        elif all(code == 0 for code in codes):
            silent += 1
            if not is_believed and not is_padding(at):
                wrong.append(f"byte {at} bit {bit}: not found")
        else:
            refused += 1
    return row("flips", f"{kind}, {'ranges alone' if is_believed else 'hashes read'}", not wrong,
               "; ".join(wrong[:3]) or ("no crash" if is_believed else "silent in padding alone"),
               f"{crashed} crashed, {refused} refused, {silent} silent")


def run(options):
    """Two rows for each kind of store."""
    rows = []
    for kind, synth, stage in KINDS:
        for is_believed in (False, True):
            folder = options.scratch / f"{kind}-{int(is_believed)}"
            folder.mkdir(parents=True)
            rows.append(attack(options, kind, synth, stage, folder, is_believed))
    return rows
