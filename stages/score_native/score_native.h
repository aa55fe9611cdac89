// The stage score_native: `kdgat score` and `kdgat why` without LibTorch, in the place of the stage
// score where it can compute the model: detectors, and networks of a student's size. It says the
// same of a log. Writes no file.
#pragma once

#include "engine/decision/stream/score_options.h"
#include "kdgat/stage.h"

namespace kdgat::score_native {

struct ScoreNative {
  using Options = decision::ScoreOptions;
  static StageInfo info();
  /// {"computes": whether run() can compute the model of the request, "fits": whether it is also of
  /// a size for it, "why": else why not}; a model that cannot be read is left to others.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// As Score::run().
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::score_native
