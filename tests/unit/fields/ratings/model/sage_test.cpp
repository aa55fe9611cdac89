// GraphSAGE: kernels against plain tensor operations and PyTorch Geometric, the written-out
// gradients against automatic differentiation and finite differences, bytes against what is held.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <torch/optim/adam.h>

#include <set>

#include "engine/arrays/random.h"
#include "engine/memory/meter.h"
#include "fields/ratings/model/sage.h"
#include "fields/ratings/model/sage_ops.h"
#include "support/graphs/gradients.h"

namespace kdgat::ratings {
namespace {

using test::at_every_isa;
using test::check_close;
using test::fixture;
using test::tensor_of;

/// Compressed rows and features of a small graph of users and items; some nodes have no neighbour.
struct Bipartite {
  std::vector<int32_t> row_ptr, col;
  at::Tensor x_NF;
  int64_t users, items;

  Bipartite(int64_t users, int64_t items, int64_t pairs, int64_t features, at::ScalarType dtype,
            uint64_t seed = 3)
      : users(users), items(items) {
    arrays::Random random(seed);
    std::vector<std::set<int32_t>> rows(static_cast<std::size_t>(users + items));
    for (int64_t p = 0; p < pairs; ++p) {  // the last user and the last item are alone
      const auto u = static_cast<int32_t>(random.below(static_cast<uint64_t>(users - 1)));
      const auto i = static_cast<int32_t>(
          users + static_cast<int64_t>(random.below(static_cast<uint64_t>(items - 1))));
      rows[static_cast<std::size_t>(u)].insert(i);
      rows[static_cast<std::size_t>(i)].insert(u);
    }
    row_ptr = {0};
    for (const auto& row : rows) {
      col.insert(col.end(), row.begin(), row.end());
      row_ptr.push_back(static_cast<int32_t>(col.size()));
    }
    x_NF = at::empty({users + items, features}, dtype);
    for (int64_t i = 0; i < x_NF.numel(); ++i) {
      x_NF.view({-1})[i] = 2 * random.uniform() - 1;
    }
  }

  SageGraph graph() const {
    const std::span<const int32_t> rows(row_ptr);
    return {rows.first(rows.size() - 1), rows.subspan(1), col, x_NF};
  }
  kernels::isa::SageRows rows() const {
    return {row_ptr.data(), row_ptr.data() + 1, col.data(), nullptr, users + items};
  }
};

struct Batch {
  std::vector<int32_t> user, item, negative;
  std::vector<float> rating;
  Batch(const Bipartite& g, int64_t size, bool with_negative, uint64_t seed = 5) {
    arrays::Random random(seed);
    for (int64_t p = 0; p < size; ++p) {
      user.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(g.users))));
      const auto any = [&] {
        return static_cast<int32_t>(g.users) +
               static_cast<int32_t>(random.below(static_cast<uint64_t>(g.items)));
      };
      item.push_back(any());
      if (with_negative) negative.push_back(any());
      rating.push_back(static_cast<float>(1 + random.below(5)));
    }
  }
  RatedPairs pairs() const { return {user, item, negative, rating}; }
};

SageConfig config_of(const Bipartite& g, int64_t hidden, int64_t layers) {
  SageConfig c;
  c.users = g.users;
  c.items = g.items;
  c.features = g.x_NF.size(1);
  c.hidden = hidden;
  c.layers = layers;
  c.dropout = 0;
  c.batch = 9;
  c.nodes_a_pair = 3;
  return c;
}

at::Tensor index_of(const std::vector<int32_t>& nodes) {
  return torch::tensor(std::vector<int64_t>(nodes.begin(), nodes.end()), at::kLong);
}

/// The loss as the definition has it, differentiable in `p`, the parameters by name.
at::Tensor reference_loss(const SageNet& net, const Bipartite& g, const Batch& batch,
                          const PairLoss& loss, const std::map<std::string, at::Tensor>& p) {
  const SageConfig& c = net.config();
  const int64_t N = c.nodes();
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < N; ++v) {
    for (int32_t e = g.row_ptr[static_cast<std::size_t>(v)];
         e < g.row_ptr[static_cast<std::size_t>(v) + 1]; ++e) {
      from.push_back(g.col[static_cast<std::size_t>(e)]);
      to.push_back(v);
    }
  }
  const at::Tensor source = torch::tensor(from, at::kLong), target = torch::tensor(to, at::kLong);
  const at::Tensor users = g.x_NF.narrow(0, 0, c.users), items = g.x_NF.narrow(0, c.users, c.items);
  at::Tensor h = at::cat({users.mm(p.at("user.weight").t()) + p.at("user.bias"),
                          items.mm(p.at("item.weight").t()) + p.at("item.bias")});
  if (c.embeddings) h = h + p.at("node.embedding");
  for (int64_t k = 0; k < c.layers; ++k) {
    const at::Tensor messages = h.index_select(0, source);
    const at::Tensor places = target.unsqueeze(1).expand_as(messages);
    const at::Tensor m = at::zeros_like(h).scatter_reduce(0, places, messages,
                                                          c.aggregator == "max" ? "amax" : "mean",
                                                          /*include_self=*/false);
    const std::string name = "layers." + std::to_string(k);
    const at::Tensor& weight = p.at(name + ".weight");
    h = h + m.mm(weight.narrow(1, 0, c.hidden).t()) + p.at(name + ".bias") +
        h.mm(weight.narrow(1, c.hidden, c.hidden).t());
    if (k + 1 < c.layers) h = h.relu();
  }
  const double scale = c.scaled_score ? 1 / std::sqrt(static_cast<double>(c.hidden)) : 1;
  const at::Tensor u = index_of(batch.user), i = index_of(batch.item);
  const auto score = [&](const at::Tensor& item) {
    return (h.index_select(0, u) * h.index_select(0, item)).sum(1) * scale;
  };
  const at::Tensor s = score(i);
  at::Tensor y = (s.unsqueeze(1).mm(p.at("head.0.weight").t()) + p.at("head.0.bias"))
                     .relu()
                     .mm(p.at("head.2.weight").t())
                     .squeeze(1) +
                 p.at("head.2.bias");
  at::Tensor better = s;
  if (c.bias_terms) {
    y = y + p.at("node.bias").index_select(0, u) + p.at("node.bias").index_select(0, i);
    better = better + p.at("node.bias").index_select(0, i);
  }
  if (loss.clamp) y = y.clamp(loss.low, loss.high);
  const at::Tensor r = torch::tensor(batch.rating).to(h.scalar_type());
  at::Tensor out = loss.mse_weight * (y - r).square().mean();
  if (loss.bpr_weight > 0) {
    const at::Tensor j = index_of(batch.negative);
    at::Tensor worse = score(j);
    if (c.bias_terms) worse = worse + p.at("node.bias").index_select(0, j);
    out = out - loss.bpr_weight * ((better - worse).sigmoid() + 1e-10).log().mean();
  }
  return out;
}

}  // namespace

TEST_CASE("sage kernels equal plain tensor operations at every instruction set", "[sage]") {
  const Bipartite g(37, 52, 400, 3, at::kFloat);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const int64_t columns : {1, 7, 16, 64, 83, 200}) {
      torch::manual_seed(1);
      const at::Tensor wide = torch::randn({89, 2 * columns}, dtype);
      const at::Tensor h = wide.narrow(1, columns, columns);  // rows apart
      std::vector<int32_t> some = {5, 88, 36, 40, 2, 3, 71};  // 36 and 88 have no neighbour
      kernels::isa::SageRows few = g.rows();
      few.node = some.data();
      few.rows = static_cast<int64_t>(some.size());
      for (const kernels::isa::SageRows& rows : {g.rows(), few}) {
        for (const SageAggregator kind : {SageAggregator::kMax, SageAggregator::kMean}) {
          const auto run = [&](bool is_plain) {
            const at::Tensor m = at::full({rows.rows, columns}, 9.0, dtype);
            const at::Tensor argmax = at::full({rows.rows, columns}, 99, at::kInt);
            const at::Tensor grad_h = at::ones({89, columns}, dtype);
            const at::Tensor grad_m = wide.narrow(0, 0, rows.rows).narrow(1, 0, columns);
            (is_plain ? plain::sage_aggregate : sage_aggregate)(kind, rows, h, m, argmax);
            (is_plain ? plain::sage_scatter : sage_scatter)(kind, rows, grad_m, argmax, grad_h);
            return std::vector{m, argmax, grad_h};
          };
          const std::vector<at::Tensor> wanted = run(true);
          at_every_isa([&] {
            const std::vector<at::Tensor> got = run(false);
            check_close(got[0], wanted[0], "m", 1e-5, 1e-5);
            if (kind == SageAggregator::kMax) CHECK(got[1].equal(wanted[1]));
            check_close(got[2], wanted[2], "grad_h", 1e-5, 1e-5);
          });
        }
      }
    }
  }
}

TEST_CASE("a mean layer equals PyTorch Geometric's SAGEConv", "[sage][golden]") {
  const auto file = fixture("sage_conv");
  if (!file) return;
  const at::Tensor x = tensor_of(*file, "x"), edges = tensor_of(*file, "edge_index");
  const int64_t N = x.size(0), C = x.size(1);
  std::vector<int32_t> row_ptr(static_cast<std::size_t>(N + 1), 0), col;
  for (int64_t v = 0; v < N; ++v) {
    for (int64_t e = 0; e < edges.size(1); ++e) {
      if (edges[1][e].item<int64_t>() == v) col.push_back(edges[0][e].item<int32_t>());
    }
    row_ptr[static_cast<std::size_t>(v + 1)] = static_cast<int32_t>(col.size());
  }
  const kernels::isa::SageRows rows{row_ptr.data(), row_ptr.data() + 1, col.data(), nullptr, N};
  const at::Tensor weight = at::cat(
      {tensor_of(*file, "weight.lin_l.weight"), tensor_of(*file, "weight.lin_r.weight")}, 1);
  at_every_isa([&] {
    const at::Tensor in = at::empty({N, 2 * C});
    in.narrow(1, C, C).copy_(x);
    sage_aggregate(SageAggregator::kMean, rows, x, in.narrow(1, 0, C), {});
    const at::Tensor out = at::addmm(tensor_of(*file, "weight.lin_l.bias"), in, weight.t());
    check_close(out, tensor_of(*file, "output"), "output");
    const at::Tensor grad = 2 * out, grad_weight = grad.t().mm(in), grad_in = grad.mm(weight);
    check_close(grad.sum(0), tensor_of(*file, "grad.lin_l.bias"), "bias", 1e-5);
    check_close(grad_weight.narrow(1, 0, C), tensor_of(*file, "grad.lin_l.weight"), "lin_l", 1e-4);
    check_close(grad_weight.narrow(1, C, C), tensor_of(*file, "grad.lin_r.weight"), "lin_r", 1e-4);
    const at::Tensor grad_x = grad_in.narrow(1, C, C).contiguous();
    sage_scatter(SageAggregator::kMean, rows, grad_in.narrow(1, 0, C), {}, grad_x);
    check_close(grad_x, tensor_of(*file, "grad.x"), "x", 1e-4, 1e-4);
  });
}

TEST_CASE("the net's gradients are those of automatic differentiation", "[sage]") {
  const Bipartite g(11, 17, 60, 5, at::kDouble);
  const Batch batch(g, 9, true);
  struct Case {
    std::string aggregator;
    int64_t layers;
    bool scaled, biased, embedded;
    PairLoss loss;
  };
  for (const Case& c :
       {Case{"max", 1, true, false, false, {}}, Case{"max", 2, true, true, false, {1, 0.3}},
        Case{"mean", 3, false, true, true, {0.7, 2.0}}, Case{"max", 4, false, false, true, {0, 1}},
        Case{"mean", 2, true, false, false, {1, 0, true, 2.5, 4.5}}}) {
    INFO(c.aggregator << " " << c.layers);
    SageConfig config = config_of(g, 6, c.layers);
    config.aggregator = c.aggregator;
    config.scaled_score = c.scaled;
    config.bias_terms = c.biased;
    config.embeddings = c.embedded;
    SageNet net(config, g.graph(), 7, 3.4, at::kDouble);
    if (c.biased)
      net.parameter("node.bias").normal_(0, 0.1, at::make_generator<at::CPUGeneratorImpl>(1));
    std::map<std::string, at::Tensor> leaves;
    for (const SageParameter& p : net.parameters()) {
      leaves[p.name] = p.value.detach().clone().set_requires_grad(true);
    }
    const at::Tensor wanted = reference_loss(net, g, batch, c.loss, leaves);
    wanted.backward();
    at_every_isa([&] {
      CHECK(net.gradient(batch.pairs(), c.loss, {1, 0}) == Approx(wanted.item<double>()));
      for (const SageParameter& p : net.parameters()) {
        const at::Tensor& grad = leaves.at(p.name).grad();
        check_close(p.grad, grad.defined() ? grad : at::zeros_like(p.value), p.name, 1e-10, 1e-8);
      }
    });
  }
}

TEST_CASE("with dropout the gradient is that of finite differences", "[sage]") {
  const Bipartite g(7, 9, 30, 4, at::kDouble);
  const Batch batch(g, 6, true);
  SageConfig config = config_of(g, 5, 3);
  config.dropout = 0.4;
  SageNet net(config, g.graph(), 7, 3.4, at::kDouble);
  const PairLoss loss{1, 0.5};
  const graph::NoiseKey key{3, 11};
  net.gradient(batch.pairs(), loss, key);
  const at::Tensor grads = net.grads().clone();
  double* weight = net.weights().data_ptr<double>();
  int64_t moved = 0;
  for (int64_t i = 0; i < net.weights().numel(); ++i) {
    constexpr double kStep = 1e-6;
    const double kept = weight[i];
    weight[i] = kept + kStep;
    const double high = net.gradient(batch.pairs(), loss, key);
    weight[i] = kept - kStep;
    const double low = net.gradient(batch.pairs(), loss, key);
    weight[i] = kept;
    const double wanted = (high - low) / (2 * kStep);
    moved += std::fabs(wanted) > 1e-6 ? 1 : 0;
    REQUIRE(grads[i].item<double>() == Approx(wanted).margin(1e-6).epsilon(1e-5));
  }
  CHECK(moved > net.weights().numel() / 3);
  const double other = net.gradient(batch.pairs(), loss, {3, 12});
  CHECK(other != net.gradient(batch.pairs(), loss, key));
}

TEST_CASE("rows of a batch are those of the whole graph", "[sage]") {
  // Without dropout, training on one batch and looking at all nodes are the same forward pass.
  const Bipartite g(40, 60, 500, 6, at::kFloat);
  const Batch batch(g, 9, false);
  SageNet net(config_of(g, 32, 3), g.graph(), 1, 3.5);
  const double loss = net.gradient(batch.pairs(), {}, {});
  const SageHead head(net, net.embed());
  double sum = 0;
  for (std::size_t p = 0; p < batch.user.size(); ++p) {
    const double error =
        head.predict(batch.user[p], batch.item[p]).rating - static_cast<double>(batch.rating[p]);
    sum += error * error / 9;
  }
  CHECK(loss == Approx(sum).epsilon(1e-5));
}

TEST_CASE("the optimiser is PyTorch's Adam with weight decay", "[sage]") {
  const Bipartite g(9, 12, 40, 3, at::kDouble);
  const Batch batch(g, 9, false);
  at_every_isa([&] {
    SageNet net(config_of(g, 4, 2), g.graph(), 1, 3.5, at::kDouble);
    at::Tensor weights = net.weights().clone().set_requires_grad(true);
    torch::optim::Adam adam({weights}, torch::optim::AdamOptions(0.01).weight_decay(0.1));
    for (int64_t step = 1; step <= 4; ++step) {
      net.gradient(batch.pairs(), {}, {1, step});
      weights.mutable_grad() = net.grads().clone();
      adam.step();
      net.adam({0.01, 0.1, step});
      check_close(net.weights(), weights.detach(), "weights", 1e-12, 1e-10);
    }
  });
}

TEST_CASE("what a net holds is what was counted", "[sage][memory]") {
  const Bipartite g(60, 90, 900, 24, at::kFloat);
  for (const char* aggregator : {"max", "mean"}) {
    for (const int64_t hidden : {16, 32, 33}) {
      for (const int64_t layers : {1, 2, 5}) {
        for (const int64_t batch : {9, 512}) {
          SageConfig config = config_of(g, hidden, layers);
          config.aggregator = aggregator;
          config.batch = batch;
          config.bias_terms = layers == 2;
          config.embeddings = layers == 5;
          const Batch pairs(g, 9, true);
          memory::MemoryMeter& meter = memory::meter(at::kCPU);
          const memory::PeakScope peak(meter);
          SageNet net(config, g.graph(), 1, 3.5);
          for (int64_t step = 1; step <= 2; ++step) {
            net.gradient(pairs.pairs(), {1, 1}, {1, step});
            net.adam({1e-3, 0, step});
          }
          net.embed();
          int64_t counted = 0;
          for (const SageItem& item : sage_items(config)) counted += item.bytes;
          CHECK(net.bytes() == counted);
          const auto measured = static_cast<double>(peak.peak() - peak.start());
          CHECK(measured == Approx(static_cast<double>(counted)).epsilon(0.05));
          const memory::Footprint footprint = sage_footprint(config);
          CHECK(footprint.peak({1, 0, 0}) ==
                counted + static_cast<int64_t>(net.weights().nbytes()));
        }
      }
    }
  }
  SageConfig c;
  c.users = 943;
  c.items = 1682;
  c.features = 24;
  c.hidden = 512;
  c.layers = 5;
  CHECK(sage_parameters(c) == 2'649'649);
  c.hidden = 64;
  c.layers = 2;
  CHECK(sage_parameters(c) == 19'761);
}

TEST_CASE("a dead head stays dead with the clamp in training and recovers without", "[sage]") {
  const Bipartite g(40, 60, 600, 6, at::kFloat);
  const Batch batch(g, 9, false);
  const auto train = [&](bool clamp) {
    SageNet net(config_of(g, 16, 2), g.graph(), 1, clamp ? 0 : 3.4);
    for (const char* name : {"head.2.weight", "head.2.bias"}) {
      if (clamp || name[7] == 'w') net.parameter(name).zero_();
    }
    PairLoss loss;
    loss.clamp = clamp;
    double value = 0;
    for (int64_t step = 1; step <= 60; ++step) {
      value = net.gradient(batch.pairs(), loss, {1, step});
      if (clamp) REQUIRE(net.grads().abs().max().item<float>() == 0);
      net.adam({0.01, 0, step});
    }
    return value;
  };
  double ones = 0, mean = 0, spread = 0;
  for (const float r : batch.rating) {
    ones += (1.0 - r) * (1.0 - r) / 9;
    mean += static_cast<double>(r) / 9;
  }
  for (const float r : batch.rating) spread += (mean - r) * (mean - r) / 9;
  CHECK(train(true) == Approx(ones));  // everybody rates 1, for ever
  CHECK(train(false) < 0.5 * spread);
}

}  // namespace kdgat::ratings
