"""Seconds an epoch and peak memory of the detector's trainings.

  scripts/bench train --logs DIR --peer "PYTHON kdgat_pyg.py" [--compiled "PYTHON kdgat_fast.py"]

--compiled is a second peer: the same models on flat tensors, by torch.compile. It reads the graphs that the first has made,
so it needs --peer. The faster of the two counts."""
import json
import tempfile

from benches.common import PUBLISHED, TRAININGS, Failed, Figure, Peer, Setup, median

SETUP = Setup(needs=("logs",), pair=("--size", "student"))


def add_arguments(parser):
    parser.add_argument("--compiled", default="", help="command of the second peer")
    parser.add_argument("--size", default="", choices=["", "student", "teacher"], help="only models of this size")


def measure(build, args):
    # With the test folders, so that all of the training folders is trained on, as by the peer.
    store = build.once("store", lambda path: build.kdgat("data", "import", args.logs, "-o", path, *PUBLISHED,
                                                         "val_fraction=0.0"))
    graphs = build.scratch / "graphs.pt"
    forms = {"PyTorch Geometric": args.peer, "compiled": Peer(args.compiled, args.threads)}
    if forms["compiled"] and not args.peer:
        raise Failed("--compiled reads what --peer makes of the logs: name both", code=2)
    if args.peer:
        args.peer.answer("preprocess", build.training_logs(args.logs), "-o", graphs)
    for stage, model, size, goal, memory_goal in TRAININGS:
        if args.size not in ("", size):
            continue
        seconds, memory, peers = [], [], {form: [] for form in forms}
        for run in range(args.repeat):
            answer = json.loads(build.kdgat(
                "run", stage, "--preset", size, "--data", store, "--root", tempfile.mkdtemp(dir=build.scratch),
                f"max_epochs={3 if size == 'student' else 2}", "batch_size=512", "optimize_batch_size=false",
                "monitor_metric=train_loss", "gradient_checkpointing=false", "--threads", args.threads, "--force", "--json",
                *(["train_on=all"] if stage == "autoencoder" else [])))
            step = answer["steps"][-1]
            metrics = step["result"]["metrics"]
            seconds.append(metrics["train_graphs"] / metrics["graphs_per_second"])
            memory.append(step["peak_resident_bytes"] / 2**20)
            for form, peer in forms.items():
                if peer and run < args.peer_repeat:
                    words = ["train"] if form != "compiled" else []
                    epochs = 2 if form != "compiled" else 3  # the first of them compiles
                    peers[form].append(peer.answer(*words, graphs, "-m", model, "-s", size, "-b", 512, "-e", epochs))
        name = f"{stage} {size}"
        times = {form: median(min(answer["epoch_s"]) for answer in answers) for form, answers in peers.items() if answers}
        for form, time in times.items():
            if len(times) > 1:
                yield f"{name}, epoch: {form} {time:.2f} s"
        yield Figure(f"{name}, epoch", median(seconds), "s", less=True, peer=min(times.values(), default=0),
                     goal=f"goal {goal}x")
        least = min((median(a["peak_rss_mb"] for a in answers) for answers in peers.values() if answers), default=0)
        yield Figure(f"{name}, peak memory", median(memory), "MiB", less=True, peer=least, goal=f"goal {memory_goal}x")
