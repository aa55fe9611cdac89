// What a report draws of judged windows: few numbers, however long the logs are.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/compare/comparison.h"
#include "engine/compare/judged_log.h"

namespace kdgat::compare {

/// In the folder of a step that judged windows.
inline constexpr const char* kPicturesFile = "pictures.json";

/// {"shortfalls": [sentence], "measure": "F1",
///  "parts": {part: {
///    "methods": [{"name", "model": bool, "value" (of the measure), "low", "high" (null where
///                 unknown), "attacks", "benign", "hours" (benign), "tp", "fp" (lists: windows flagged at falling
///                 thresholds, from (0, 0) on), "at": {"tp", "fp"} (at the threshold in use),
///                 "histogram": {"from", "to", "benign", "attack"} (of models alone: counts in equal
///                 steps of the score above the threshold; the outer ones hold all beyond them)}],
///    "logs": [{"name", "windows", "axis": "seconds" or "windows", "attacks": [[from, to]],
///              "models": [{"name", "x", "low", "high" (lists: scores above the threshold, by
///                          columns), "alarms": [[from, to]] (see alarms.h)}]}],
///    "more_logs": how many were left out}}}
/// Models come first, as in the comparison.
nlohmann::json pictures_of(const std::vector<JudgedLog>& logs, const Comparison& comparison);

}  // namespace kdgat::compare
