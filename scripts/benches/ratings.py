"""The 30 published recommenders: memory, steps, whether any collapses to a constant.

  scripts/bench ratings                       synthetic ratings of the size of MovieLens 100K
  scripts/bench ratings --data ml-100k/       your ratings
  scripts/bench ratings --data ml-100k/ --epochs 20 --hidden 64 --layers 2 -- bias_terms=true

Trains the architectures for a few epochs, on one thread: what was planned against what tensors held, and how long a
step takes. What follows -- are options of the stage. The formula is the published one (docs/guides.md)."""
import json

from benches.common import Figure, Setup

SETUP = Setup(targets=("kdgat", "kdgat_plugin_graphsage"), threads=1, head="", shared_options=False)
MIB = 1 << 20


def add_arguments(parser):
    parser.add_argument("--data", help="ratings; without it synthetic ones")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hidden", type=int, nargs="+", default=[16, 32, 64, 128, 256, 512])
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("options", nargs="*")


def formula(hidden, layers, nodes):
    return round(2 * (4 * nodes * hidden + 4 * layers * hidden**2 + 4 * hidden) / 2**30 + 0.5 + 0.3, 1)


def train(build, args, hidden, layers):
    words = ["run", "--preset", "graphsage", "--root", build.scratch, "--threads", args.threads, f"hidden_dim={hidden}",
             f"num_layers={layers}", f"graphsage.epochs={args.epochs}", f"patience={args.epochs}", f"seed={args.seed}",
             *args.options]
    build.kdgat(*words, *(["--data", args.data] if args.data else []))
    step = max(build.scratch.glob("**/graphsage/metrics.json"), key=lambda p: p.stat().st_mtime_ns).parent
    return json.loads((step / "metrics.json").read_text()), json.loads((step / "memory.json").read_text())


def measure(build, args):
    yield "model      planned  measured   error  formula  ms/step  val RMSE  test RMSE  test NDCG"
    worst, collapsed = 0.0, 0
    for hidden in args.hidden:
        for layers in args.layers:
            metrics, memory = train(build, args, hidden, layers)
            planned, measured = memory["planned"]["predicted"], memory["actual"]["peak_tensor_bytes"]
            error = planned / measured - 1
            worst = max(worst, abs(error))
            # A constant has no order: its NDCG is that of the test items as they stand.
            is_constant = metrics["test_rmse"] > 0.99 * metrics["test_mean_rmse"]
            collapsed += is_constant
            name = f"h{hidden}-l{layers}"
            yield Figure(f"{name}, peak of tensors", measured / MIB, "MiB", less=True, shown=False)
            yield Figure(f"{name}, a step", metrics["step_ms"], "ms", less=True, shown=False)
            yield (f"{name:8} {planned / MIB:5.1f} MiB {measured / MIB:5.1f} MiB {error:+7.2%}"
                   f" {formula(hidden, layers, metrics['nodes']):5.1f} GB {metrics['step_ms']:8.1f}"
                   f" {metrics['val_rmse']:9.4f} {metrics['test_rmse']:10.4f} {metrics['test_ndcg']:10.4f}"
                   f"{'  collapsed' if is_constant else ''}")
    yield Figure("planned against measured", 100 * worst, "%", less=True, shown=False, missed=worst > 0.05)
    yield Figure("collapsed", collapsed, "models", less=True, shown=False, missed=collapsed > 0)
    yield (f"planned against measured: at most {worst:.2%} apart; {collapsed} collapsed "
           f"(no better than the mean of train)")
