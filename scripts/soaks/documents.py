"""JSON of 60 to 300 MB where kdgat expects its own small files, and logs whose name is no UTF-8.

A file that is too large is refused with its name and 2, 3 or 4, in little memory, also under `ulimit -v
1000000`; what reads a whole run may leave it out. No signal and no message of a library comes of it. A log is
scored, explained, watched and learned from whatever its name is.

run(options) reads of `options`: kdgat (the program), scratch (an empty folder), megabytes (sizes) and limits
(how many limits and names; None = all)."""
import json
import os
import shutil

from soaks.material import command, material, row

ULIMIT_KIB = 1_000_000
MOST_MIB = 300
REFUSED = (2, 3, 4)
VEHICLE = "attack-free-vehicle1"
NAMES = (b"\xff\xfe.csv", b"caf\xe9.csv", b"\xed\xa0\x80.csv", b"new\nline.csv")


def _padded(file, document, megabytes):
    """The object with a list of ones behind its keys, written without holding it."""
    text = json.dumps(document)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as out:
        out.write(text[:-1] + (", " if document else "") + '"x": [1')
        for _ in range(megabytes):
            out.write(",1" * (1 << 19))
        out.write("]}")


def _large(options, made, megabytes):
    folder = options.scratch / f"large-{megabytes}"
    runs = folder / "runs"
    done = command(options, ("run", "example", "steps=1", "--root", str(runs)), options.scratch)
    if done.code != 0:
        yield row("documents", "a run to enlarge", False, done.said())
        return
    sound = next(runs.glob("*/*/run.json")).parent
    log = str(made.benign)

    def attempt(case, words, codes=REFUSED, **variables):
        for limit in (ULIMIT_KIB, None)[:options.limits]:
            got = command(options, words, folder, ulimit_kib=limit, **variables)
            is_named = got.code == 0 or "MB are read" in got.err
            good = got.code in codes and is_named and got.mib < MOST_MIB and "exception" not in got.err
            where = f", {limit} KiB" if limit else ""
            yield row("documents", f"{megabytes} MB of {case}{where}", good, "" if good else got.said(),
                      f"exit {got.code}, {got.mib:.0f} MiB, {got.seconds:.1f} s")

    model = folder / "model" / "detector.json"
    _padded(model, json.loads(made.detector.read_text()), megabytes)
    for words in (("score", log, "--run", str(model)), ("why", log, "--run", str(model)),
                  ("watch", "--replay", log, "--speed", "max", "--model", str(model)),
                  ("adapt", str(model), log, "-o", "taught.json", "--force"),
                  ("export", str(model), "--format", "c", "--vehicle", VEHICLE, "-o", "out", "--force")):
        yield from attempt(f"detector.json: {words[0]}", words)
    model.unlink()
    for name, verbs in (("run.json", (("runs", "show"), ("report",))), ("example/metrics.json", (("report",),)),
                        ("example/step.json", (("runs", "show"),)), ("labels.json", (("report",),)),
                        ("submission.json", (("jobs",), ("cancel",)))):
        run = runs / "large" / "01JHOSTILE0000000000000000"
        shutil.copytree(sound, run)
        file = run / name
        _padded(file, json.loads(file.read_text()) if file.is_file() else {}, megabytes)
        for verb in verbs:
            yield from attempt(f"{name}: {' '.join(verb)}", (*verb, str(run)), (0, *REFUSED))
        yield from attempt(f"{name}: runs list", ("runs", "list", "--root", str(runs)), (0, *REFUSED))
        shutil.rmtree(run)
    plugins = folder / "plugins"
    _padded(plugins / "kdgat_example.json", {"name": "example"}, megabytes)
    (plugins / "kdgat_example.so").write_bytes(b"")
    yield from attempt("a plugin's description", ("run", "example", "--plugin-dir", str(plugins)))
    shutil.rmtree(folder)


def _names(options, made):
    folder = options.scratch / "names"
    folder.mkdir()
    for name in NAMES[:options.limits]:
        shutil.copy(made.attacked, os.fsencode(str(folder)) + b"/" + name)
        model = str(made.detector)
        for words in (("score", name, "--run", model, "--json"), ("why", name, "--run", model, "--json"),
                      ("watch", "--replay", name, "--speed", "max", "--model", model),
                      ("adapt", model, name, "-o", "taught.json")):
            got = command(options, words, folder)
            good = got.code == 0 and "exception" not in got.err
            if words[0] != "adapt":
                good &= _is_json(got.out)
            yield row("documents", f"the name {ascii(name)[2:-1]}: {words[0]}", good, "" if good else got.said(),
                      f"exit {got.code}")
            for made_file in folder.glob("taught*"):
                made_file.unlink()


def _is_json(text):
    """Lines of JSON, or one document, in UTF-8."""
    try:
        text.encode()
        lines = [line for line in text.splitlines() if line]
        return bool(lines) and (all(json.loads(line) for line in lines) if lines[0] != "{" else json.loads(text))
    except ValueError:
        return False


def run(options):
    """A row for each file, command and limit."""
    made = material(options)
    rows = list(_names(options, made))
    for megabytes in options.megabytes or (60, 120, 300):
        rows += _large(options, made, megabytes)
    return rows
