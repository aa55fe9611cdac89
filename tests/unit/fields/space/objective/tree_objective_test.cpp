#include "fields/space/objective/tree_objective.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "support/graphs/gradients.h"
#include "support/graphs/spatial_graphs.h"
// The others need torch's macros gone.
#include "engine/train/precision.h"

namespace kdgat::space {
namespace {

using test::check_close;
using test::check_gradients;
using test::make_spatial_batch;
using test::random_points;
using test::random_trees;
using test::SpatialGraph;
using test::totals_of;

TreeModel small_model(torch::Dtype type = torch::kDouble, double scale = 1) {
  torch::manual_seed(1);
  SgmpConfig config;
  config.node_features = 2;
  config.hidden = 6;
  config.interactions = 2;
  config.cutoff = 4;
  config.scale = scale;
  space::GrowthConfig growth;
  growth.num_rbf_centers = 5;
  TreeModel model(config, growth);
  model->to(type);
  return model;
}

torch::Tensor random_states(int64_t nodes, int64_t channels = 4) {
  return torch::randn({nodes, channels}, torch::kDouble);
}

/// Parent and child, both ways.
NodePairs both_ways(const NodePairs& pairs) {
  NodePairs out = pairs;
  out.first.insert(out.first.end(), pairs.second.begin(), pairs.second.end());
  out.second.insert(out.second.end(), pairs.first.begin(), pairs.first.end());
  return out;
}

torch::Tensor gradient_of(const torch::nn::Module& module) {
  std::vector<torch::Tensor> out;
  for (const torch::Tensor& p : module.parameters()) {
    out.push_back(p.grad().defined() ? p.grad().flatten() : torch::zeros_like(p).flatten());
  }
  return torch::cat(out);
}

TEST_CASE("order_positive is zero exactly where children lie below their parents",
          "[tree][property]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(5, 1));
  const NodePairs pairs = parent_child_pairs(batch);
  torch::manual_seed(2);
  // Below everywhere: the deeper, the less.
  torch::Tensor h = torch::zeros({batch.nodes, 4}, torch::kDouble);
  for (int64_t v = 0; v < batch.nodes; ++v) {
    for (int64_t a = batch.parent[v]; a >= 0; a = batch.parent[a]) h[v] -= 0.5;
  }
  CHECK(order_positive(h, pairs).sum().item<double>() == 0);
  h[pairs.second[3]][2] += 0.75;  // now 0.25 above its parent, in one coordinate
  CHECK(order_positive(h, pairs)[3].item<double>() == Approx(0.25));

  h = random_states(batch.nodes);
  const torch::Tensor positive = order_positive(h, pairs);
  check_close(order_positive(3 * h, pairs), 3 * positive, "linear", 1e-12, 0);
  const torch::Tensor apart = (h.index_select(0, torch::tensor(pairs.first, torch::kLong)) -
                               h.index_select(0, torch::tensor(pairs.second, torch::kLong)))
                                  .abs()
                                  .sum(1);
  CHECK(order_positive(h, both_ways(pairs)).mean().item<double>() ==
        Approx(apart.mean().item<double>() / 2));
}

TEST_CASE("order_negative is zero exactly where states are far enough apart", "[tree][property]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(5, 1));
  const NodePairs pairs = unrelated_pairs(batch, 1, 1);
  torch::manual_seed(3);
  const torch::Tensor h = random_states(batch.nodes);
  for (const std::string form : {"l2", "l2sq", "order"}) {
    INFO(form);
    TreeLossOptions options;
    options.order_negative = form;
    options.delta_margin = 2;
    const torch::Tensor negative = order_negative(h, pairs, options);
    int64_t zeros = 0;
    for (std::size_t i = 0; i < pairs.first.size(); ++i) {
      double square = 0, above = 0;
      for (int64_t d = 0; d < h.size(1); ++d) {
        const double gap = (h[pairs.second[i]][d] - h[pairs.first[i]][d]).item<double>();
        square += gap * gap;
        above += gap > 0 ? gap * gap : 0;
      }
      const double apart = form == "l2" ? std::sqrt(square) : form == "l2sq" ? square : above;
      const double expected = std::max(0.0, 2 - apart);
      zeros += expected == 0;
      REQUIRE(negative[static_cast<int64_t>(i)].item<double>() ==
              Approx(expected).margin(1e-12).epsilon(1e-12));
    }
    CHECK(zeros > 0);
    CHECK(zeros < pairs.size());
    check_close(order_negative(h + 5, pairs, options), negative, "translation", 1e-10, 0);
  }
  check_close(order_positive(h + 5, pairs), order_positive(h, pairs), "translation", 1e-12, 0);
}

TEST_CASE("gradients of the partial order", "[tree][gradients]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(3, 1));
  const NodePairs related = parent_child_pairs(batch), unrelated = unrelated_pairs(batch, 1, 1);
  torch::manual_seed(4);
  check_gradients({random_states(batch.nodes)}, [&](const std::vector<torch::Tensor>& in) {
    return order_positive(in[0], related);
  });
  for (const std::string form : {"l2", "l2sq", "order"}) {
    TreeLossOptions options;
    options.order_negative = form;
    options.delta_margin = 2;
    check_gradients({random_states(batch.nodes)}, [&](const std::vector<torch::Tensor>& in) {
      return order_negative(in[0], unrelated, options);
    });
  }
}

TEST_CASE("equal states have a finite gradient", "[tree]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(3, 1));
  const torch::Tensor h = torch::ones({batch.nodes, 4}).set_requires_grad(true);
  const torch::Tensor negative = order_negative(h, unrelated_pairs(batch, 1, 1), {});
  check_close(negative, torch::ones_like(negative), "margin");
  negative.sum().backward();
  CHECK(h.grad().abs().max().item<double>() == 0);
}

/// The loss by loops, from the states that the encoder gives.
double reference_loss(TreeObjective& objective, const graph::GraphBatch& batch,
                      graph::NoiseKey noise) {
  const torch::NoGradGuard no_grad;
  TreeModel& model = objective.model();
  const SpatialTensors tensors = to_spatial_tensors(batch, model->encoder);
  const torch::Tensor h = model->encoder->forward({tensors.x_NF, tensors.pos_N3, out_edges(batch)});
  const UpwardEdges upward(batch);
  const torch::Tensor u = model->encoder->forward({tensors.x_NF, tensors.pos_N3, upward.edges()});
  const space::Growth growth = space::growth_of(
      tensors.pos_N3 / model->encoder->config().scale,
      {batch.parent.data(), static_cast<std::size_t>(batch.nodes)}, model->growth->config());
  const torch::Tensor generation = model->growth->loss(u, growth);
  const auto at = [&](int64_t v, int64_t d) { return h[v][d].item<double>(); };
  double positive = 0, negative = 0;
  int64_t edges = 0;
  for (int64_t c = 0; c < batch.nodes; ++c) {
    if (batch.parent[c] < 0) continue;
    ++edges;
    for (int64_t d = 0; d < h.size(1); ++d) {
      positive += std::max(0.0, at(c, d) - at(batch.parent[c], d));
    }
  }
  const NodePairs pairs = unrelated_pairs(batch, noise.seed, noise.step);
  for (std::size_t i = 0; i < pairs.first.size(); ++i) {
    double square = 0;
    for (int64_t d = 0; d < h.size(1); ++d) {
      square += std::pow(at(pairs.first[i], d) - at(pairs.second[i], d), 2);
    }
    negative += std::max(0.0, objective.options.delta_margin - std::sqrt(square));
  }
  const auto over = [](double sum, int64_t count) {
    return count > 0 ? sum / static_cast<double>(count) : 0;
  };
  return over(generation.sum().item<double>(), generation.size(0)) +
         objective.options.lambda_order * (over(positive, edges) + over(negative, pairs.size()));
}

TEST_CASE("the loss is what loops give, and its parts add up", "[tree]") {
  TreeObjective objective(small_model());
  objective.options.lambda_order = 0.7;
  objective.options.delta_margin = 3;
  const graph::GraphBatch batch = make_spatial_batch(random_trees(6, 1));
  const graph::NoiseKey noise{5, 2};
  const torch::Tensor loss = objective.loss(batch, totals_of(batch), noise);
  CHECK(loss.item<double>() == Approx(reference_loss(objective, batch, noise)).epsilon(1e-12));
  const auto parts = objective.parts();
  REQUIRE(parts.size() == 3);
  const auto part = [&](std::size_t i) { return parts[i].second.item<double>(); };
  CHECK(parts[0].first == "generation");
  CHECK(parts[1].first == "order_positive");
  CHECK(parts[2].first == "order_negative");
  for (std::size_t i = 0; i < 3; ++i) CHECK(part(i) > 0);
  CHECK(loss.item<double>() == Approx(part(0) + 0.7 * (part(1) + part(2))));

  objective.options.lambda_order = 0;
  CHECK(objective.loss(batch, totals_of(batch), noise).item<double>() == Approx(part(0)));
  CHECK(objective.parts().size() == 1);
}

TEST_CASE("parts of a step add up to the step", "[tree][property]") {
  TreeObjective objective(small_model());
  objective.options.delta_margin = 3;
  const std::vector<SpatialGraph> graphs = random_trees(9, 3);
  const graph::GraphBatch whole = make_spatial_batch(graphs);
  const graph::StepTotals totals = totals_of(whole);
  const torch::Tensor loss = objective.loss(whole, totals, {5, 2});
  loss.backward();
  const torch::Tensor expected = gradient_of(objective.module());
  objective.module().zero_grad();
  double sum = 0;
  for (const auto& [first, end] : {std::pair{0, 2}, std::pair{2, 3}, std::pair{3, 9}}) {
    const graph::GraphBatch part =
        make_spatial_batch(std::vector<SpatialGraph>(graphs.begin() + first, graphs.begin() + end));
    const torch::Tensor of_part = objective.loss(part, totals, {5, 2});
    of_part.backward();
    sum += of_part.item<double>();
  }
  CHECK(sum == Approx(loss.item<double>()).epsilon(1e-12));
  check_close(gradient_of(objective.module()), expected, "gradients", 1e-12, 1e-10);
}

TEST_CASE("graphs without edges or children cost nothing and have gradients", "[tree]") {
  TreeObjective objective(small_model());
  const graph::GraphBatch batch =
      make_spatial_batch({test::random_tree(1, 1), test::random_tree(1, 2)});
  const torch::Tensor loss = objective.loss(batch, totals_of(batch), {});
  CHECK(loss.item<double>() == 0);
  loss.backward();
  CHECK(gradient_of(objective.module()).abs().max().item<double>() == 0);
}

TEST_CASE("the score of a graph is its loss alone", "[tree][property]") {
  TreeObjective objective(small_model());
  const std::vector<SpatialGraph> graphs = random_trees(6, 5);
  const torch::Tensor scores = objective.score(make_spatial_batch(graphs));
  REQUIRE(scores.sizes() == torch::IntArrayRef({6}));
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const graph::GraphBatch alone = make_spatial_batch({graphs[g]});
    CHECK(scores[static_cast<int64_t>(g)].item<double>() ==
          Approx(objective.loss(alone, totals_of(alone), {}).item<double>()).epsilon(1e-6));
  }
  CHECK(objective.module().is_training());
}

/// What the predictor says of the internal nodes, lengths and turns side by side, by node.
std::map<int64_t, torch::Tensor> predicted(TreeModel& model, const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const SpatialTensors tensors = to_spatial_tensors(batch, model->encoder);
  const UpwardEdges upward(batch);
  const torch::Tensor u = model->encoder->forward({tensors.x_NF, tensors.pos_N3, upward.edges()});
  const space::Growth growth =
      space::growth_of(tensors.pos_N3, {batch.parent.data(), static_cast<std::size_t>(batch.nodes)},
                       model->growth->config());
  const space::Histograms out = model->growth->forward(u, growth);
  std::map<int64_t, torch::Tensor> by_node;
  for (int64_t i = 0; i < growth.node_I.size(0); ++i) {
    by_node[growth.node_I[i].item<int64_t>()] = torch::cat({out.length_IK[i], out.turn_IK[i]});
  }
  return by_node;
}

TEST_CASE("what is predicted of a node does not see its descendants", "[tree][property]") {
  TreeModel model = small_model(torch::kFloat);
  graph::GraphBatch batch = make_spatial_batch(random_trees(5, 6));
  const auto before = predicted(model, batch);
  int64_t kept = 0, changed = 0;
  for (const auto& [v, expected] : before) {
    const std::vector<float> pos(batch.pos.data(), batch.pos.data() + batch.pos.size());
    for (int64_t w = 0; w < batch.nodes; ++w) {
      if (w == v || !test::is_ancestor(batch, v, w)) continue;
      for (int64_t c = 0; c < 3; ++c) batch.pos[3 * w + c] += 0.3F + static_cast<float>(w % 5);
    }
    for (const auto& [other, now] : predicted(model, batch)) {
      const bool below = other != v && test::is_ancestor(batch, v, other);
      if (!below) {
        REQUIRE(now.equal(before.at(other)));  // to the last bit
        ++kept;
      } else {
        changed += !now.equal(before.at(other));
      }
    }
    std::copy(pos.begin(), pos.end(), batch.pos.data());
  }
  CHECK(kept > 100);
  CHECK(changed > 100);  // ancestors are seen
}

TEST_CASE("growth teaches the encoder, and differs between nodes", "[tree][property]") {
  TreeObjective objective(small_model());
  objective.options.lambda_order = 0;
  const graph::GraphBatch batch = make_spatial_batch(random_trees(5, 7));
  objective.loss(batch, totals_of(batch), {}).backward();
  for (const auto& item : objective.model()->encoder->named_parameters()) {
    INFO(item.key());
    REQUIRE(item.value().grad().defined());
    CHECK(item.value().grad().abs().max().item<double>() > 0);
  }
  const auto out = predicted(objective.model(), batch);
  const torch::Tensor first = out.begin()->second, last = out.rbegin()->second;
  CHECK((first - last).abs().max().item<double>() > 1e-4);
}

TEST_CASE("gradients of the whole loss", "[tree][gradients]") {
  torch::manual_seed(8);
  SgmpConfig config;
  config.node_features = 2;
  config.hidden = 3;
  config.interactions = 1;
  space::GrowthConfig growth;
  growth.num_rbf_centers = 4;
  TreeModel model(config, growth);
  model->to(torch::kDouble);
  TreeObjective objective(model);
  objective.options.delta_margin = 2;
  const graph::GraphBatch batch = make_spatial_batch(random_trees(2, 9));
  const graph::StepTotals totals = totals_of(batch);
  check_gradients({model->encoder->embedding->first->weight,
                   model->encoder->embedding->second->bias, model->growth->first->bias},
                  [&](const std::vector<torch::Tensor>&) {
                    return objective.loss(batch, totals, {3, 4});
                  });
}

TEST_CASE("positions count in units of the scale", "[tree][property]") {
  std::vector<SpatialGraph> graphs = random_trees(5, 10);
  TreeObjective unit(small_model());
  const graph::GraphBatch batch = make_spatial_batch(graphs);
  const double expected = unit.loss(batch, totals_of(batch), {}).item<double>();
  for (SpatialGraph& graph : graphs) {
    for (float& p : graph.pos) p *= 4;
  }
  const graph::GraphBatch wider = make_spatial_batch(graphs);
  TreeObjective scaled(small_model(torch::kDouble, 4));
  CHECK(scaled.loss(wider, totals_of(wider), {}).item<double>() == Approx(expected).epsilon(1e-12));
  CHECK(unit.loss(wider, totals_of(wider), {}).item<double>() != Approx(expected).epsilon(1e-3));
}

TEST_CASE("the loss is the same after a rotation and a translation", "[tree][property]") {
  std::vector<SpatialGraph> graphs = random_trees(5, 11);
  TreeObjective objective(small_model());
  const graph::GraphBatch batch = make_spatial_batch(graphs);
  const double expected = objective.loss(batch, totals_of(batch), {}).item<double>();
  for (SpatialGraph& graph : graphs) {
    for (std::size_t v = 0; v < graph.pos.size(); v += 3) {
      const float x = graph.pos[v], y = graph.pos[v + 1];
      graph.pos[v] = 0.6F * x - 0.8F * y + 1;
      graph.pos[v + 1] = 0.8F * x + 0.6F * y - 2;
    }
  }
  const graph::GraphBatch moved = make_spatial_batch(graphs);
  CHECK(objective.loss(moved, totals_of(moved), {}).item<double>() ==
        Approx(expected).epsilon(1e-5));  // positions are of 32 bits
}

TEST_CASE("the loss in mixed precision is near that of 32 bits", "[tree][precision]") {
  TreeObjective objective(small_model(torch::kFloat));
  const graph::GraphBatch batch = make_spatial_batch(random_trees(10, 12));
  const graph::StepTotals totals = totals_of(batch);
  const torch::Tensor expected = objective.loss(batch, totals, {});
  CHECK(expected.scalar_type() == torch::kFloat);
  torch::Tensor loss;
  {
    const train::Autocast in_16_bits("bf16-mixed", torch::kCPU);
    loss = objective.loss(batch, totals, {});
  }
  CHECK(loss.scalar_type() == torch::kFloat);
  CHECK(loss.item<double>() == Approx(expected.item<double>()).epsilon(0.03));
  loss.backward();
  CHECK(gradient_of(objective.module()).isfinite().all().item<bool>());
}

TEST_CASE("trees need not be made of the graph's edges", "[tree]") {
  SgmpConfig config;
  config.node_features = 5;
  config.hidden = 6;
  TreeObjective objective(TreeModel(config, space::GrowthConfig()));
  SpatialGraph points = random_points(30, 13);
  const graph::GraphBatch batch = make_spatial_batch({points});
  const torch::Tensor loss = objective.loss(batch, totals_of(batch), {});
  loss.backward();
  CHECK(loss.item<double>() > 0);
  CHECK(gradient_of(objective.module()).isfinite().all().item<bool>());
}

TEST_CASE("graphs without positions are refused", "[tree][errors]") {
  TreeObjective objective(small_model());
  const graph::GraphBatch batch = test::make_batch({{2, {1, 2, 3, 4}, {}, 0, 0}}, 2);
  CHECK_THROWS_WITH(objective.loss(batch, {1, 2, 0}, {}), Catch::Contains("no positions"));
}

}  // namespace
}  // namespace kdgat::space
