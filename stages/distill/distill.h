// The distill stage: a student of a trained teacher. It is the autoencoder or classifier stage with
// use_kd under a name of its own, and runs their code.
#pragma once

#include "distill/distill_options.h"
#include "kdgat/stage.h"

namespace kdgat::distill {

struct Distill {
  using Options = DistillOptions;
  static StageInfo info();
  /// Facts of the student to come; empty while the data is not imported.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes model.safetensors into request.run_dir; continues from a checkpoint there.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::distill
