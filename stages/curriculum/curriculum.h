// The curriculum stage: scores how hard each benign training window is, by an autoencoder, or each
// labelled training graph, by a classifier. Knows no other stage: the model comes as a file, and
// who samples by difficulty reads the file written here.
#pragma once

#include "curriculum/curriculum_options.h"
#include "kdgat/stage.h"

namespace kdgat::curriculum {

struct Curriculum {
  using Options = CurriculumOptions;
  static StageInfo info();
  /// Throws Error(kUsage) if no step gives the model that scores such graphs.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes difficulty.safetensors (engine/train/sampling/difficulty.h) into request.run_dir.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::curriculum
