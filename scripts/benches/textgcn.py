"""An epoch of a text graph's training, peak memory.

  scripts/bench textgcn --graph PATH --peer "PYTHON textgcn_torch.py"
  scripts/bench textgcn --texts PATH

Full-batch training of a two-layer model on one graph, of a store or of --texts with the 10,262 most frequent words."""
import json
import pathlib
import tempfile

from benches.common import Figure, Setup, median

SETUP = Setup(needs=("graph", "texts"), threads=1)
EPOCHS = 12


def add_arguments(parser):
    parser.add_argument("--graph", help="a text store, or its folder; or --texts")
    parser.add_argument("--texts", help="a file or folder that kdgat data import reads")


def measure(build, args):
    graph = pathlib.Path(args.graph) if args.graph else build.once("store", lambda path: build.kdgat(
        "data", "import", args.texts, "-o", path, "vocab_size=10262"))
    graph = graph / "graphs.safetensors" if graph.is_dir() else graph
    seconds, memory, peers = [], [], []
    for run in range(args.repeat):
        answer = json.loads(build.kdgat("run", "textgcn", "--data", graph, "--root", tempfile.mkdtemp(dir=build.scratch),
                                        f"max_epochs={EPOCHS}", "stop=never", "--threads", args.threads, "--force", "--json"))
        result = answer["steps"][-1]["result"]
        metrics = result["metrics"]
        seconds.append(metrics["epoch_seconds"])
        memory.append(metrics["memory"]["peak_over_start_bytes"] / 1e6)
        if run == 0:
            planned = metrics["memory"]["planned"]
            yield (f"{result['facts']['nodes']:,} nodes; planned {planned['total'] / 1e6:.0f} MB; a naive "
                   f"program's identity {planned['identity, naive'] / 1e6:,.0f} MB, "
                   f"messages {planned['messages, naive'] / 1e6:,.0f} MB")
        if args.peer and run < args.peer_repeat:
            peers.append(args.peer.answer(graph, "--epochs", 4))
    yield Figure("epoch, its validation included", 1e3 * median(seconds), "ms", less=True,
                 peer=1e3 * median(p["epoch_s"] for p in peers), goal="goal 5x")
    yield Figure("peak over the start", median(memory), "MB", less=True,
                 peer=median(p["peak_over_start_mb"] * 2**20 / 1e6 for p in peers), goal="goal 400 MB")
