"""Networks of every graph convolution, trained with PyTorch Geometric.

  python networks.py STORE --conv gcn [--form pyg|compiled] [--batch-size 64] [--epochs 2]
                     [--hidden 64] [--layers 3]

STORE is one of `kdgat data import`, of which the labelled graphs of the training part are read
(with the package safetensors). `pyg` is what its users write: Data, DataLoader and a layer of
PyTorch Geometric; `compiled` is the same network by torch.compile. Prints one JSON object: seconds
of each epoch, the first one (of warming up) left out, peak memory and the last loss."""
import argparse
import json
import pathlib
import resource
import time

import torch
from labelled import perceptron, read_store, rows_of
from safetensors.torch import load_file
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

HEADS = 4


def conv_of(kind, inputs, width, features, degrees):
    """A layer, and whether it takes the features of edges."""
    if kind == "gin":
        return pyg.GINConv(perceptron(inputs, width), train_eps=True), False
    if kind == "gine":
        return pyg.GINEConv(perceptron(inputs, width), train_eps=True, edge_dim=features), True
    if kind == "gcn":
        return pyg.GCNConv(inputs, width), False
    if kind == "sage":
        return pyg.SAGEConv(inputs, width), False
    if kind == "gat":
        return pyg.GATConv(inputs, width // HEADS, heads=HEADS), False
    if kind == "gatv2":
        return pyg.GATv2Conv(inputs, width // HEADS, heads=HEADS, edge_dim=features), True
    if kind == "transformer":
        return pyg.TransformerConv(inputs, width // HEADS, heads=HEADS, edge_dim=features), True
    scalers = ["identity", "amplification", "attenuation"]
    return pyg.PNAConv(inputs, width, ["mean", "min", "max", "std"], scalers, degrees,
                       edge_dim=features), True


class Network(nn.Module):
    def __init__(self, inputs, features, classes, degrees, args):
        super().__init__()
        widths = [inputs] + [args.hidden] * args.layers
        made = [conv_of(args.conv, a, b, features, degrees) for a, b in zip(widths, widths[1:])]
        self.convs = nn.ModuleList(conv for conv, _ in made)
        self.reads_edges = made[0][1]
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[1:])
        joined = args.hidden * args.layers
        self.head = nn.Sequential(nn.Linear(joined, joined), nn.ReLU(), nn.Dropout(args.dropout),
                                  nn.Linear(joined, classes))
        self.dropout = nn.Dropout(args.dropout)

    def forward(self, x, edges, attr, graph, graphs: int):
        states = []
        for conv, norm in zip(self.convs, self.norms):
            h = conv(x, edges, attr) if self.reads_edges else conv(x, edges)
            x = self.dropout(norm(h).relu())
            states.append(pyg.global_mean_pool(x, graph, graphs))
        return self.head(torch.cat(states, 1))


def edge_features(folder):
    store, split = load_file(folder / "graphs.safetensors"), load_file(folder / "split.safetensors")
    chosen = split["train"].long()
    chosen = chosen[store["y"].long()[chosen] >= 0]
    return store["edge_attr"][rows_of(chosen, store["edge_ptr"])[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--form", default="pyg", choices=["pyg", "compiled"])
    parser.add_argument("--conv", required=True)
    for name, value in (("batch-size", 64), ("epochs", 2), ("hidden", 64), ("layers", 3),
                        ("dropout", 0.1), ("lr", 0.001)):
        parser.add_argument("--" + name, type=type(value), default=value)
    args = parser.parse_args()
    x, edges, nodes_at, edges_at, labels = read_store(args.folder)
    attr = edge_features(args.folder)
    graphs = [Data(x=x[a:b], edge_index=edges[:, c:d] - a, edge_attr=attr[c:d], y=labels[i:i + 1])
              for i, (a, b, c, d) in enumerate(zip(nodes_at, nodes_at[1:], edges_at, edges_at[1:]))]
    loader = DataLoader(graphs, batch_size=args.batch_size, shuffle=True)
    degrees = torch.bincount(torch.bincount(edges[1], minlength=len(x)))
    network = Network(x.size(1), attr.size(1), int(labels.max()) + 1, degrees, args)
    step = torch.compile(network, dynamic=True) if args.form == "compiled" else network
    optimizer = torch.optim.AdamW(network.parameters(), lr=args.lr, weight_decay=1e-4)
    seconds = []
    for _ in range(args.epochs + 1):
        start, total = time.perf_counter(), 0.0
        for batch in loader:
            loss = nn.functional.cross_entropy(
                step(batch.x, batch.edge_index, batch.edge_attr, batch.batch, batch.num_graphs),
                batch.y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(batch.y)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"epoch_s": seconds[1:], "loss": total / len(labels), "graphs": len(labels),
                      "parameters": sum(p.numel() for p in network.parameters()),
                      "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
