#!/usr/bin/env python3
"""Golden values of graph convolutions, by PyTorch Geometric in double precision.

  python3 tests/data/golden/make_convs.py  # writes convs.safetensors next to it

One graph of 14 nodes without loops, of which one has no neighbour. Of each layer: its parameters by
kdgat's names, its output, and the gradients of the sum of the output's squares."""
import math
import pathlib

import torch
from safetensors.torch import save_file
from torch_geometric import nn as pyg

NODES, INPUTS, FEATURES, HEADS = 14, 5, 3, 2
torch.set_default_dtype(torch.float64)
torch.manual_seed(7)


def graph():
    pairs = [(s, t) for s in range(NODES - 1) for t in range(NODES - 1) if s != t]
    chosen = torch.randperm(len(pairs))[:40].sort().values
    return torch.tensor(sorted((pairs[i] for i in chosen), key=lambda pair: pair[::-1])).t()


def same(layer):
    return {name: name for name, _ in layer.named_parameters()}


def perceptron(inputs, width):
    return torch.nn.Sequential(torch.nn.Linear(inputs, width), torch.nn.ReLU(),
                               torch.nn.Linear(width, width))


def of_perceptron(before):
    return {f"nn.{number}.{kind}": f"{before}lin_{name}.{kind}"
            for number, name in ((0, 1), (2, 2)) for kind in ("weight", "bias")}


def pna(width, degrees):
    layer = pyg.PNAConv(INPUTS, width, ["mean", "min", "max", "std"],
                        ["identity", "amplification", "attenuation"], degrees, edge_dim=FEATURES)
    with torch.no_grad():  # rows of edges enter as they are, so that there is one product of them
        layer.pre_nns[0][0].weight[:, 2 * INPUTS:] = torch.eye(INPUTS)
        layer.edge_encoder.bias.zero_()
    return layer


def pna_tensors(layer, of):
    first = of(layer.pre_nns[0][0].weight)
    return {"lin_r.weight": first[:, :INPUTS], "lin_l.weight": first[:, INPUTS:2 * INPUTS],
            "lin_r.bias": of(layer.pre_nns[0][0].bias),
            "lin_edge.weight": of(layer.edge_encoder.weight),
            "post.weight": of(layer.post_nns[0][0].weight),
            "post.bias": of(layer.post_nns[0][0].bias),
            "lin.weight": of(layer.lin.weight), "lin.bias": of(layer.lin.bias)}


def main():
    edges = graph()
    attr = torch.randn(edges.size(1), FEATURES)
    degree = torch.bincount(edges[1], minlength=NODES)
    tensors = {"edge_index": edges, "edge_attr": attr,
               "mean_log_degree": (degree + 1).log().mean().reshape(1)}
    cases = {
        "gcn_wider": (pyg.GCNConv(INPUTS, 6), False, same),
        "gcn_narrower": (pyg.GCNConv(INPUTS, 3), False, same),
        "sage_wider": (pyg.SAGEConv(INPUTS, 6), False, same),
        "sage_narrower": (pyg.SAGEConv(INPUTS, 3), False, same),
        "gin": (pyg.GINConv(perceptron(INPUTS, 6), train_eps=True), False,
                lambda _: {"eps": "eps", **of_perceptron("")}),
        "gine": (pyg.GINEConv(perceptron(INPUTS, 6), train_eps=True, edge_dim=FEATURES), True,
                 lambda _: {"eps": "eps", "lin.weight": "lin_edge.weight",
                            "lin.bias": "lin_edge.bias", **of_perceptron("nn.")}),
        "gat": (pyg.GATConv(INPUTS, 3, heads=HEADS), False, same),
        "gatv2": (pyg.GATv2Conv(INPUTS, 3, heads=HEADS, edge_dim=FEATURES), True, same),
        "transformer": (pyg.TransformerConv(INPUTS, 3, heads=HEADS, edge_dim=FEATURES), True, same),
        "transformer_without": (pyg.TransformerConv(INPUTS, 3, heads=HEADS), False, same),
        "pna": (pna(4, torch.bincount(degree)), True, None),
    }
    for name, (layer, reads_edges, names) in cases.items():
        if hasattr(layer, "eps"):
            torch.nn.init.constant_(layer.eps, 0.3)
        x = torch.randn(NODES, INPUTS, requires_grad=True)
        edge_attr = attr.clone().requires_grad_()
        out = layer(x, edges, edge_attr) if reads_edges else layer(x, edges)
        out.square().sum().backward()
        tensors[f"{name}.x"], tensors[f"{name}.output"] = x, out
        tensors[f"{name}.grad.x"] = x.grad
        if names is None:
            weights, grads = pna_tensors(layer, lambda t: t), pna_tensors(layer, lambda t: t.grad)
        else:
            parameters = dict(layer.named_parameters())
            weights = {to: parameters[of] for of, to in names(layer).items()}
            grads = {to: parameters[of].grad for of, to in names(layer).items()}
        for parameter, value in weights.items():
            tensors[f"{name}.weight.{parameter}"] = value
            tensors[f"{name}.grad.{parameter}"] = grads[parameter]
        assert not any(math.isnan(value) for value in out.flatten().tolist())
    path = pathlib.Path(__file__).parent / "convs.safetensors"
    save_file({name: value.detach().contiguous().clone() for name, value in tensors.items()}, path)
    print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
