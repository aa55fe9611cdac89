"""A trained classifier in plain PyTorch: a strict load_state_dict takes its file, and it scores as the program does."""
import unittest

import numpy as np
import support

import kdgat

try:
    import torch
except ImportError:
    torch = None


def build(config):
    """The classifier of a model file with conv=gat, norm=none, jk=cat."""
    nn = torch.nn

    class Conv(nn.Module):
        def __init__(self, inputs, hidden, heads):
            super().__init__()
            self.lin = nn.Linear(inputs, heads * hidden, bias=False)
            self.att_src = nn.Parameter(torch.empty(1, heads, hidden))
            self.att_dst = nn.Parameter(torch.empty(1, heads, hidden))
            self.bias = nn.Parameter(torch.empty(heads * hidden))

        def forward(self, x, edges):
            n = len(x)
            edges = edges[:, edges[0] != edges[1]]  # each node has one edge to itself, whether the graph has or not
            source, target = torch.cat([edges, torch.arange(n).expand(2, n)], dim=1)
            h = self.lin(x).view(n, *self.att_src.shape[1:])
            logit = (h * self.att_src).sum(-1)[source] + (h * self.att_dst).sum(-1)[target]
            weight = nn.functional.leaky_relu(logit, 0.2).exp()
            total = torch.zeros(n, weight.shape[1]).index_add_(0, target, weight)
            out = torch.zeros_like(h).index_add_(0, target, h[source] * (weight / total[target]).unsqueeze(-1))
            return out.flatten(1) + self.bias

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.input = nn.Module()
            self.input.embedding = nn.Embedding(config["num_ids"], config["embedding_dim"])
            width = config["embedding_dim"] + config["node_features"] - 1
            self.convs = nn.ModuleList()
            for _ in range(config["layers"]):
                self.convs.append(Conv(width, config["hidden"], config["heads"]))
                width = config["hidden"] * config["heads"]
            width *= config["layers"]
            head = []
            for _ in range(config["fc_layers"] - 1):
                head += [nn.Linear(width, width), nn.ReLU(), nn.Dropout(config["dropout"])]
            self.head = nn.Sequential(*head, nn.Linear(width, 2))

        def forward(self, x, edges):
            h = torch.cat([self.input.embedding(x[:, 0].long()), x[:, 1:]], dim=1)
            states = []
            for conv in self.convs:
                h = conv(h, edges).relu()
                states.append(h.mean(0))
            return self.head(torch.cat(states))

    return Classifier().eval()


@support.needs_program
@unittest.skipUnless(torch, "PyTorch is not installed")
class StateDict(unittest.TestCase):
    def test_a_strict_load_takes_a_model_file_and_scores_as_the_program(self):
        run = kdgat.open(support.small_run())
        tensors = run.model("classifier")
        model = build(tensors.json("config"))
        model.load_state_dict({name: torch.from_numpy(np.array(tensors[name])) for name in tensors}, strict=True)
        with open(run.steps["classifier"].folder / "model.safetensors", "rb") as file:
            header = file.read(int.from_bytes(file.read(8), "little"))
        self.assertNotIn(b'"_pad', header)
        store, told = run.store, run.predictions("evaluate").select(model="classifier")
        rows = range(0, told.rows, max(1, told.rows // 40))
        with torch.no_grad():
            for row in rows:
                graph = store[int(told["graph"][row])]
                score = model(torch.from_numpy(graph["x"].copy()), torch.from_numpy(graph["edge_index"].copy())).softmax(0)[1]
                self.assertAlmostEqual(float(score), float(told["score"][row]), delta=1e-5)


if __name__ == "__main__":
    unittest.main()
