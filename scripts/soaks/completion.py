"""TAB in bash where runs have hostile names: nothing of a name runs, neither while bash completes nor when the
line with what it offers is entered, and whatever it offers is one word.

run(options) reads of `options`: kdgat (the program), scratch (an empty folder) and runs (how many names; None =
all)."""
import os
import shutil
import subprocess

from soaks.material import SECONDS, command, row
from soaks.names import EFFECT, NAMES

# kdgat stands in the PATH; the words to complete are arguments; each reply is ended by a null.
COMPLETE = """source <(kdgat completion bash) || exit 9
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
_kdgat kdgat "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2> /dev/null
for reply in "${COMPREPLY[@]}"; do printf '%s\\0' "$reply"; done
"""
# What a reply is when its line is entered.
ENTER = 'eval "set -- $1" 2> /dev/null; printf "%s\\0" "$@"'
PLACES = (("report",), ("runs", "show"), ("score", "--run"), ("runs", "rm"), ("jobs",), ("sync",))


def _bash(script, words, folder, path):
    done = subprocess.run([b"bash", b"--norc", b"-c", script.encode(), b"bash", *words], cwd=folder,
                          env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=SECONDS, check=False)
    return [reply for reply in done.stdout.split(b"\0") if reply]


def _attempt(folder, path, name):
    """Problems, and whether the name was offered."""
    problems, offered = [], 0
    for place in PLACES:
        words = [b"kdgat", *(word.encode() for word in place)]
        for typed in (b"", name[:1]):
            for reply in _bash(COMPLETE, [*words, typed], folder, path):
                entered = _bash(ENTER, [reply], folder, path)
                offered += entered == [name]
                if len(entered) > 1:
                    problems.append(f"{' '.join(place)}: offered as {len(entered)} words: {reply[:60]!r}")
    if any(EFFECT in files for _, _, files in os.walk(folder)):
        problems.append("a command of the name was run")
    return problems, offered


def run(options):
    """A row for each name."""
    if shutil.which("bash") is None:
        return [row("completion", "-", True, "skipped: there is no bash")]
    programs = options.scratch / "bin"
    programs.mkdir()
    (programs / "kdgat").symlink_to(options.kdgat)
    path, rows = f"{programs}:{os.environ['PATH']}", []
    sound = options.scratch / "sound"
    sound.mkdir()
    done = command(options, ("run", "example", "steps=1", "--name", "plain-name"), sound)
    if done.code != 0:
        return [row("completion", "a run", False, done.said())]
    run_of = next(sound.glob("runs/*/*/run.json")).parent.relative_to(sound)
    problems, _ = _attempt(sound, path, b"plain-name")
    offered = _bash(COMPLETE, [b"kdgat", b"report", b"plain"], sound, path)
    rows.append(row("completion", "a plain name", not problems and offered == [b"plain-name"], "; ".join(problems),
                    f"offered {offered}"))
    for number, name in enumerate(NAMES[:options.runs]):
        name = name if isinstance(name, bytes) else name.encode()
        folder = options.scratch / str(number)
        shutil.copytree(sound, folder)
        target = os.fsencode(folder / run_of.parent) + b"/" + name
        refused = "refused as a name"
        if b"/" not in name and len(name) < 256:
            os.rename(folder / run_of, target)
            run = target
        else:
            run = os.fsencode(folder / run_of)
        if command(options, ("runs", "note", run, "x", "--name", name), folder).code == 0:
            refused = "taken as a name"
        problems, offered = _attempt(folder, path, name)
        rows.append(row("completion", ascii(name[:40])[1:], not problems, "; ".join(problems[:3]) or "no effect",
                        f"{refused}, offered {offered} times"))
        shutil.rmtree(folder)
    return rows
