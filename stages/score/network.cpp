#include "score/network.h"

#include <c10/core/InferenceMode.h>

#include <numeric>

#include "model/model_file.h"
#include "objective/load_scorer.h"
#include "setup/trained_model.h"

namespace kdgat::score {

Network load_network(const std::filesystem::path& given, torch::Device device) {
  const setup::TrainedModel made = setup::open_model(given);
  using nlohmann::json;
  const json& data = made.header.data;
  setup::require_layout(made,
                        {{"node_features", graph::node_feature_names()},
                         {"edge_features", graph::edge_feature_names()},
                         {"vocabulary", data.value("vocabulary", json::array())}},
                        "train the model again");
  Network out;
  out.path = made.path();
  try {
    out.vocabulary = graph::vocabulary_of(data.value("vocabulary", json()));
    out.shape = graph::shape_of(data.value("import", json()));
  } catch (const Error& error) {
    throw Error(ExitCode::kData,
                out.path.string() + ": does not say how its graphs were cut: " +
                    error.diagnostics().front().message,
                "train the model again on logs imported with this version");
  }
  if (const auto decision = model::decision_of(made.header)) out.threshold = decision->threshold;
  out.scorer = objective::load_scorer(out.path, device);
  const json known = made.header.config.value("num_ids", json());
  if (known != out.vocabulary.size() + 1) {
    throw Error(ExitCode::kData,
                out.path.string() + ": a vocabulary of " + std::to_string(out.vocabulary.size()) +
                    " ids for a model of " + known.dump() + " with the unknown one");
  }
  return out;
}

std::vector<float> NetworkScores::of(const graph::LogWindows& windows, int64_t graphs) {
  const c10::InferenceMode inference;
  ids_.resize(static_cast<std::size_t>(graphs));
  std::iota(ids_.begin(), ids_.end(), int64_t{0});
  graph::gather(windows.graphs(), ids_, network_.scorer->with_edge_attr(), batch_);
  const torch::Tensor raw = network_.scorer->raw_score(batch_).contiguous();
  const float* data = raw.const_data_ptr<float>();
  return {data, data + raw.numel()};
}

}  // namespace kdgat::score
