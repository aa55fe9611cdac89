"""Third-order paths, and a step of pre-training on them.

  scripts/bench gtssl --peer "PYTHON gtssl_torch.py"

Superpixel graphs of 100 nodes and 800 edges, hidden 64, 3 blocks; then the peak against the number of paths."""
from benches.common import Figure, Setup, median, median_of as of

SETUP = Setup(targets=("kdgat_all", "kdgat_path_bench"))
BUDGET = 4096


def step(build, args, graphs, steps, *more):
    return build.json("kdgat_path_bench", "step", graphs, 100, 8, 64, 3, BUDGET, steps, args.threads, *more)


def measure(build, args):
    rate = median(build.json("kdgat_path_bench", "enumerate", 100, 8, 1)["paths_per_s"] for _ in range(args.repeat))
    yield Figure("paths enumerated, one thread", rate / 1e6, "million/s", goal="goal 200")
    ours, peers = [], []
    for run in range(args.repeat):
        ours.append(step(build, args, 4, 3))
        if args.peer and run < args.peer_repeat:
            peers.append(args.peer.answer("-b", 4, "--steps", 2))

    peer_rate = of("graphs_per_s", peers)
    yield Figure("a step of 4 graphs", of("graphs_per_s", ours), "graphs/s", peer=peer_rate, goal="goal 2x")
    yield Figure("its peak", of("peak_tensor_mb", ours), "MB", less=True, peer=of("peak_over_start_mb", peers),
                 goal="tensors; the peer resident")
    large = [step(build, args, 16, 2) for _ in range(min(3, args.repeat))]
    yield Figure("a step of 16 graphs", of("graphs_per_s", large), "graphs/s", peer=peer_rate, goal="the peer at 4")
    yield Figure("its peak, tensors", of("peak_tensor_mb", large), "MB", less=True, goal="goal 300")
    yield Figure("its peak, RssAnon", of("peak_anonymous_mb", large), "MB", less=True)
    yield Figure("a step of 4 graphs in bf16", step(build, args, 4, 3, "bf16")["graphs_per_s"], "graphs/s", peer=peer_rate)
    yield from peaks(build, args)


def peaks(build, args):
    yield ("\n| nodes | edges a node | paths | budget | peak of tensors, MB | peak of RssAnon, MB | s a step |\n"
           "|---|---|---|---|---|---|---|")
    for neighbours, steps in ((3, 3), (6, 2), (12, 2), (23, 1)):
        for budget in (1024, 4096, 16384):
            run = build.json("kdgat_path_bench", "step", 1, 1024, neighbours, 16, 1, budget, steps, args.threads)
            seconds = min(run["step_s"])
            name = f"{neighbours} edges a node, budget {budget}"
            yield Figure(name, run["peak_tensor_mb"], "MB", less=True, shown=False)
            yield Figure(name, seconds, "s", less=True, shown=False)
            yield (f"| 1,024 | {neighbours} | {run['paths']:,} | {budget:,} | {run['peak_tensor_mb']:.1f} | "
                   f"{run['peak_anonymous_mb']:.1f} | {seconds:.2f} |")
