"""Files that are hostile: bombs, bytes that mean nothing, JSON without end, pipes that nobody writes to.

Each is given to the commands that would read it. It passes where it is refused with a reason (exit 2 or 3), or
read, in time and in little memory; a signal, a message of a library or more memory does not.

run(options) reads of `options`: kdgat (the program), scratch (an empty folder) and seed."""
import gzip
import io
import json
import os
import random
import tarfile

from soaks.material import command, row

MOST_MIB = 300  # resident
DEEP = 200_000
WORDS = "the company said its profit rose in the first quarter"
LOG = "(1436509052.249713) can0 044#2A366C2BBA\n"
TABS = "1478198376.389427\t0316\t8\t05 21 68 09 21 21 00 6f\tR\n"


def nested(depth, opening='{"a":', closing="}"):
    return opening * depth + "1" + closing * depth


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def bomb(megabytes, line=""):
    """gzip of zeros, or of a line again and again."""
    packed = io.BytesIO()
    block = (line.encode() or b"\0") * (1 << 20)
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        written = 0
        while written < megabytes << 20:
            written += file.write(block)
    return packed.getvalue()


def member_bomb(folder):
    path = folder / "bomb.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        member = tarfile.TarInfo("neuron.swc")
        member.size = 3 << 29
        archive.addfile(member, fileobj=Zeros(member.size))
    return path


class Zeros(io.RawIOBase):
    def __init__(self, size):
        self.left = size

    def read(self, size=-1):
        size = self.left if size < 0 else min(size, self.left)
        self.left -= size
        return bytes(size)


def inputs(folder, chance):
    """name, file: what `import` and `inspect` are given."""
    noise = bytes(chance.randrange(256) for _ in range(5000))
    for end in ("txt", "csv", "log", "tsv", "safetensors", "swc", "tar", "tar.gz"):
        yield f"random bytes, .{end}", write(folder / f"noise.{end}", noise)
    yield "text in UTF-16", write(folder / "wide.txt", f"earn\t{WORDS}\n".encode("utf-16"))
    yield "a log with tabs", write(folder / "tabs.txt", TABS * 50)
    yield "gzip of zeros, 1 GB", write(folder / "zeros.csv.gz", bomb(1024))
    yield "gzip of short lines, 1 GB", write(folder / "lines.csv.gz", bomb(1024, "0\n"))
    yield "a line of 1 GB", write(folder / "line.txt.gz", bomb(1024, "a\tb "))
    yield "a member of 1.5 GB", member_bomb(folder)
    header = nested(DEEP).encode()
    yield "a deep header", write(folder / "deep.safetensors", len(header).to_bytes(8, "little") + header)
    yield "a name that is not UTF-8", write(folder / os.fsdecode(b"caf\xe9") / "a.log", LOG * 500)


def result(options, case, words, waits_for=None):
    """The row of a command; it is interrupted once it has opened `waits_for`."""
    done = command(options, words, options.scratch, waits_for=waits_for)
    wanted, text = (0, 2, 3) if waits_for is None else (130,), done.err + done.out
    sound = done.code in wanted and "json.exception" not in text and done.mib < MOST_MIB
    shown, said = " ".join(map(os.fsdecode, words)), " ".join(text.strip().splitlines()[:1])
    wrong = f"kdgat {shown}: {said}"[:200].encode(errors="replace").decode()
    return row("hostile", case, sound, "" if sound else wrong,
               f"exit {done.code}, {done.seconds:.1f} s, {done.mib:.0f} MiB")


def runs_of_others(options, folder):
    """What report, sync and the lists of runs make of a run that others wrote."""
    run = folder / "runs" / "theirs" / "01JHOSTILE0000000000000000"
    lines = ['{"event":"metrics","what":"epoch","index":0,"values":' + nested(DEEP) + "}", "null", "[]", '{"event":7}',
             '{"event":"metrics","what":"epoch","index":1e300,"values":7}', "{" * DEEP]
    write(run / "step" / "journal.jsonl", "\n".join(lines) + "\n")
    sound = {"kdgat": "0", "steps": [{"step": "step", "stage": "autoencoder", "status": "done"}], "exit_code": 0}
    documents = {"as it should be": json.dumps(sound), "deep": nested(DEEP), "a list": "[]",
                 "steps that are a number": json.dumps({**sound, "steps": 7}),
                 "steps without a name": json.dumps({**sound, "steps": [None, 3, {}]}),
                 "records of another type": json.dumps({**sound, "records": [1], "data": "x", "device": {}})}
    for name, document in documents.items():
        write(run / "run.json", document)
        for words in (["report", str(run)], ["runs", "show", str(run)],
                      ["runs", "list", "--root", "runs"],
                      ["sync", str(run), "--to", str(folder / "mlflow")]):
            yield result(options, f"{words[0]}: run.json {name}", words)


def run(options):
    """A row for each file and command."""
    folder, rows = options.scratch, []
    for what, path in inputs(folder / "in", random.Random(options.seed)):
        for words in (["data", "import", os.fsencode(path), "-o", "out"], ["data", "inspect", os.fsencode(path)]):
            rows.append(result(options, f"{words[1]}: {what}", words))
    os.mkfifo(folder / "pipe")
    for words in (["data", "import", "pipe", "-o", "out"], ["data", "inspect", "pipe"]):
        rows.append(result(options, f"{words[1]}: a pipe that nobody writes to", words,
                           folder / "pipe"))
    for name in ("deep.json", "deep.yaml"):
        write(folder / name, nested(DEEP, "[", "]"))
        rows.append(result(options, f"run: {name}", ["run", name, "-n"]))
    return rows + list(runs_of_others(options, folder))
