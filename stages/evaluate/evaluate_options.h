// Options of the evaluate stage.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "kdgat/options.h"

namespace kdgat::evaluate {

struct EvaluateOptions {
  std::vector<std::string> parts;
  double fallback_quantile = 0.99;
  std::vector<std::string> calibrate = {"unknown_vehicle"};
  int64_t calibration_windows = 0;
  double false_alarms = 0.001;
  std::string ablate = "none";

  static auto table() {
    using O = EvaluateOptions;
    return std::tuple{
        field("parts", &O::parts, Purpose::kComparison,
              "Parts to report beside val, e.g. [test/test_01_DoS]; empty = every test part."),
        field("fallback_quantile", &O::fallback_quantile, Purpose::kAlarms,
              "Where validation has no attacks, the threshold of a model that has none of its own "
              "is this quantile of the validation scores.")
            .range(0.5, 1),
        field(
            "calibrate", &O::calibrate, Purpose::kAlarms,
            "Test parts whose name contains one of these words also get a threshold for each "
            "file, from the windows before its first attack; these count in no figure. [] = none."),
        field("calibration_windows", &O::calibration_windows, Purpose::kAlarms,
              "At most so many windows at the start of a file set its threshold; 0 = all before "
              "the first attack.")
            .range(0, 1e9),
        field("false_alarms", &O::false_alarms, Purpose::kAlarms,
              "Share of benign windows that a calibrated threshold may take for attacks.")
            .first()
            .range(1e-9, 0.5),
        field("ablate", &O::ablate, Purpose::kComparison,
              "structure: each model of graphs is judged once more, on the same windows with edges "
              "rewired at random; says whether the graph matters.")
            .choices({"none", "structure"})
            .later()};
  }
};

}  // namespace kdgat::evaluate
