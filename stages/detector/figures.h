// What the detector stage makes of judged logs: its result, and a table of all windows.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "detector/training.h"
#include "engine/compare/comparison.h"
#include "engine/compare/judged_log.h"
#include "kdgat/result.h"

namespace kdgat::detector {

/// Numbers of a part that a run lists, by their names in the metrics (see summarise()).
inline constexpr std::array<const char*, 7> kFigures = {"f1",
                                                        "auc",
                                                        "pr_auc",
                                                        "recall_at_10_per_hour",
                                                        "false_windows",
                                                        "missed_windows",
                                                        "false_per_hour"};

/// Every window that counts: log, part, first row, begin, label, the detector's score, threshold
/// and decision, and the rule's score. CSV.
void write_windows(const std::vector<compare::JudgedLog>& logs, const std::filesystem::path& file);

/// Metrics are those of the comparison, "left_out" (see LeftOut), "parameters" and "thresholds" (by
/// own windows, see DetectorModel). `step`: as which its figures are told.
StageResult result_of(const std::string& step, const TrainedDetector& trained,
                      const compare::Comparison& comparison);

}  // namespace kdgat::detector
