"""Hostile names: of folders, data sets, profiles, steps and accounts, through `kdgat submit` and `kdgat report`.

Each name is used in every way in a dry run, whose scripts bash reads, and in one way shown as people see it and
given to an sbatch that runs the script at once. It passes where it is refused (exit 2) or works, and nothing comes of
it: no command in it runs, no control character of it reaches the terminal, no line begins with its text, no markup of
it stands in a report.

run(options) reads of `options`: kdgat (the program), scratch (an empty folder) and
names (how many; None = all)."""
import json
import os
import re
import subprocess

from soaks.material import SECONDS, row

EFFECT = "EFFECT"  # a file that commands in names would make
INJECTED = "INJECTED"
TOUCH = f"touch {EFFECT}"
NAMES = (
    f"\n{TOUCH}\n", f"$({TOUCH})", f"`{TOUCH}`", f";{TOUCH};", f"'; {TOUCH}; '", f"\";{TOUCH};\"", f"|{TOUCH}",
    f"&{TOUCH}&", f"\n#SBATCH --wrap={INJECTED}\n", f"a\r{TOUCH}", f"a\n{INJECTED}", f"${{IFS}}touch${{IFS}}{EFFECT}",
    f"({TOUCH})", f">{EFFECT}", f"2>{EFFECT}", f"<{EFFECT}", f"a\n\n{TOUCH} #", f"')\n{TOUCH}\n('", f"\\\n{TOUCH}",
    f"EOF\n{TOUCH}", "$HOME", "{a,b}", "*", "[a-z]", "~", "!!", "-rf", "--help", "-", " ", "  first", "last ", "\t",
    "a\tb", "\x1b[2J", "\x1b]0;title\x07", "\x08\x08", "\x7f", "\u009b2J", b"\xff\xfe", "\u202egnp", "größe", "%j",
    "%A_%a", "\\n", "a\\", "\"", "'", "<script>alert(1)</script>", "&amp;<b>\"'>", "a=b", "#it", "x" * 255,
)
SBATCH = f"""#!/bin/bash
echo 7
[ "$1" = --version ] || SLURM_JOB_ID=7 bash "${{!#}}" > "${{!#}}.out" 2>&1
"""
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def _bytes(name):
    return name if isinstance(name, bytes) else name.encode()


class Attempt:
    """One name in a folder of its own."""

    def __init__(self, options, number, name):
        self.name = _bytes(name)
        self.kdgat = os.fsencode(options.kdgat)
        self.folder = os.fsencode(options.scratch / str(number))
        self.problems = []
        os.makedirs(self.folder + b"/bin")
        sbatch = self.folder + b"/bin/sbatch"
        with open(sbatch, "w", encoding="utf-8") as file:
            file.write(SBATCH)
        os.chmod(sbatch, 0o755)
        self.environment = {**os.environb, b"PATH": self.folder + b"/bin:" + os.environb[b"PATH"]}

    def say(self, words, cwd=None):
        done = subprocess.run([self.kdgat, *words], cwd=cwd or self.folder, env=self.environment, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode not in (0, 2):
            self.problems.append(f"exit code {done.returncode}: " + repr(done.stderr[-200:]))
        self.check_text(done.stdout + done.stderr)
        return done

    def check_text(self, text):
        if CONTROL.search(text):
            self.problems.append("a control character was shown: " + repr(CONTROL.search(text).group()))
        for line in text.splitlines():
            if line.startswith((TOUCH.encode(), INJECTED.encode(), b"#SBATCH --wrap")):
                self.problems.append("its text begins a line: " + repr(line[:80]))

    def check_script(self, text):
        self.check_text(text)
        read = subprocess.run(["bash", "-n"], input=text, capture_output=True, timeout=SECONDS)
        if read.returncode != 0 or read.stderr:
            self.problems.append("bash does not read its script: " + repr(read.stderr[:200]))

    def check_effect(self):
        for folder, _, files in os.walk(self.folder):
            if EFFECT.encode() in files:
                self.problems.append("a command of the name was run in " + repr(folder))

    def ways(self):
        """(words, folder to stand in) of each use of the name; what file systems do not take is left out."""
        example = [b"example", b"steps=1"]
        yield [*example, b"--data", self.name], None
        yield [*example, b"root=" + self.name], None
        yield [*example, b"dataset=" + self.name], None
        yield [*example, b"--slurm", b"account=" + self.name], None
        modules = json.dumps([self.name.decode(errors="replace")]).encode()
        yield [*example, b"--slurm", b"modules=" + modules], None
        if len(self.name) <= 240 and self.name.strip(b".") and b"=" not in self.name:
            profile = {"stages": {self.name.decode(errors="replace"): {"stage": "example", "steps": 1}}}
            path = self.folder + b"/" + self.name + b".json"
            os.makedirs(os.path.dirname(path), exist_ok=True)  # a name may hold a slash
            with open(path, "w", encoding="utf-8") as file:
                json.dump(profile, file)
            yield [b"--config", b"./" + self.name + b".json"], None
        inside = self.folder + b"/in/" + self.name
        os.makedirs(inside)
        yield example, inside

    def go(self, number):
        """(refused, accepted) of the ways; the `number`-th of them is run to its end, too."""
        refused = accepted = 0
        for i, (words, cwd) in enumerate(list(self.ways())):
            done = self.say([b"submit", *words, b"--dry-run", b"--json"], cwd)
            if i == number % 7:
                self.say([b"submit", *words, b"--dry-run"], cwd)
            if done.returncode != 0 or b"usage: kdgat submit" in done.stdout:  # of --help nothing is left to do
                refused += 1
                continue
            accepted += 1
            for step in json.loads(done.stdout)["steps"]:
                self.check_script(step["script"].encode(errors="surrogateescape"))
            if i == number % 7:
                self.run_to_end(words, cwd)
        self.check_effect()
        return refused, accepted

    def run_to_end(self, words, cwd):
        submitted = self.say([b"submit", *words], cwd)
        run = submitted.stdout.rstrip(b"\n")
        if submitted.returncode != 0 or not run:
            self.problems.append("its dry run is accepted, and it is not: " + repr(submitted.stderr[-200:]))
            return
        self.say([b"jobs", run], cwd)
        page = self.say([b"report", run, b"-o", b"-"], cwd).stdout
        if b"<script" in page or b"<b>\"'>" in page:
            self.problems.append("markup of the name stands in the report")
        with open(run + b"/run.json", encoding="utf-8", errors="surrogateescape") as file:
            document = json.load(file)
        if document.get("exit_code") != 0:
            self.problems.append(f"the job ended with {document.get('exit_code')}")


def run(options):
    """A row for each name."""
    rows = []
    for number, name in enumerate(NAMES[:options.names]):
        attempt = Attempt(options, number, name)
        refused, accepted = attempt.go(number)
        rows.append(row("names", ascii(attempt.name[:40])[1:], not attempt.problems,
                        "; ".join(attempt.problems[:3]) or "no effect",
                        f"{accepted} ways work, {refused} refused"))
    return rows
