"""Start-up of the executable.

  scripts/bench start
"""
from benches.common import Figure, Setup, median

SETUP = Setup(threads=1, pair=())


def measure(build, args):
    for words, goal in ((["--help"], "goal 20 ms"), (["run", "--preset", "smoke", "--dry-run"], "goal 100 ms")):
        times = [1e3 * build.seconds("kdgat", *words, cwd=build.scratch) for _ in range(max(20, args.repeat))]
        yield Figure("kdgat " + " ".join(words), median(times), "ms", less=True, goal=goal)
