"""A memory control group for a command of a soak, nested in the one that this program is in, version 1 or 2."""
import os
import pathlib
import subprocess
import tempfile
import time

TOP = pathlib.Path("/sys/fs/cgroup")


class NoGroup(Exception):
    """This machine lets nobody make such a group; says why."""


def _own_group():
    """(folder of this program's memory group, whether of version 2)."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if "memory" in names.split(","):
            return TOP / "memory" / path.lstrip("/"), False
        if names == "" and (TOP / "cgroup.controllers").exists():
            return TOP / path.lstrip("/"), True
    raise NoGroup("no memory controller is mounted")


class MemoryGroup:
    """Two groups: the outer one has the limit, the inner one the processes, so that who reads only its own group
    sees none. Removed at the end."""

    def __init__(self, limit):
        own, self.is_v2 = _own_group()
        self.outer = own / f"kdgat-soak-{os.getpid()}"
        self.inner = self.outer / "inner"
        try:
            self.inner.mkdir(parents=True)
            if self.is_v2:
                (self.outer / "cgroup.subtree_control").write_text("+memory")
            (self.outer / ("memory.max" if self.is_v2 else "memory.limit_in_bytes")).write_text(str(limit))
        except OSError as problem:
            self.remove()
            raise NoGroup(f"no memory control group can be made below {own}: {problem.strerror}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        for folder in (self.inner, self.outer):
            for _ in range(100):  # the kernel takes a moment to see that its processes are gone
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.05)

    def _numbers(self, name):
        lines = (line.split() for line in (self.outer / name).read_text().splitlines())
        return {words[0]: int(words[1]) for words in lines if len(words) == 2}

    def held(self):
        """Bytes that the kernel cannot take back: all but page cache."""
        stat = self._numbers("memory.stat")
        all_of = "" if self.is_v2 else "total_"
        usage = self.outer / ("memory.current" if self.is_v2 else "memory.usage_in_bytes")
        return int(usage.read_text()) - sum(stat[all_of + name] for name in ("inactive_file", "active_file"))

    def kills(self):
        """How often the kernel killed a process of the group."""
        name = "memory.events" if self.is_v2 else "memory.oom_control"
        text = (self.inner / name).read_text()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("oom_kill "))

    def run(self, words, **more):
        """The command inside: (exit code, what it said, the peak of held())."""
        def enter():
            (self.inner / "cgroup.procs").write_text("0")

        with tempfile.TemporaryFile("w+") as said:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                     preexec_fn=enter, **more)
            peak = 0
            while child.poll() is None:
                peak = max(peak, self.held())
                time.sleep(0.01)
            said.seek(0)
            return child.returncode, said.read(), peak
