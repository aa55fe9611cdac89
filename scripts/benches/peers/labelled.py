"""The network of the preset `graphs`, trained with PyTorch: by PyTorch Geometric, or by hand.

  python labelled.py FOLDER [--form pyg|flat|compiled] [--batch-size 64] [--epochs 5] [--hidden 32] [--layers 4]
                     [--conv gin|none] [--pooling sum|max] [--monotone] [--device cpu]

FOLDER is in the TUDataset layout, gzip or plain, or is a store of `kdgat data import`, of which the
labelled graphs of the training part are read (with the package safetensors). `pyg` is what its
users write: Data, DataLoader, GINConv. `flat` is what an expert does without writing a kernel: all
graphs in one array, batches by index arithmetic, sums by index_add; `compiled` is that with
torch.compile. `--monotone` sets negative weights to 0 after each step. Prints one JSON object:
seconds of each epoch, the first one (of warming up) left out, peak memory and the last loss."""
import argparse
import gzip
import json
import pathlib
import resource
import time

import numpy as np
import torch
from torch import nn


def numbers(folder, what):
    path = folder / f"{folder.name}_{what}.txt"
    text = path.read_text() if path.exists() else gzip.open(f"{path}.gz", "rt").read()
    return np.array([[int(n) for n in line.split(",")] for line in text.split("\n") if line.strip()])


def read(folder):
    """Features of nodes, edges sorted by target, where the nodes and edges of each graph begin, labels."""
    graph = numbers(folder, "graph_indicator")[:, 0] - 1
    kinds = np.unique(numbers(folder, "node_labels")[:, 0], return_inverse=True)[1]
    source, target = numbers(folder, "A").T - 1
    order = np.lexsort((source, target))
    source, target = source[order], target[order]
    labels = np.unique(numbers(folder, "graph_labels")[:, 0], return_inverse=True)[1]
    nodes = np.concatenate([[0], np.cumsum(np.bincount(graph, minlength=len(labels)))])
    edges = np.concatenate([[0], np.cumsum(np.bincount(graph[target], minlength=len(labels)))])
    return (nn.functional.one_hot(torch.from_numpy(kinds)).float(), torch.from_numpy(np.stack([source, target])),
            torch.from_numpy(nodes), torch.from_numpy(edges), torch.from_numpy(labels))


def read_store(folder):
    """The same of a store: its features are numbers already."""
    from safetensors.torch import load_file
    store, split = load_file(folder / "graphs.safetensors"), load_file(folder / "split.safetensors")
    labels = store["y"].long()
    chosen = split["train"].long()
    chosen = chosen[labels[chosen] >= 0]
    nodes, edges = store["node_ptr"], store["edge_ptr"]
    node, of_node = rows_of(chosen, nodes)
    edge, of_edge = rows_of(chosen, edges)
    sizes = [at[chosen + 1] - at[chosen] for at in (nodes, edges)]
    starts = [torch.nn.functional.pad(torch.cumsum(size, 0), (1, 0)) for size in sizes]
    index = store["edge_index"][:, edge].long() + starts[0][of_edge]
    return store["x"][node], index, *starts, labels[chosen]


def perceptron(inputs, width):
    return nn.Sequential(nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width))


class Network(nn.Module):
    """`conv(perceptron)` is a module of (x, edges); `pool(x, graph of each node, graphs)` pools."""

    def __init__(self, inputs, classes, args, conv, pool):
        super().__init__()
        widths = [inputs] + [args.hidden] * args.layers
        self.convs = nn.ModuleList(conv(perceptron(a, b)) for a, b in zip(widths, widths[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[1:])
        joined = args.hidden * args.layers
        self.head = nn.Sequential(nn.Linear(joined, joined), nn.ReLU(), nn.Dropout(args.dropout), nn.Linear(joined, classes))
        self.dropout, self.pool = nn.Dropout(args.dropout), pool

    def forward(self, x, edges, graph, graphs):
        states = []
        for conv, norm in zip(self.convs, self.norms):
            x = self.dropout(norm(conv(x, edges)).relu())
            states.append(self.pool(x, graph, graphs))
        return self.head(torch.cat(states, 1))


class FlatGin(nn.Module):
    def __init__(self, perceptron):
        super().__init__()
        self.perceptron, self.eps = perceptron, nn.Parameter(torch.zeros(1))

    def forward(self, x, edges):
        sums = torch.zeros_like(x).index_add(0, edges[1], x.index_select(0, edges[0]))
        return self.perceptron((1 + self.eps) * x + sums)


class NoNeighbours(nn.Module):
    def __init__(self, perceptron):
        super().__init__()
        self.perceptron = perceptron

    def forward(self, x, _):
        return self.perceptron(x)


def flat_sum(x, graph, graphs):
    return x.new_zeros(graphs, x.size(1)).index_add(0, graph, x)


def flat_max(x, graph, graphs):
    rows = graph[:, None].expand_as(x)
    return x.new_zeros(graphs, x.size(1)).scatter_reduce(0, rows, x, "amax", include_self=False)


def keep_monotone(network):
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if name.endswith("weight"):
                weight.clamp_(min=0)


def rows_of(chosen, start):
    """Rows of the chosen graphs one after another, and whose each is."""
    sizes = start[chosen + 1] - start[chosen]
    whose = torch.repeat_interleave(torch.arange(len(chosen)), sizes)
    first = torch.cumsum(sizes, 0) - sizes
    return torch.arange(len(whose)) - first[whose] + start[chosen][whose], whose


def flat_batches(data, size):
    x, edges, nodes_at, edges_at, labels = data
    for chosen in torch.randperm(len(labels)).split(size):
        node, graph = rows_of(chosen, nodes_at)
        edge, of = rows_of(chosen, edges_at)
        counts = nodes_at[chosen + 1] - nodes_at[chosen]
        shift = torch.cumsum(counts, 0) - counts - nodes_at[chosen]
        yield x[node], edges[:, edge] + shift[of], graph, len(chosen), labels[chosen]


def geometric_batches(data, size):
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader
    x, edges, nodes_at, edges_at, labels = data
    graphs = [Data(x=x[a:b], edge_index=edges[:, c:d] - a, y=labels[i:i + 1]) for i, (a, b, c, d) in
              enumerate(zip(nodes_at, nodes_at[1:], edges_at, edges_at[1:]))]
    loader = DataLoader(graphs, batch_size=size, shuffle=True)
    return lambda: ((batch.x, batch.edge_index, batch.batch, batch.num_graphs, batch.y) for batch in loader)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--form", default="pyg", choices=["pyg", "flat", "compiled"])
    for name, value in (("batch-size", 64), ("epochs", 5), ("hidden", 32), ("layers", 4), ("dropout", 0.3),
                        ("device", "cpu"), ("lr", 0.005)):
        parser.add_argument("--" + name, type=type(value), default=value)
    parser.add_argument("--conv", default="gin", choices=["gin", "none"])
    parser.add_argument("--pooling", default="sum", choices=["sum", "max"])
    parser.add_argument("--monotone", action="store_true")
    args = parser.parse_args()
    is_store = (args.folder / "split.safetensors").exists()
    data = read_store(args.folder) if is_store else read(args.folder)
    classes = int(data[-1].max()) + 1
    if args.form == "pyg":
        from torch_geometric.nn import GINConv, global_add_pool, global_max_pool
        gin = lambda inner: GINConv(inner, train_eps=True)
        conv = gin if args.conv == "gin" else NoNeighbours
        pool = global_add_pool if args.pooling == "sum" else global_max_pool
        batches = geometric_batches(data, args.batch_size)
    else:
        conv = FlatGin if args.conv == "gin" else NoNeighbours
        pool = flat_sum if args.pooling == "sum" else flat_max
        batches = lambda: flat_batches(data, args.batch_size)
    network = Network(data[0].size(1), classes, args, conv, pool)
    step = torch.compile(network, dynamic=True) if args.form == "compiled" else network
    network.to(args.device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=args.lr, weight_decay=1e-4)
    seconds = []
    for _ in range(args.epochs + 1):
        start, total = time.perf_counter(), 0.0
        for *inputs, labels in batches():
            optimizer.zero_grad()
            inputs = [part.to(args.device) if torch.is_tensor(part) else part for part in inputs]
            loss = nn.functional.cross_entropy(step(*inputs), labels.to(args.device))
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            if args.monotone:
                keep_monotone(network)
            total += loss.item() * len(labels)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"epoch_s": seconds[1:], "loss": total / len(data[-1]), "graphs": len(data[-1]),
                      "parameters": sum(p.numel() for p in network.parameters()),
                      "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
