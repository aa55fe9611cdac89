"""Runs in memory control groups of 100 to 800 MB: each finishes, or ends with 5 and names the size that works.

The limit stands one level above the group of the processes. No run may be killed by the kernel, none may hold more than
97 % of its limit, and from the size that was named on every run finishes.

run(options) reads of `options`: kdgat (the program), scratch (an empty folder) and
sizes (MB, ascending; None = SIZES)."""
import re
import shutil

from soaks.cgroup import MemoryGroup, NoGroup
from soaks.material import row

SIZES = (100, 200, 300, 400, 500, 600, 700, 800)
# Batches that only memory binds.
WORDS = ("--preset", "smoke,teacher", "data.synth.seconds=40", "max_epochs=1", "batch_size=100000",
         "min_steps_per_epoch=1")
MEGABYTE = 10**6
MEBIBYTE = 2**20
MOST = 0.97
DOES_NOT_FIT = 5
NAMED = re.compile(r"the smallest memory that works is (\d+)MiB")


def _attempt(options, limit):
    """One run under `limit` bytes: (exit code, sizes named in bytes, peak over limit, kills, what it said)."""
    root = options.scratch / "limits"
    shutil.rmtree(root, ignore_errors=True)
    with MemoryGroup(limit) as group:
        code, said, peak = group.run([str(options.kdgat), "run", *WORDS, "--root", str(root)],
                                     cwd=options.scratch)
        kills = group.kills()
    shutil.rmtree(root, ignore_errors=True)
    return code, [int(size) * MEBIBYTE for size in NAMED.findall(said)], peak / limit, kills, said


def _row(name, limit, least, attempt):
    """What a run came to, and whether it is as promised; `least`: the size that is known to be enough, or None."""
    code, named, share, kills, said = attempt
    if code == 0:
        outcome = "finished"
    elif code == DOES_NOT_FIT and named:
        outcome = f"refused, names {max(named) // MEBIBYTE} MiB"
    else:
        outcome = f"exit code {code}: " + (said.strip().splitlines() or [""])[-1][:100]
    is_good = (kills == 0 and share <= MOST and (code == 0 or (code == DOES_NOT_FIT and bool(named)))
               and (code == 0 or least is None or limit < least))
    return row("limits", name, is_good, outcome, f"peak {share:.0%}, {kills} kills")


def run(options):
    """A row for each size, and one for each size that a run named."""
    rows, least = [], None
    try:
        for size in options.sizes or SIZES:
            limit = size * MEGABYTE
            attempt = _attempt(options, limit)
            rows.append(_row(f"{size} MB", limit, least, attempt))
            named = max(attempt[1], default=0)
            if attempt[0] == DOES_NOT_FIT and named and (least is None or named > least):
                again = _attempt(options, named)
                rows.append(_row(f"{named // MEBIBYTE} MiB, as named", named, named, again))
                least = named
    except NoGroup as problem:
        return [row("limits", "-", True, f"skipped: {problem}")]
    return rows
