#include "export/network_check.h"

#include <c10/core/InferenceMode.h>

#include <memory>
#include <vector>

#include "engine/objective/load_scorer.h"

namespace kdgat::exporting {

Check check_by_torch(const model::TrainedModel& made, native::GraphNetwork& network,
                     const CheckWindows& windows, double threshold) {
  const std::unique_ptr<train::Scorer> scorer =
      objective::load_scorer(made.path(), torch::Device(torch::kCPU));
  Check check;
  check.what = "the native engine against LibTorch";
  check.where = windows.where;
  std::vector<float> raw;
  windows.each([&](const graph::GraphBatch& batch) {
    const c10::InferenceMode inference;
    raw.resize(static_cast<std::size_t>(batch.graphs));
    network.raw_scores(batch, raw);
    const torch::Tensor scores = scorer->raw_score(batch).contiguous();
    const float* reference = scores.const_data_ptr<float>();
    for (std::size_t g = 0; g < raw.size(); ++g) {
      check.add(network.score_of(raw[g]), scorer->score_of(reference[g]), threshold);
    }
  });
  check.finish();
  return check;
}

}  // namespace kdgat::exporting
