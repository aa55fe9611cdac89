"""What a card can do at most, and the detector's models on it as an expert writes them with PyTorch. One JSON object.

  python card.py limits
  python card.py STORE [--model gat|vgae] [--size student|teacher] [--form flat|compiled|graph|pyg] [--batch-size 512]
                       [--epochs 6] [--tf32]
  python card.py hold BYTES    holds so much of the card until its input ends

STORE is a folder that `kdgat data import` wrote; its part `train` is trained on. `flat`: all graphs
in one set of tensors that stays on the card, batches by index arithmetic there, nothing waits
within an epoch. `compiled` is that with torch.compile, `graph` with
torch.compile(mode="reduce-overhead"), which replays CUDA graphs. `pyg`: Data, DataLoader and
GATConv, each batch copied. Seconds of each epoch are taken with the device idle at both ends."""
import argparse
import json
import pathlib
import sys
import time

import numpy as np
import torch
from safetensors.numpy import load_file
from torch import nn
from torch.nn import functional as F

FEATURES = 10
VGAE = {"teacher": {"widths": (480, 240), "latent": 48, "heads": 4, "embedding": 32, "dropout": 0.15},
        "student": {"widths": (80, 40), "latent": 16, "heads": 1, "embedding": 4, "dropout": 0.1}}
GAT = {"teacher": {"hidden": 48, "layers": 3, "heads": 8, "embedding": 16, "fc": 2, "dropout": 0.2},
       "student": {"hidden": 24, "layers": 2, "heads": 4, "embedding": 8, "fc": 3, "dropout": 0.1}}


def median_seconds(body, repeat=20):
    for _ in range(3):
        body()
    marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeat)]
    for begin, end in marks:
        begin.record()
        body()
        end.record()
    torch.cuda.synchronize()
    return sorted(begin.elapsed_time(end) for begin, end in marks)[repeat // 2] / 1e3


def limits():
    out = {"card": torch.cuda.get_device_name(), "torch": torch.__version__}
    for name, count in (("copy_4gb_gb_s", 1 << 29), ("copy_48mb_gb_s", 6 << 20)):
        a, b = torch.randn(count, device="cuda"), torch.empty(count, device="cuda")
        out[name] = 8 * count / median_seconds(lambda: b.copy_(a)) / 1e9  # read and written
    for name, dtype, tf32 in (("fp32", torch.float32, False), ("tf32", torch.float32, True), ("bf16", torch.bfloat16, False)):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        x, w = torch.randn(16384, 384, device="cuda", dtype=dtype), torch.randn(384, 384, device="cuda", dtype=dtype)
        out[f"{name}_16384x384x384_tflop_s"] = 2 * 16384 * 384 * 384 / median_seconds(lambda: x @ w) / 1e12
    one = torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(20000):
        one.add_(1)
    out["operation_us"] = (time.perf_counter() - start) / 20000 * 1e6  # Python's share is in it
    host = torch.randn(200_000)
    pinned = host.pin_memory()
    out["pageable_800kb_us"] = 1e6 * median_seconds(lambda: host.to("cuda"))
    out["pinned_800kb_us"] = 1e6 * median_seconds(lambda: pinned.to("cuda", non_blocking=True))
    return out


class Store:
    """The part `train` of a store as arrays; edges by target, each node's own loop behind its others."""

    def __init__(self, folder):
        everything = load_file(str(pathlib.Path(folder) / "graphs.safetensors"))
        ids = load_file(str(pathlib.Path(folder) / "split.safetensors"))["train"]
        node_ptr, edge_ptr = everything["node_ptr"], everything["edge_ptr"]
        self.num_ids = len(everything["vocabulary"]) + 1
        self.n = (node_ptr[ids + 1] - node_ptr[ids]).astype(np.int64)
        self.real = (edge_ptr[ids + 1] - edge_ptr[ids]).astype(np.int64)

        def rows(first, count):
            return np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)

        nodes, edges = rows(node_ptr[ids], self.n), rows(edge_ptr[ids], self.real)
        self.x, self.y = everything["x"][nodes], everything["y"][ids].astype(np.int64)
        self.edges_real = everything["edge_index"][:, edges].astype(np.int64)
        node0 = np.cumsum(self.n) - self.n
        graph_of_node = np.repeat(np.arange(len(ids)), self.n)
        graph = np.concatenate([np.repeat(np.arange(len(ids)), self.real), graph_of_node])
        local = np.arange(len(nodes)) - np.repeat(node0, self.n)
        source, target = np.concatenate([self.edges_real[0], local]), np.concatenate([self.edges_real[1], local])
        order = np.argsort(node0[graph] + target, kind="stable")
        self.edges, self.e = np.stack([source[order], target[order]]), self.real + self.n


class Flat:
    """A store on the card; batch(ids) is x, sources, targets, graph of each node, labels, nodes of each graph."""

    def __init__(self, store):
        def card(array):
            return torch.from_numpy(np.ascontiguousarray(array)).cuda()

        self.x, self.y, self.edges, self.n, self.e = map(card, (store.x, store.y, store.edges, store.n, store.e))
        self.node0, self.edge0 = self.n.cumsum(0) - self.n, self.e.cumsum(0) - self.e

    @staticmethod
    def ranges(first, count):
        start = count.cumsum(0) - count
        return torch.arange(int(count.sum())) + torch.repeat_interleave(first - start, count), start

    def batch(self, ids):
        nodes, start = self.ranges(self.node0[ids], self.n[ids])
        edges, _ = self.ranges(self.edge0[ids], self.e[ids])
        shift = torch.repeat_interleave(start, self.e[ids])
        graph = torch.repeat_interleave(torch.arange(len(ids)), self.n[ids])
        return (self.x[nodes], self.edges[0, edges] + shift, self.edges[1, edges] + shift, graph, self.y[ids],
                self.n[ids].float())


class Conv(nn.Module):
    def __init__(self, inputs, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.weight = nn.Linear(inputs, heads * width, bias=False)
        self.bias = nn.Parameter(torch.zeros(heads * width))
        self.source, self.target = nn.Parameter(torch.randn(heads, width) * .1), nn.Parameter(torch.randn(heads, width) * .1)

    def forward(self, x, s, t):
        h = self.weight(x).view(-1, self.heads, self.width)
        a = F.leaky_relu((h * self.source).sum(-1)[s] + (h * self.target).sum(-1)[t], 0.2)
        p = (a - a.max()).exp()  # one maximum for all: the same softmax
        sums = torch.zeros(x.size(0), self.heads, device=x.device).index_add(0, t, p)
        return (torch.zeros_like(h).index_add(0, t, h[s] * p.unsqueeze(-1)) / sums.unsqueeze(-1)).flatten(1) + self.bias


class PygConv(nn.Module):
    def __init__(self, inputs, width, heads):
        from torch_geometric.nn import GATConv
        super().__init__()
        self.conv = GATConv(inputs, width, heads=heads, add_self_loops=False)

    def forward(self, x, s, t):
        return self.conv(x, torch.stack([s, t]))


class Block(nn.Module):
    def __init__(self, conv, inputs, width, heads, dropout):
        super().__init__()
        each = width // heads if width % heads == 0 else width
        self.conv, self.norm, self.dropout = conv(inputs, each, heads), nn.BatchNorm1d(each * heads), dropout

    def forward(self, x, s, t):
        return F.dropout(self.norm(self.conv(x, s, t)).relu(), self.dropout, self.training)


class Vgae(nn.Module):
    def __init__(self, conv, num_ids, widths, latent, heads, embedding, dropout):
        super().__init__()
        self.embedding = nn.Embedding(num_ids, embedding)
        sizes = (embedding + FEATURES, *widths)
        self.encoder = nn.ModuleList(Block(conv, a, b, heads if i == 0 else 1, dropout)
                                     for i, (a, b) in enumerate(zip(sizes, sizes[1:])))
        self.mean, self.logvar = nn.Linear(widths[-1], latent), nn.Linear(widths[-1], latent)
        self.decoder, self.output = Block(conv, latent, widths[-1], 4, dropout), conv(widths[-1], FEATURES, 1)
        self.ids = nn.Linear(latent, num_ids)
        hidden = [layer for _ in range(2) for layer in (nn.Linear(latent, latent), nn.ReLU(), nn.Dropout(dropout))]
        self.neighbours = nn.Sequential(*hidden, nn.Linear(latent, num_ids))

    def forward(self, x, s, t, graph, y, n):
        ids = x[:, 0].long()
        h = torch.cat([self.embedding(ids), x[:, 1:]], 1)
        for block in self.encoder:
            h = block(h, s, t)
        mean, logvar = self.mean(h), self.logvar(h)
        z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        kl = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).mean()
        features = self.output(self.decoder(z, s, t), s, t).sigmoid()
        logits = self.neighbours(z)
        bce = (F.softplus(logits).sum() - (logits[s, ids[t]] * (s != t).float()).sum()) / logits.numel()
        return F.mse_loss(features, x[:, 1:]) + 0.1 * F.cross_entropy(self.ids(z), ids) + 0.05 * bce + 0.01 * kl


class Gat(nn.Module):
    def __init__(self, conv, num_ids, hidden, layers, heads, embedding, fc, dropout):
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(num_ids, embedding), dropout
        self.convs = nn.ModuleList(conv(embedding + FEATURES if i == 0 else hidden * heads, hidden, heads)
                                   for i in range(layers))
        width = hidden * heads * layers
        inner = [layer for _ in range(fc - 1) for layer in (nn.Linear(width, width), nn.ReLU(), nn.Dropout(dropout))]
        self.head = nn.Sequential(*inner, nn.Linear(width, 2))

    def forward(self, x, s, t, graph, y, n):
        h, states = torch.cat([self.embedding(x[:, 0].long()), x[:, 1:]], 1), []
        for conv in self.convs:
            h = F.dropout(conv(h, s, t).relu(), self.dropout, self.training)
            states.append(h)
        h = torch.cat(states, 1)
        pooled = torch.zeros(n.size(0), h.size(1), device=h.device).index_add(0, graph, h) / n.unsqueeze(1)
        return F.cross_entropy(self.head(pooled), y)


def pyg_batches(store, batch_size):
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader
    nodes, edges = np.concatenate([[0], np.cumsum(store.n)]), np.concatenate([[0], np.cumsum(store.e)])
    graphs = [Data(x=torch.from_numpy(store.x[a:b]), edge_index=torch.from_numpy(store.edges[:, c:d]), y=int(store.y[i]))
              for i, (a, b, c, d) in enumerate(zip(nodes, nodes[1:], edges, edges[1:]))]
    loader = DataLoader(graphs, batch_size=batch_size, shuffle=True)

    def epoch():
        for batch in loader:
            batch = batch.to("cuda")
            count = torch.bincount(batch.batch, minlength=batch.num_graphs).float()
            yield batch.x, batch.edge_index[0], batch.edge_index[1], batch.batch, batch.y, count
    return epoch


def flat_batches(store, batch_size):
    flat = Flat(store)
    torch.set_default_device("cuda")
    return lambda: (flat.batch(ids) for ids in torch.randperm(len(store.n)).split(batch_size))


def train(args):
    torch.manual_seed(42)
    torch.backends.cuda.matmul.allow_tf32 = args.tf32
    store = Store(args.store)
    of_pyg = args.form == "pyg"
    batches = (pyg_batches if of_pyg else flat_batches)(store, args.batch_size)
    kind, sizes = {"vgae": (Vgae, VGAE), "gat": (Gat, GAT)}[args.model]
    model = kind(PygConv if of_pyg else Conv, store.num_ids, **sizes[args.size]).cuda()
    form = {"compiled": {"dynamic": True}, "graph": {"mode": "reduce-overhead"}}.get(args.form)
    step = torch.compile(model, **form) if form else model
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4, fused=True)
    seconds, steps, total = [], 0, torch.zeros((), device="cuda")
    for epoch in range(args.epochs):
        torch.cuda.synchronize()
        if epoch == args.epochs - 1:
            torch.cuda.reset_peak_memory_stats()
        start, steps = time.perf_counter(), 0
        total.zero_()
        for batch in batches():
            optimiser.zero_grad()
            loss = step(*batch)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            total += loss.detach()
            steps += 1
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return {"form": args.form, "steps": steps, "epoch_s": seconds[1:], "loss": float(total) / steps,
            "peak_bytes": torch.cuda.max_memory_allocated()}


def hold(size):
    held = torch.ones(size, dtype=torch.uint8, device="cuda")
    print(json.dumps({"held": held.numel()}), flush=True)
    sys.stdin.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", metavar="STORE|limits|hold")
    parser.add_argument("bytes", nargs="?", type=int, default=0)
    parser.add_argument("--model", default="gat", choices=["gat", "vgae"])
    parser.add_argument("--size", default="student", choices=["student", "teacher"])
    parser.add_argument("--form", default="flat", choices=["flat", "compiled", "graph", "pyg"])
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--tf32", action="store_true")
    args = parser.parse_args()
    if args.store == "hold":
        return hold(args.bytes)
    print(json.dumps(limits() if args.store == "limits" else train(args)), flush=True)


if __name__ == "__main__":
    main()
