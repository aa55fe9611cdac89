// The objective of numbers that are predicted: its loss against plain loops, gradients, and files.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "support/graphs/batches.h"
#include "support/graphs/gradients.h"
// The others need torch's macros gone.
#include "engine/model/model_file.h"
#include "engine/objective/load_scorer.h"
#include "engine/objective/loss_names.h"
#include "engine/objective/number_objective.h"
#include "kdgat/error.h"
#include "support/programs/command.h"

namespace kdgat::objective {
namespace {

using test::check_close;

constexpr int64_t kTargets = 3;

model::GatConfig config_of_numbers() {
  model::GatConfig out = model::GatConfig::student(1);
  out.has_ids = false;
  out.edge_features = 0;
  out.conv = "sage";
  out.hidden = 5;
  out.layers = 2;
  out.dropout = 0;
  out.regression = true;
  out.classes = kTargets;
  return out;
}

NumberObjective objective_of(const std::string& loss) {
  torch::manual_seed(4);
  NumberObjective out(model::make_model(config_of_numbers()), loss);
  const torch::NoGradGuard no_grad;
  out.model()->target_mean.copy_(torch::tensor({1.0, -200.0, 0.0}));
  out.model()->target_deviation.copy_(torch::tensor({0.5, 40.0, 3.0}));
  return out;
}

/// Each graph lacks one number but the first, which has all.
graph::GraphBatch batch_of(int graphs) {
  graph::GraphBatch out = test::make_batch(test::random_small_graphs(graphs, 4));
  out.target.resize(graphs * kTargets);
  for (int64_t i = 0; i < graphs * kTargets; ++i) {
    const int64_t g = i / kTargets, t = i % kTargets;
    const double scale[] = {1, 100, 5};
    out.target[i] = g > 0 && g % kTargets == t
                        ? std::nanf("")
                        : static_cast<float>(std::sin(static_cast<double>(i)) * scale[t]);
  }
  return out;
}

graph::StepTotals totals_of(const graph::GraphBatch& batch) {
  return {batch.graphs, batch.nodes, batch.edges};
}

TEST_CASE("the loss of numbers is that of a loop, and unknown ones count nothing",
          "[objective][regression]") {
  const graph::GraphBatch batch = batch_of(7);
  for (const std::string& loss : number_loss_names()) {
    INFO(loss);
    NumberObjective objective = objective_of(loss);
    objective.module().train();
    const torch::Tensor found = objective.loss(batch, totals_of(batch), {});
    const torch::Tensor predicted = objective.predict(batch);
    double sum = 0;
    for (int64_t g = 0; g < batch.graphs; ++g) {
      for (int64_t t = 0; t < kTargets; ++t) {
        const double target = batch.target[g * kTargets + t];
        if (std::isnan(target)) continue;
        const double deviation = objective.model()->target_deviation[t].item<double>();
        const double gap = std::abs(predicted[g][t].item<double>() - target) / deviation;
        sum += loss == "mse"   ? gap * gap
               : loss == "mae" ? gap
               : gap < 1       ? gap * gap / 2
                               : gap - 0.5;
      }
    }
    check_close(found, torch::tensor(sum / static_cast<double>(batch.graphs * kTargets)), loss,
                1e-5, 1e-5);
    check_close(objective.score(batch), predicted.select(1, 0), "score");
    CHECK(objective.module().is_training());
  }
}

TEST_CASE("parts of a step of numbers add up to it, with their gradients",
          "[objective][regression]") {
  NumberObjective objective = objective_of("huber");
  const graph::GraphBatch whole = batch_of(6);
  const auto gradients = [&](const std::vector<const graph::GraphBatch*>& parts) {
    objective.module().zero_grad();
    for (const graph::GraphBatch* part : parts) {
      objective.loss(*part, totals_of(whole), {}).backward();
    }
    std::vector<torch::Tensor> out;
    for (const torch::Tensor& t : objective.module().parameters()) out.push_back(t.grad().clone());
    return out;
  };
  std::vector<graph::GraphBatch> halves;
  const auto graphs = test::random_small_graphs(6, 4);
  for (const int64_t first : {0, 3}) {
    halves.push_back(test::make_batch({graphs.begin() + first, graphs.begin() + first + 3}));
    halves.back().target.resize(3 * kTargets);
    std::copy_n(whole.target.data() + first * kTargets, 3 * kTargets, halves.back().target.data());
  }
  const auto found = gradients({&halves[0], &halves[1]}), wanted = gradients({&whole});
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    check_close(found[i], wanted[i], "gradient " + std::to_string(i), 1e-5, 1e-5);
  }
}

TEST_CASE("a model of numbers is written and read, and a graph without any is refused",
          "[objective][regression][model_file]") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "model.safetensors";
  NumberObjective objective = objective_of("mse");
  const nlohmann::json config = objective.model()->config();
  CHECK(config.at("regression") == true);
  CHECK(config.get<model::GatConfig>() == config_of_numbers());
  model::save_model(path, objective.module(), {"gat", config, {}, {}});
  const auto loaded = load_scorer(path, torch::kCPU);
  auto* numbers = dynamic_cast<NumberObjective*>(loaded.get());
  REQUIRE(numbers != nullptr);
  graph::GraphBatch batch = batch_of(5);
  CHECK(torch::equal(numbers->predict(batch), objective.predict(batch)));
  for (int64_t t = 0; t < kTargets; ++t) batch.target[2 * kTargets + t] = std::nanf("");
  CHECK_THROWS_WITH(objective.loss(batch, totals_of(batch), {}), Catch::Contains("has no target"));
}

}  // namespace
}  // namespace kdgat::objective
