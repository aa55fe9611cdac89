#include <cmath>
#include <string>
#include <vector>

#include "support/graphs/batches.h"
// The others need torch's macros gone.
#include "engine/kernels/batch_tensors.h"
#include "engine/model/networks/gat.h"
#include "engine/objective/classifier_objective.h"
#include "support/graphs/random_graphs.h"

namespace kdgat::model {
namespace {

GatConfig monotone(const std::string& conv, const std::string& norm, const std::string& pooling) {
  GatConfig out;
  out.num_ids = 1;
  out.has_ids = false;
  out.node_features = 11;
  out.conv = conv;
  out.norm = norm;
  out.pooling = pooling;
  out.hidden = 16;
  out.layers = 2;
  out.fc_layers = 2;
  out.dropout = 0;
  out.monotone = true;
  return out;
}

/// As an optimiser leaves them: of either sign.
void disturb(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  for (at::Tensor& weight : module.parameters()) weight.add_(torch::randn_like(weight));
}

std::vector<float> scores(objective::ClassifierObjective& of, const graph::GraphBatch& batch) {
  const at::Tensor out = of.raw_score(batch).contiguous();
  return {out.const_data_ptr<float>(), out.const_data_ptr<float>() + out.numel()};
}

TEST_CASE("scores of a monotone network never fall where a feature grows", "[model][monotone]") {
  torch::manual_seed(5);
  graph::GraphBatch batch = test::make_batch(test::random_small_graphs(12, 3));
  for (const std::string conv : {"gin", "none"}) {
    for (const std::string norm : {"none", "batch"}) {
      for (const std::string pooling : {"max", "sum", "mean"}) {
        INFO(conv << ", norm " << norm << ", " << pooling);
        objective::ClassifierObjective objective(make_model(monotone(conv, norm, pooling)));
        disturb(objective.module());
        objective.after_step();
        const std::vector<float> before = scores(objective, batch);
        int changed = 0;
        for (int64_t i = 0; i < batch.nodes * batch.node_features; i += 7) {
          const float was = batch.x[i];
          batch.x[i] = was + 3;
          const std::vector<float> after = scores(objective, batch);
          batch.x[i] = was;
          for (std::size_t g = 0; g < before.size(); ++g) {
            CHECK(after[g] >= before[g] - 1e-4F * std::abs(before[g]));
            changed += after[g] > before[g] ? 1 : 0;
          }
        }
        CHECK(changed > 0);
      }
    }
  }
}

TEST_CASE("a network begins monotone, and no other is made so", "[model][monotone]") {
  torch::manual_seed(6);
  GatConfig config = monotone("gin", "batch", "max");
  GraphClassifier first = make_model(config);
  config.monotone = false;
  GraphClassifier free = make_model(config);
  const auto negative = [](GraphClassifier& model) {
    return model->convs[0]->as<GinConvImpl>()->lin_1->weight.lt(0).sum().item<int64_t>();
  };
  CHECK(negative(first) == 0);
  REQUIRE(negative(free) > 0);
  const int64_t before = negative(free);
  free->keep_monotone();
  CHECK(negative(free) == before);
}

}  // namespace
}  // namespace kdgat::model
