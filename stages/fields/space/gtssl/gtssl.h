// The gtssl stage: geometric-tree self-supervised pre-training of an encoder of graphs in space.
// Owns model and Trainer for the length of run(). Knows no other stage.
#pragma once

#include "fields/space/gtssl/gtssl_options.h"
#include "kdgat/stage.h"

namespace kdgat::gtssl {

struct Gtssl {
  using Options = GtsslOptions;
  static StageInfo info();
  /// Facts of the encoder to come; empty while the data is not imported.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes model.safetensors into request.run_dir; continues from a checkpoint there.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::gtssl
