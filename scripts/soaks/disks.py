"""Full disks: an import, a run and a training on file systems of many sizes, from nothing to more than they need. A
run needs most where its data are made; the training has them elsewhere, so that its disk fills with what it writes.

Each ends with 0, or with the documented code and a message that names the file; after room was made, the same command
ends with 0 and nothing half-written is left. Needs the right to mount (root, or a user namespace).

run(options) reads of `options`: kdgat (the program), scratch (an empty folder) and disks (how many sizes of each)."""
import json
import os
import subprocess
import sys

PREPARE = (("data", "synth", "--kind", "can", "-o", "{scratch}/logs", "seconds=30"),
           ("data", "import", "{scratch}/logs", "-o", "{scratch}/store"))
RUN = ("max_epochs=2", "--root", "runs", "--threads", "1")
# What is done, and the largest disk it is given, by the bytes that it leaves: nothing fails on it.
WORKS = {"an import": (("data", "import", "{scratch}/logs", "-o", "out"), 1.3),
         "a run": (("run", "--preset", "smoke", *RUN, "data.synth.seconds=20"), 2.2),
         "a training": (("run", "--preset", "vgae,gat,student", *RUN, "--data", "{scratch}/store"), 1.5)}
REFUSED = (1, 3)  # the stage failed, or the data could not be written: docs/tour.md
WORDS = ("No space left on device", "disk is full")
SECONDS = 300


def _inside(kdgat, words, mount, size):
    """In a mount namespace of its own: [[code, said], [code, said after room was made], left-overs]."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", mount], check=True)
    answer = []
    for size_then in (size, "1G"):
        subprocess.run(["mount", "-o", f"remount,size={size_then}", mount], check=True)
        done = subprocess.run([kdgat, *words], cwd=mount, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                              env={**os.environ, "XDG_CACHE_HOME": f"{mount}/cache"})
        answer.append([done.returncode, (done.stdout + done.stderr).decode(errors="replace")[-2000:]])
    used = sum(os.lstat(os.path.join(folder, file)).st_size for folder, _, files in os.walk(mount) for file in files)
    left = [name for folder, folders, files in os.walk(mount) for name in folders + files
            if ".tmp." in name or name.startswith((".synth.", "logs."))]
    return {"codes": answer, "used": used, "left": left}


def _attempt(options, words, size):
    mount = options.scratch / "disk"
    mount.mkdir(exist_ok=True)
    call = [sys.executable, "-B", __file__, str(options.kdgat), str(mount), str(size), *words]
    namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    done = subprocess.run([*namespace, *call], capture_output=True, text=True, timeout=3 * SECONDS)
    if done.returncode != 0:
        raise PermissionError((done.stderr.strip().splitlines() or ["unshare failed"])[-1])
    return json.loads(done.stdout)


def _problem(answer):
    (code, said), (code_then, said_then) = answer["codes"]
    if code != 0 and (code not in REFUSED or not any(word in said for word in WORDS)):
        return f"exit code {code}: {said.strip().splitlines()[-1][:120] if said.strip() else 'nothing said'}"
    if code_then != 0:
        return f"with room: exit code {code_then}: {said_then.strip()[-120:]}"
    return f"left {answer['left'][:3]}" if answer["left"] else ""


def run(options):
    """A row for each of WORKS."""
    for words in PREPARE:
        words = [word.format(scratch=options.scratch) for word in words]
        subprocess.run([options.kdgat, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       cwd=options.scratch)
    rows = []
    for name, (work, factor) in WORKS.items():
        work = [word.format(scratch=options.scratch) for word in work]
        try:
            enough = int(factor * _attempt(options, work, "1G")["used"])
            problems, full = [], 0
            for i in range(options.disks):
                size = 4096 + enough * i // (options.disks - 1)
                answer = _attempt(options, work, size)
                full += answer["codes"][0][0] != 0
                if problem := _problem(answer):
                    problems.append(f"{size // 1024} KiB: {problem}")
        except PermissionError as problem:
            return [{"part": "disks", "case": "-", "outcome": f"skipped: {problem}", "figure": "", "good": True}]
        rows.append({"part": "disks", "case": name, "good": not problems and 0 < full < options.disks,
                     "outcome": "; ".join(problems[:3]) or "said so, left nothing, then went on",
                     "figure": f"{full} of {options.disks} too small"})
    return rows


if __name__ == "__main__":
    json.dump(_inside(sys.argv[1], sys.argv[4:], sys.argv[2], sys.argv[3]), sys.stdout)
