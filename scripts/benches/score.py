"""Difficulty of graphs by an autoencoder.

  scripts/bench score --logs DIR --peer "PYTHON kdgat_pyg.py"
"""
from benches.common import PUBLISHED, Figure, Setup, median_of as of

SETUP = Setup(needs=("logs",), targets=("kdgat_all", "kdgat_engine_bench"))


def measure(build, args):
    logs = build.training_logs(args.logs)
    store, graphs = build.scratch / "store", build.scratch / "graphs.pt"
    build.kdgat("data", "import", logs, "-o", store, *PUBLISHED)
    if args.peer:
        args.peer.answer("preprocess", logs, "-o", graphs)
    ours, peers = [], []
    for run in range(args.repeat):
        ours.append(build.json("kdgat_engine_bench", "score", store / "graphs.safetensors", "teacher", 2000, args.threads))
        if args.peer and run < args.peer_repeat:
            peers.append(args.peer.answer("score", graphs, "-s", "teacher", "--limit", 2000))

    best, single = of("batched_graphs_per_s", ours), of("one_at_a_time_graphs_per_s", peers)
    yield Figure("difficulty, all at once", best, "graphs/s", peer=single, goal="goal 10x one at a time")
    yield Figure("difficulty, both in batches", best, "graphs/s", peer=of("batched_graphs_per_s", peers), goal="goal 5x")
    yield Figure("difficulty, both one at a time", of("one_at_a_time_graphs_per_s", ours), "graphs/s", peer=single)
    yield Figure("difficulty, peak memory", of("peak_rss_mib", ours), "MiB", less=True, peer=of("peak_rss_mb", peers),
                 goal="goal 3x")
