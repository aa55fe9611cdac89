// The autoencoder of nodes without identifiers: its loss and score against plain loops, gradients
// against differences, and its files.
#include <cmath>
#include <filesystem>

#include "support/graphs/batches.h"
#include "support/graphs/gradients.h"
// The others need torch's macros gone.
#include "engine/model/config/trained_model.h"
#include "engine/model/model_file.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/class_scorer.h"
#include "engine/objective/load_scorer.h"
#include "kdgat/error.h"
#include "support/programs/command.h"

namespace kdgat::objective {
namespace {

using test::check_close;
using test::make_batch;
using test::random_small_graphs;

model::VgaeConfig config_without_ids(const std::string& readout = "mean") {
  model::VgaeConfig out;
  out.readout = readout;
  out.num_ids = 1;
  out.has_ids = false;
  out.standardise = true;
  out.hidden_dims = {12, 8};
  out.latent_dim = 6;
  out.heads = 2;
  out.dropout = 0;
  return out;
}

/// With statistics that are not those of the batch, and no noise.
AutoencoderObjective objective_without_ids(const std::string& readout = "mean") {
  torch::manual_seed(5);
  AutoencoderObjective out(model::make_model(config_without_ids(readout)));
  const torch::NoGradGuard no_grad;
  out.model()->sample_latent = false;
  out.model()->input->node_mean.copy_(torch::linspace(-1, 1, 11));
  out.model()->input->node_scale.copy_(torch::linspace(0.5, 3, 11));
  return out;
}

/// Of each node the mean of the rows that edges come from, by loops.
torch::Tensor mean_of_neighbours(const torch::Tensor& x_NF, const graph::GraphBatch& batch) {
  torch::Tensor out = torch::zeros_like(x_NF);
  for (int64_t n = 0; n < batch.nodes; ++n) {
    int64_t count = 0;
    for (int32_t e = batch.in_ptr[n]; e < batch.in_ptr[n + 1]; ++e) {
      if (batch.in_source[e] == n) continue;
      out[n] += x_NF[batch.in_source[e]];
      ++count;
    }
    if (count > 0) out[n] /= static_cast<double>(count);
  }
  return out;
}

/// The errors of each node, [N]: of the features, and of their means over neighbours.
std::pair<torch::Tensor, torch::Tensor> errors_of(AutoencoderObjective& objective,
                                                  const graph::GraphBatch& batch,
                                                  const model::VgaeOutput& output) {
  const kernels::BatchTensors tensors = kernels::to_tensors(batch, torch::kCPU);
  const auto& input = objective.model()->input;
  const torch::Tensor wanted = (tensors.x_NF - input->node_mean) * input->node_scale;
  torch::Tensor z = output.z_NL;
  for (const char* layer : {"0", "3", "6"}) {
    const auto weights = objective.model()->neighbours->named_parameters();
    z = z.matmul(weights[std::string(layer) + ".weight"].t()) +
        weights[std::string(layer) + ".bias"];
    if (layer[0] != '6') z = z.relu();
  }
  return {(output.features_NX - wanted.clamp(-10, 10)).square().mean(1),
          (z - mean_of_neighbours(wanted.clamp(-10, 10), batch)).square().mean(1)};
}

}  // namespace

TEST_CASE("the loss of nodes without identifiers is that of features, neighbours and divergence",
          "[objective][classes]") {
  test::at_every_isa([] {
    AutoencoderObjective objective = objective_without_ids();
    objective.identifier_weight = 100;  // there are none to weigh
    const graph::GraphBatch batch = make_batch(random_small_graphs(6, 3));
    const torch::NoGradGuard no_grad;
    const model::VgaeOutput out =
        objective.model()->forward(kernels::to_tensors(batch, torch::kCPU));
    CHECK(out.features_NX.min().item<double>() < 0);  // not squashed
    const auto [features, neighbours] = errors_of(objective, batch, out);
    const graph::StepTotals totals{batch.graphs, 2 * batch.nodes, batch.edges};
    const torch::Tensor loss = objective.loss(batch, totals, {});
    const auto parts = objective.parts();
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].first == "feature");
    check_close(parts[0].second, features.mean() / 2, "features");
    CHECK(parts[1].first == "neighbour");
    check_close(parts[1].second, neighbours.mean() / 2, "neighbours");
    CHECK(parts[2].first == "kl");
    check_close(loss, parts[0].second + 0.05 * parts[1].second + 0.01 * parts[2].second, "loss");
  });
}

TEST_CASE("the score of nodes without identifiers is the sum of both errors, in any batch",
          "[objective][classes]") {
  const std::string readout = GENERATE("mean", "mean_and_max");
  const bool takes_max = readout == "mean_and_max";
  AutoencoderObjective objective = objective_without_ids(readout);
  const auto graphs = random_small_graphs(7, 4);
  const torch::Tensor scores = objective.score(make_batch(graphs));
  const torch::Tensor difficulty = objective.difficulty(make_batch(graphs));
  objective.module().eval();
  const torch::NoGradGuard no_grad;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const graph::GraphBatch one = make_batch({graphs[g]});
    const model::VgaeOutput out = objective.model()->forward(kernels::to_tensors(one, torch::kCPU));
    const auto [features, neighbours] = errors_of(objective, one, out);
    const torch::Tensor errors = features + neighbours;
    const auto at = static_cast<int64_t>(g);
    const std::string name = "graph " + std::to_string(g);
    check_close(scores[at], takes_max ? errors.mean() + errors.max() : errors.mean(), name);
    check_close(difficulty[at], errors.mean(), "difficulty of " + name);
  }
}

TEST_CASE("gradients of an autoencoder of nodes without identifiers are those of differences",
          "[objective][classes]") {
  AutoencoderObjective objective = objective_without_ids();
  objective.neighbour_weight = 0.7;
  objective.kl_weight = 0.3;
  objective.module().to(torch::kDouble);
  const graph::GraphBatch batch = make_batch(random_small_graphs(4, 9));
  kernels::BatchTensors tensors = kernels::to_tensors(batch, torch::kCPU);
  tensors.x_NF = tensors.x_NF.to(torch::kDouble);
  const graph::StepTotals totals{batch.graphs, batch.nodes, batch.edges};
  auto& net = objective.model();
  net->eval();  // running statistics do not move
  std::vector<torch::Tensor> inputs = {net->mean->weight, net->logvar->bias, net->output->bias,
                                       net->neighbours->last()->weight,
                                       net->neighbours->last()->bias};
  test::check_gradients(inputs, [&](const std::vector<at::Tensor>&) {
    return objective.loss_of(net->forward(tensors), tensors, totals).reshape({1});
  });
  // And every parameter has one.
  net->zero_grad();
  objective.loss_of(net->forward(tensors), tensors, totals).backward();
  for (const auto& item : net->named_parameters()) {
    INFO(item.key());
    REQUIRE(item.value().grad().defined());
    CHECK(item.value().grad().abs().sum().item<double>() > 0);
  }
}

TEST_CASE("an autoencoder of nodes without identifiers is written and read, and older files are",
          "[objective][classes][model_file]") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "model.safetensors";
  const std::string readout = GENERATE("mean", "mean_and_max");
  AutoencoderObjective objective = objective_without_ids(readout);
  const nlohmann::json config = objective.model()->config();
  CHECK(config.at("has_ids") == false);
  CHECK(config.contains("readout") == (readout != "mean"));
  const auto save = [&](const nlohmann::json& decision) {
    model::save_model(path, objective.module(), {"vgae", config, {}, decision});
  };
  save({{"threshold", 0.75}, {"from", "val"}});
  const graph::GraphBatch batch = make_batch(random_small_graphs(5, 8));
  const torch::Tensor score = objective.score(batch);
  CHECK(torch::equal(load_scorer(path, torch::kCPU)->score(batch), score));

  // What is said of classes is on the side that the threshold says, and orders graphs as the error.
  ClassScorer scorer(model::open_model(path), torch::kCPU);
  REQUIRE(scorer.autoencoder() != nullptr);
  CHECK(scorer.classes() == 2);
  for (const double threshold :
       {0.75, static_cast<double>(score.median().item<float>()), 0.0, 1e9}) {
    save({{"threshold", threshold}, {"from", "val"}});
    ClassScorer other(model::open_model(path), torch::kCPU);
    const torch::Tensor said = other.probabilities(batch);
    CHECK(torch::equal(said.argmax(1).eq(1), score.to(torch::kDouble).gt(threshold)));
    if (threshold > 0) CHECK(torch::equal(said.select(1, 1).argsort(), score.argsort()));
    check_close(said.sum(1), torch::ones({5}), "sum");
  }
  save({});
  CHECK_THROWS_WITH(ClassScorer(model::open_model(path), torch::kCPU),
                    Catch::Contains("without a threshold"));

  const nlohmann::json before = model::VgaeConfig::teacher(20);
  CHECK_FALSE(before.contains("has_ids"));
  CHECK(before.get<model::VgaeConfig>() == model::VgaeConfig::teacher(20));
  CHECK(config.get<model::VgaeConfig>() == config_without_ids(readout));
}

TEST_CASE("the mean over neighbours leaves loops out and is zero for who has none",
          "[layers][classes]") {
  test::SmallGraph graph;
  graph.nodes = 4;
  graph.x = {1, 10, 2, 20, 4, 40, 8, 80};
  graph.edges = {{0, 1}, {2, 1}, {1, 1}, {3, 0}, {2, 2}};
  const graph::GraphBatch batch = make_batch({graph}, 2);
  const kernels::BatchTensors tensors = kernels::to_tensors(batch, torch::kCPU);
  check_close(model::neighbour_mean(tensors.x_NF, tensors),
              torch::tensor({8.0F, 80.0F, 2.5F, 25.0F, 0.0F, 0.0F, 0.0F, 0.0F}).view({4, 2}),
              "means");
}

}  // namespace kdgat::objective
