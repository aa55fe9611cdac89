#include "fields/space/objective/graph_objective.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/graphs/gradients.h"
#include "support/graphs/spatial_graphs.h"
// The others need torch's macros gone.
#include "engine/train/precision.h"

namespace kdgat::space {
namespace {

using test::check_close;
using test::make_spatial_batch;
using test::random_trees;
using test::SpatialGraph;
using test::totals_of;

GraphModel small_graph_model(int64_t classes, const std::string& head = "published",
                             const std::string& readout = "mean") {
  torch::manual_seed(1);
  SgmpConfig config;
  config.node_features = 2;
  config.hidden = 6;
  config.interactions = 1;
  GraphHeadConfig head_config;
  head_config.classes = classes;
  head_config.head = head;
  head_config.readout = readout;
  GraphModel model(config, head_config);
  model->to(torch::kDouble);
  return model;
}

std::vector<SpatialGraph> labelled_trees(int64_t count, int64_t classes) {
  std::vector<SpatialGraph> out = random_trees(count, 3);
  for (std::size_t g = 0; g < out.size(); ++g) out[g].y = static_cast<int64_t>(g) % classes;
  return out;
}

TEST_CASE("readouts are sums and means over the nodes of each graph", "[head]") {
  SpatialTensors batch;
  batch.graphs = 3;
  batch.graph_N = torch::tensor({0, 0, 2}, torch::kLong);  // the second graph is empty
  const torch::Tensor h = torch::tensor({{1.0, 2.0}, {3.0, 6.0}, {5.0, 7.0}}, torch::kDouble);
  const torch::Tensor sum = torch::tensor({{4.0, 8.0}, {0.0, 0.0}, {5.0, 7.0}}, torch::kDouble);
  const torch::Tensor mean = torch::tensor({{2.0, 4.0}, {0.0, 0.0}, {5.0, 7.0}}, torch::kDouble);
  check_close(space::readout(h, batch, "sum"), sum, "sum", 0, 0);
  check_close(space::readout(h, batch, "add"), sum, "add", 0, 0);
  check_close(space::readout(h, batch, "mean"), mean, "mean", 0, 0);
}

TEST_CASE("the loss is the cross entropy of the classes", "[head]") {
  const graph::GraphBatch batch = make_spatial_batch(labelled_trees(8, 3));
  for (const std::string head : {"published", "linear"}) {
    GraphObjective objective(small_graph_model(3, head), false);
    const torch::Tensor p = objective.predict(batch);
    REQUIRE(p.sizes() == torch::IntArrayRef({8, 3}));
    check_close(p.sum(1), torch::ones({8}), "probabilities");
    double expected = 0;
    for (int64_t g = 0; g < batch.graphs; ++g)
      expected -= std::log(p[g][batch.y[g]].item<double>());
    CHECK(objective.loss(batch, totals_of(batch), {}).item<double>() ==
          Approx(expected / 8).epsilon(1e-6));
    check_close(objective.score(batch), std::get<0>(p.max(1)), "score");
  }
}

TEST_CASE("of two classes the score is the probability of the second", "[head]") {
  const graph::GraphBatch batch = make_spatial_batch(labelled_trees(8, 2));
  GraphObjective objective(small_graph_model(2), false);
  check_close(objective.score(batch), objective.predict(batch).select(1, 1), "score", 0, 0);
}

TEST_CASE("numbers are predicted in their own unit and learned in standard deviations", "[head]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(8, 3));
  GraphObjective objective(small_graph_model(0), false);
  {
    const torch::NoGradGuard no_grad;
    objective.model()->target_mean.fill_(3);
    objective.model()->target_deviation.fill_(2);
  }
  const torch::Tensor predicted = objective.predict(batch);
  REQUIRE(predicted.sizes() == torch::IntArrayRef({8}));
  double expected = 0;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    expected +=
        std::pow((predicted[g].item<double>() - static_cast<double>(batch.target[g])) / 2, 2);
  }
  CHECK(objective.loss(batch, totals_of(batch), {}).item<double>() ==
        Approx(expected / 8).epsilon(1e-5));
  check_close(objective.score(batch), predicted, "score", 0, 0);
  int64_t buffers = 0;
  for (const auto& buffer : objective.module().named_buffers()) {
    buffers += buffer.key() == "target_mean" || buffer.key() == "target_deviation";
  }
  CHECK(buffers == 2);  // they are saved with the weights
}

TEST_CASE("parts of a step of labelled graphs add up to the step", "[head][property]") {
  const std::vector<SpatialGraph> graphs = labelled_trees(9, 3);
  const graph::GraphBatch whole = make_spatial_batch(graphs);
  const graph::StepTotals totals = totals_of(whole);
  for (const int64_t classes : {0, 3}) {
    GraphObjective objective(small_graph_model(classes), false);
    objective.loss(whole, totals, {}).backward();
    const torch::Tensor expected =
        objective.model()->encoder->embedding->first->weight.grad().clone();
    objective.module().zero_grad();
    for (const auto& [first, end] : {std::pair{0, 4}, std::pair{4, 9}}) {
      const graph::GraphBatch part = make_spatial_batch(
          std::vector<SpatialGraph>(graphs.begin() + first, graphs.begin() + end));
      objective.loss(part, totals, {}).backward();
    }
    check_close(objective.model()->encoder->embedding->first->weight.grad(), expected, "gradients",
                1e-13, 1e-10);
  }
}

TEST_CASE("a frozen encoder gets no gradient, and its head the same as before", "[head]") {
  const graph::GraphBatch batch = make_spatial_batch(labelled_trees(8, 3));
  const graph::StepTotals totals = totals_of(batch);
  const auto head_gradients = [&](GraphObjective& objective) {
    objective.module().zero_grad();
    objective.loss(batch, totals, {}).backward();
    std::vector<torch::Tensor> out;
    for (const auto& item : objective.module().named_parameters()) {
      if (item.key().starts_with("encoder.")) continue;
      REQUIRE(item.value().grad().defined());
      out.push_back(item.value().grad().flatten().clone());
    }
    return torch::cat(out);
  };
  GraphObjective trained(small_graph_model(3), false), frozen(small_graph_model(3), true);
  const torch::Tensor expected = head_gradients(trained);
  check_close(head_gradients(frozen), expected, "computed each time", 1e-14, 1e-12);
  frozen.keep_readouts = true;
  check_close(head_gradients(frozen), expected, "computed now", 1e-14, 1e-12);
  check_close(head_gradients(frozen), expected, "kept", 1e-14, 1e-12);
  for (const torch::Tensor& p : frozen.model()->encoder->parameters()) {
    CHECK_FALSE(p.grad().defined());
  }
  check_close(frozen.predict(batch), trained.predict(batch), "predictions");

  // Kept by graph, whatever the batch; a new graph is computed.
  std::vector<SpatialGraph> others = labelled_trees(10, 3);
  std::reverse(others.begin(), others.end());
  const graph::GraphBatch mixed = make_spatial_batch(others);
  check_close(frozen.predict(mixed), trained.predict(mixed), "another batch");

  // What is kept is not computed again: another encoder is not asked.
  const torch::Tensor before = frozen.predict(batch);
  {
    const torch::NoGradGuard no_grad;
    frozen.model()->encoder->embedding->first->weight.mul_(2);
  }
  CHECK(frozen.predict(batch).equal(before));
  frozen.keep_readouts = false;
  CHECK_FALSE(frozen.predict(batch).equal(before));
}

TEST_CASE("gradients of classes and numbers", "[head][gradients]") {
  const graph::GraphBatch batch = make_spatial_batch(labelled_trees(4, 3));
  const graph::StepTotals totals = totals_of(batch);
  for (const int64_t classes : {0, 3}) {
    for (const std::string readout : {"mean", "sum"}) {
      GraphModel model = small_graph_model(classes, "published", readout);
      GraphObjective objective(model, false);
      test::check_gradients(
          {model->encoder->embedding->first->weight, model->named_parameters()["lin2.weight"],
           model->named_parameters()["lin1.bias"]},
          [&](const std::vector<torch::Tensor>&) { return objective.loss(batch, totals, {}); });
    }
  }
}

TEST_CASE("graphs without a label or a target are refused by name", "[head][errors]") {
  std::vector<SpatialGraph> graphs = labelled_trees(4, 3);
  graphs[2].y = -1;
  graphs[1].target = std::numeric_limits<float>::quiet_NaN();
  const graph::GraphBatch batch = make_spatial_batch(graphs);
  GraphObjective classes(small_graph_model(3), false), number(small_graph_model(0), false);
  CHECK_THROWS_WITH(classes.loss(batch, totals_of(batch), {}),
                    Catch::Contains("graph 506 has no label"));
  CHECK_THROWS_WITH(number.loss(batch, totals_of(batch), {}),
                    Catch::Contains("graph 503 has no target"));
  GraphObjective fewer(small_graph_model(1), false);
  graphs[2].y = 2;
  const graph::GraphBatch more = make_spatial_batch(graphs);
  CHECK_THROWS_WITH(fewer.loss(more, totals_of(more), {}),
                    Catch::Contains("graph 503 is of class 1, and the model knows 1"));
  CHECK(classes.predict(batch).size(0) == 4);  // predictions need none
}

TEST_CASE("heads in mixed precision give losses and predictions of 32 bits", "[head][precision]") {
  const graph::GraphBatch batch = make_spatial_batch(labelled_trees(8, 3));
  for (const int64_t classes : {0, 3}) {
    GraphModel model = small_graph_model(classes);
    model->to(torch::kFloat);
    GraphObjective objective(model, false);
    const torch::Tensor expected = objective.loss(batch, totals_of(batch), {});
    const train::Autocast in_16_bits("bf16-mixed", torch::kCPU);
    const torch::Tensor loss = objective.loss(batch, totals_of(batch), {});
    CHECK(loss.scalar_type() == torch::kFloat);
    CHECK(loss.item<double>() == Approx(expected.item<double>()).epsilon(0.03));
    CHECK(objective.predict(batch).scalar_type() == torch::kFloat);
  }
}

}  // namespace
}  // namespace kdgat::space
