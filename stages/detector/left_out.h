// How training fares on windows that it did not learn from: each fold judged by a model of the
// others. What a detector is known by where there are no test logs.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "detector/cross_fit.h"
#include "detector/learning.h"
#include "engine/decision/detector/detector_model.h"
#include "kdgat/result.h"

namespace kdgat::detector {

/// Windows of one sort, and how many of them each method flags.
struct LeftOutCount {
  int64_t windows = 0, detector = 0, rule = 0;
};

struct LeftOut {
  LeftOutCount labelled;                         ///< attack windows of the logs as they are
  std::map<std::string, LeftOutCount> injected;  ///< attack windows by kind of attack
  LeftOutCount benign;                           ///< of the logs as they are: flagged is false
  int64_t odd_benign = 0;   ///< of these, with evidence and odds of an attack above least_odds
  double benign_hours = 0;  ///< of Held windows

  /// {"labelled","benign": {"windows","detector","rule"}, "injected": {kind: the same},
  ///  "benign_hours"}
  nlohmann::json json() const;
  /// A row for each sort that has windows.
  ResultTable table() const;
};

/// Against the thresholds of `model`, by its alarm rule. A window is counted once for each profile
/// that it was seen against. Rows that no fold's model judged do not count. `fit`: of
/// learning.rows. `least`: log-odds, see DetectorOptions::least_odds.
LeftOut left_out_figures(const Learning& learning, const CrossFit& fit,
                         const decision::DetectorModel& model, double least);

}  // namespace kdgat::detector
