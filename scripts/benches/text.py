"""Texts to their graph: seconds, peak memory.

  scripts/bench text --texts PATH

The graph of a corpus, all words and then the 10,262 most frequent; threads change its time alone."""
from benches.common import Figure, Setup, median_of as of

SETUP = Setup(needs=("texts",), targets=("kdgat_all", "kdgat_bench"))


def add_arguments(parser):
    parser.add_argument("--texts", help="a file or folder that kdgat data import reads")


def measure(build, args):
    for name, words in (("all words", []), ("10,262 words", ["vocab_size=10262"])):
        runs = [build.json("kdgat_bench", "text", args.texts, build.scratch, f"build_threads={args.threads}", *words)
                for _ in range(args.repeat)]
        yield f"{name}: {runs[0]['nodes']:,} nodes, {runs[0]['nonzeros']:,} nonzeros"
        yield Figure("  texts to a store", of("seconds", runs), "s", less=True,
                     goal="goal 5 s for 20 Newsgroups on 2 threads")
        for part, label in (("read", "read and cleaned"), ("graph", "counted"), ("write", "made and written")):
            yield Figure(f"    {label}", of(f"{part}_seconds", runs), "s", less=True)
        yield Figure("  CPU", of("cpu_seconds", runs), "s", less=True)
        yield Figure("  peak over the start", of("peak_over_start_mib", runs), "MiB", less=True,
                     goal="goal 700 MB")
