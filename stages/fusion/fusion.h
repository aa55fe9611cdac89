// The fusion stage: joins a trained autoencoder and a trained classifier into one detector. Owns
// the states of the graphs and the net for the length of run(). Knows no other stage: models come
// as files.
#pragma once

#include "fusion/fusion_options.h"
#include "kdgat/stage.h"

namespace kdgat::fusion {

struct Fusion {
  using Options = FusionOptions;
  static StageInfo info();
  /// Facts of the model to come; empty while the data is not imported.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes model.safetensors into request.run_dir, and beside it copies of its two models'
  /// files, autoencoder.safetensors and classifier.safetensors: the three are the detector. Given a
  /// detector (an input that a profile has to name in `needs`), a channel of it, see channel.h.
  /// Keeps no checkpoint: a stopped run starts again, with the same result.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::fusion
