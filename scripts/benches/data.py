"""Import of logs, opening the store, batches.

  scripts/bench data --logs DIR --peer "PYTHON kdgat_pyg.py"
"""
import shutil

from benches.common import PUBLISHED, Figure, Setup, median

SETUP = Setup(needs=("logs",), targets=("kdgat_all", "kdgat_bench"), threads=1, pair=())


def measure(build, args):
    logs = build.training_logs(args.logs)
    rows = sum(max(0, p.read_bytes().count(b"\n") - 1) for p in logs.rglob("*.csv"))
    store, graphs = build.scratch / "store", build.scratch / "graphs.pt"
    ours, peers = [], []
    for _ in range(args.repeat):
        shutil.rmtree(store, ignore_errors=True)
        ours.append(rows / build.seconds("kdgat", "data", "import", logs, "-o", store, *PUBLISHED))
        if args.peer and len(peers) < args.peer_repeat:
            peers.append(args.peer.answer("preprocess", logs, "-o", graphs)["rows_per_s"])
    yield Figure("import, plain CSV", median(ours), "rows/s", peer=median(peers), goal="goal 40x")

    opened = [build.json("kdgat_bench", "open", store / "graphs.safetensors") for _ in range(args.repeat)]
    loads = [args.peer.answer("load", graphs) for _ in range(args.repeat)] if args.peer else []
    yield Figure(f"open, {opened[0]['graphs']:,} graphs", median(o["ms"] for o in opened), "ms", less=True,
                 peer=median(1e3 * p["seconds"] for p in loads), goal="goal 50 ms")
    yield Figure("open, private memory", median(o["private_mib"] for o in opened), "MiB", less=True, goal="goal 20 MB",
                 grain=0.1)  # it is a few pages
    for words, name in ((["attr"], "batch of 512, edge features too"), ([], "batch of 512, as the models use")):
        ours, peers = [], []
        for _ in range(args.repeat):
            ours.append(median(build.json("kdgat_bench", "batch", store / "graphs.safetensors", 512, *words)["graphs_per_s"]))
            if args.peer:
                peers.append(args.peer.answer("batch", graphs, "-b", 512)["graphs_per_s"])
        yield Figure(name, median(ours), "graphs/s", peer=median(peers), goal="goal 20x")
