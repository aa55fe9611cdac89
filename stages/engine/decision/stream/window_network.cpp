#include "engine/decision/stream/window_network.h"

#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "engine/data/can/windows/relative_graph.h"
#include "engine/native/networks.h"
#include "kdgat/error.h"

namespace kdgat::decision {
namespace {

/// Owns what a batch is gathered in.
class NativeScorer : public GraphScorer {
 public:
  explicit NativeScorer(std::unique_ptr<native::GraphNetwork> network)
      : network_(std::move(network)) {}

  std::span<const float> raw_scores(const graph::GraphArrays& graphs, int64_t count) override {
    const auto size = static_cast<std::size_t>(count);
    if (ids_.size() != size) {
      ids_.resize(size);
      std::iota(ids_.begin(), ids_.end(), int64_t{0});
      scores_.resize(size);
    }
    graph::gather(graphs, ids_, network_->with_edge_attr(), batch_);
    network_->raw_scores(batch_, scores_);
    return scores_;
  }
  double score_of(double raw) const override { return network_->score_of(raw); }

 private:
  std::unique_ptr<native::GraphNetwork> network_;
  std::vector<int64_t> ids_;
  graph::GraphBatch batch_;
  std::vector<float> scores_;
};

}  // namespace

WindowNetwork window_network(const model::TrainedModel& made) {
  using nlohmann::json;
  const json& data = made.header.data;
  if (data.value(json::json_pointer("/import/features"), json()) == data::kRelativeFeatures) {
    throw Error(ExitCode::kUsage,
                made.path().string() +
                    ": this network reads windows relative to the profile of a "
                    "vehicle, which the model file does not hold",
                "a step `detector` that needs it makes a detector of it, which scores logs: "
                "profiles/kdgat_relative.yaml");
  }
  model::require_layout(made,
                        {{"node_features", data::node_feature_names()},
                         {"edge_features", data::edge_feature_names()},
                         {"vocabulary", data.value("vocabulary", json::array())}},
                        "train the model again");
  WindowNetwork out;
  out.path = made.path();
  try {
    out.vocabulary = data::vocabulary_of(data.value("vocabulary", json()));
    out.shape = data::shape_of(data.value("import", json()));
  } catch (const Error& error) {
    throw Error(ExitCode::kData,
                out.path.string() + ": does not say how its graphs were cut: " +
                    error.diagnostics().front().message,
                "train the model again on logs imported with this version");
  }
  if (const auto decision = model::decision_of(made.header)) out.threshold = decision->threshold;
  return out;
}

void check_ids(const model::TrainedModel& made, const WindowNetwork& network) {
  const nlohmann::json known = made.header.config.value("num_ids", nlohmann::json());
  if (known == network.vocabulary.size() + 1) return;
  throw Error(ExitCode::kData, network.path.string() + ": a vocabulary of " +
                                   std::to_string(network.vocabulary.size()) +
                                   " ids for a model of " + known.dump() + " with the unknown one");
}

WindowNetwork native_network(const std::filesystem::path& path) {
  const model::TrainedModel made = model::open_model(path);
  WindowNetwork out = window_network(made);
  out.scorer = std::make_unique<NativeScorer>(native::load_network(made.file, made.header));
  check_ids(made, out);
  return out;
}

}  // namespace kdgat::decision
