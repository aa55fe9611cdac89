// The evaluate stage: scores trained models on validation and test data. Owns the predictions and
// the report. Knows no other stage: models come as files.
#pragma once

#include "evaluate/evaluate_options.h"
#include "kdgat/stage.h"

namespace kdgat::evaluate {

struct Evaluate {
  using Options = EvaluateOptions;
  static StageInfo info();
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes predictions.safetensors into request.run_dir: for each model and part, in the order of
  /// the part, "<step>/<part>/graph" (I64, index in the store), "/score" (F32), "/label" (I64, -1 =
  /// none) and "/prediction" (I64); for a calibrated part also "/calibrated" (I64, the prediction
  /// by the threshold of its file, -1 = the window was used to find that); and Report::curves() as
  /// curves.json. With `ablate` each step is there once more, as "<step> rewired".
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::evaluate
