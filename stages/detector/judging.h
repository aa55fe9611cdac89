// How a detector and the rule do on logs: windows, false windows, events, by log and by part. No
// LibTorch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "detector/detector_model.h"
#include "detector/traffic.h"

namespace kdgat::detector {

/// What one method says of the windows of a log, those that count.
struct Verdicts {
  std::vector<float> scores;
  double threshold = 0;
};

/// A log as it was judged.
struct JudgedLog {
  std::string name, part;
  std::string profile;  ///< the vehicle whose profile was used; "" = its own first windows
  int64_t own = 0;      ///< windows that its own profile was learned from, which count nowhere
  std::vector<int64_t> labels;     ///< of the windows that count
  std::vector<double> begin, end;  ///< seconds
  std::vector<double>
      seconds;  ///< listened to: no pause and no jump of the clock is longer than one
  std::vector<uint8_t> shadow;  ///< benign, right after an attack window
  Verdicts detector, rule;      ///< both with the same profile
  Verdicts own_rule;            ///< the rule with the log's own profile; empty where there is none
  int64_t own_rule_first = 0;   ///< window that own_rule begins with, of those that count
};

/// Matches the log with a vehicle of the model by its first windows, or learns its own profile from
/// at most `own_windows` ahead of the first attack row. Throws Error(kData) where there are too few.
JudgedLog judge(const Log& log, const DetectorModel& model, int64_t own_windows);

/// Of some logs together:
/// {"n_samples","attacks","auc","pr_auc","f1","mcc","false_windows","false_outside_shadows",
///  "missed_windows","false_per_hour","false_per_hour_low","false_per_hour_high","benign_hours",
///  "false_events","events","events_found","time_to_alarm","worst_time_to_alarm"}
/// time_to_alarm: median seconds from the first attacked window's begin to the end of the first
/// flagged one, of attacks that were found; null where there is none.
nlohmann::json summarise(std::span<const JudgedLog> logs, const Verdicts JudgedLog::*method);

}  // namespace kdgat::detector
