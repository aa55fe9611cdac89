// The graphsage stage: trains a recommender on a graph of users and items, and evaluates it. Owns
// net and training for the length of run(). Knows no other stage.
#pragma once

#include "fields/ratings/graphsage/graphsage_options.h"
#include "kdgat/stage.h"

namespace kdgat::graphsage {

struct Graphsage {
  using Options = GraphsageOptions;
  static StageInfo info();
  /// Facts of the net to come, with "memory": the plan, and in it "items": what the bytes are of.
  /// Empty while the data is not imported.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes model.safetensors, and with write_predictions predictions.csv and recommendations.csv,
  /// into request.run_dir; continues from a checkpoint there. Metrics: "val_..." of the best epoch,
  /// "test_..." of the test ratings.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::graphsage
