// The adapt stage: `kdgat adapt` as a plugin. Learns what is usual on one vehicle from its benign
// traffic and gives a detector that knows it; trees, tails and thresholds stay as they are.
#pragma once

#include "adapt/adapt_options.h"
#include "kdgat/stage.h"

namespace kdgat::adapt {

struct Adapt {
  using Options = AdaptOptions;
  static StageInfo info();
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Input "model" is a detector file, each of "logs" a log, a folder of logs or "-", all of one
  /// vehicle. Rows labelled as attacks teach nothing. Writes options.output, whole or not at all.
  /// The vehicle takes the place of one of the detector's that the logs are of, else it is added.
  /// The result: {"vehicle","replaced" (name, or null),"vehicles","ids","rows","attack_rows"
  /// (left out),"windows","seconds","false_alarms_per_hour","parameters"}. Throws Error(kUsage)
  /// without an output, Error(kData) for logs that are too short or of several vehicles.
  static StageResult run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::adapt
