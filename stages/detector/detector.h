// The detector stage: learns what is usual on the buses of some vehicles, and to tell attacks by
// how windows differ from it; thresholds follow from a budget of false windows. Evaluates itself
// and the rule on the test logs. Knows no other stage. No tensors: trees on fifteen numbers a
// window.
#pragma once

#include "detector/detector_options.h"
#include "kdgat/stage.h"

namespace kdgat::detector {

struct Detector {
  using Options = DetectorOptions;
  static StageInfo info();
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes detector.json, windows.csv (every test window: log, first row, label, score, flagged)
  /// and pictures.json (see pictures.h) into request.run_dir. Metrics: "detector" and the rules, by
  /// part and by log.
  static StageResult run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::detector
