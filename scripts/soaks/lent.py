"""A folder from somebody else: its repository, its modules, its programs and its headers. No command
starts any of them.

The repository names a program wherever git's configuration can: filters, a monitor, hooks, textconv, an
external diff, in a file that it includes, and in a submodule. The modules are those that an export's check
imports, the programs those that kdgat starts, found first by a PATH with "." and "".

run(options) reads of `options`: kdgat (the program), scratch (an empty folder) and commands (how many of
each; None = all)."""
import os
import shutil
import subprocess

from soaks.material import command, material, row

MODULES = ("numpy", "onnxruntime", "json", "argparse", "sitecustomize", "usercustomize")
PROGRAMS = ("git", "python3", "cc", "gcc", "clang", "as", "ld", "size", "sbatch", "scancel", "sacct", "scontrol",
            "squeue", "curl", "kdgat_mqtt")
ENDS = {"doctor": (0, 1)}  # it may find something wrong with this machine
HOOKS = ("post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor-watchman")
CONFIGURATION = """[filter "x"]
\tclean = {0} clean
\tsmudge = {0} smudge
\tprocess = {0} process
\trequired = true
[diff]
\texternal = {0} external
[diff "x"]
\ttextconv = {0} textconv
\tcommand = {0} command
[core]
\tfsmonitor = {0} fsmonitor
\tsshCommand = {0} ssh
\tpager = {0} pager
\thooksPath = {1}
[alias]
\tstatus = !{0} alias
[gpg]
\tprogram = {0} gpg
[submodule]
\trecurse = true
[status]
\tsubmoduleSummary = true
"""


class Folder:
    """What is lent, and what of it was started: each leaves a file in `effects`."""

    def __init__(self, folder):
        self.path, self.effects = folder, folder.parent / "effects"
        self.effects.mkdir(parents=True)
        folder.mkdir(parents=True)

    def program(self, file, name):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/bash\n/usr/bin/touch '{self.effects}/{name}'\"${{1//\\//_}}\"\nexec /usr/bin/cat\n")
        file.chmod(0o755)

    def git(self, *words, folder="."):
        environment = {**os.environ, "HOME": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.path / folder, check=True,
                       env=environment, stdin=subprocess.DEVNULL, capture_output=True)

    def repository(self):
        (self.path / "sub").mkdir()
        (self.path / "p.yaml").write_text("stages: {one: {stage: example, steps: 1}}\n")
        for name in (".gitattributes", "sub/.gitattributes"):
            (self.path / name).write_text("* filter=x diff=x\n")
        for folder in ("sub", "."):
            self.git("init", "-q", "-b", "main", folder=folder)
            self.git("add", "-A", folder=folder)
            self.git("commit", "-qm", "one", folder=folder)
        for folder in ("sub", "."):
            inside = self.path / folder / ".git"
            self.program(inside / "run", "git-")
            for hook in HOOKS:
                self.program(inside / "lent-hooks" / hook, hook)
            (inside / "more").write_text(CONFIGURATION.format(inside / "run", inside / "lent-hooks"))
            self.git("config", "include.path", "more", folder=folder)
        self.forget()
        for file in (self.path / "p.yaml", self.path / ".gitattributes"):
            os.utime(file, (1, 1))  # not the stamp of the index: git would ask the filter

    def forget(self):
        for file in self.effects.iterdir():
            file.unlink()

    def started(self):
        return sorted(file.name for file in self.effects.iterdir())


def _row(case, folder, done, expected=(0,)):
    started = folder.started()
    folder.forget()
    good = done.code in expected and not started
    outcome = "nothing was started" if good else f"exit {done.code}, started {started}: {done.said()}"
    return row("lent", case, good, outcome, f"exit {done.code}")


def _repositories(options):
    if shutil.which("git") is None:
        yield row("lent", "a repository", True, "skipped: git is not installed")
        return
    folder = Folder(options.scratch / "repository" / "tree")
    folder.repository()
    cluster = Folder(options.scratch / "cluster" / "bin")
    (cluster.path / "sbatch").write_text("#!/bin/bash\necho 7\n")
    (cluster.path / "sbatch").chmod(0o755)
    path = f"{cluster.path}:{os.environ['PATH']}"
    for words in (("run", "p.yaml"), ("submit", "p.yaml", "steps=5"), ("tune", "example", "steps=[3,4]"),
                  ("run", "example", "steps=2"), ("config", "show", "p.yaml"), ("doctor",))[:options.commands]:
        done = command(options, words, folder.path, PATH=path)
        yield _row(f"a repository: {' '.join(words[:2])}", folder, done, ENDS.get(words[0], (0,)))
    # The trap itself must work.
    subprocess.run(["git", "status"], cwd=folder.path, capture_output=True, check=False)
    yield row("lent", "a repository: git itself", folder.started(), f"started {len(folder.started())}")


def _programs(options, made):
    folder = Folder(options.scratch / "programs" / "here")
    for module in MODULES:
        (folder.path / f"{module}.py").write_text(f"open({str(folder.effects / module)!r}, 'w')\n")
    export = ("export", str(made.detector), "--vehicle", "attack-free-vehicle1", "-o", "out", "--format")
    for kind in ("onnx", "c")[:options.commands]:
        yield _row(f"modules: export {kind}", folder, command(options, (*export, kind), folder.path, PYTHONPATH="."))
        shutil.rmtree(folder.path / "out", ignore_errors=True)
    for name in PROGRAMS:
        folder.program(folder.path / name, name)
    (folder.path / "math.h").write_text("#error of the current folder\n")
    lent = {"PATH": f":.:{os.environ['PATH']}", "CPATH": ":", "PYTHONPATH": "."}
    for words in ((*export, "c"), (*export, "onnx"), ("run", "example", "steps=1"), ("doctor",))[:options.commands]:
        done = command(options, words, folder.path, **lent)
        yield _row(f'a PATH with ".": {words[0]} {words[-1]}', folder, done, ENDS.get(words[0], (0,)))
        shutil.rmtree(folder.path / "out", ignore_errors=True)
    # Without SLURM there is none, and the one of the current folder is none either.
    done = command(options, ("submit", "example", "steps=6"), folder.path, **{**lent, "PATH": ":.:/nowhere"})
    yield _row('a PATH with ".": submit', folder, done, (2,))


def run(options):
    """A row for each command."""
    return [*_repositories(options), *_programs(options, material(options))]
