// The finetune stage: a head, and if wanted its encoder, trained to tell classes or numbers of
// graphs in space. Owns model and Trainer for the length of run(). Knows no other stage.
#pragma once

#include "fields/space/finetune/finetune_options.h"
#include "kdgat/stage.h"

namespace kdgat::finetune {

struct Finetune {
  using Options = FinetuneOptions;
  static StageInfo info();
  /// Facts of the model to come; empty while the data is not imported.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes model.safetensors into request.run_dir; continues from a checkpoint there.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::finetune
