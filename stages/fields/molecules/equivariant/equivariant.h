// The equivariant stage: trains an E(3)-equivariant encoder of molecules so that a pocket's vector
// is near the embedding of the ligand it binds, and ranks the catalogue for each. Owns model and
// Trainer for the length of run(). Knows no other stage.
#pragma once

#include "fields/molecules/equivariant/equivariant_options.h"
#include "kdgat/stage.h"

namespace kdgat::equivariant {

struct Equivariant {
  using Options = EquivariantOptions;
  static StageInfo info();
  /// Facts of the encoder to come; empty while the data is not imported.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes model.safetensors and predictions.csv into request.run_dir; continues from a checkpoint
  /// there.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::equivariant
