// The classifier stage: trains a graph-attention classifier of benign against attack windows. Owns
// model and Trainer for the length of run(). Knows no other stage.
#pragma once

#include "classifier/classifier_options.h"
#include "kdgat/stage.h"

namespace kdgat::classifier {

struct Classifier {
  using Options = ClassifierOptions;
  static StageInfo info();
  /// Facts of the model to come; empty while the data is not imported.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes model.safetensors into request.run_dir; continues from a checkpoint there.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::classifier
