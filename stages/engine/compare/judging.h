// What a detector and the rule say of a log.
#pragma once

#include <cstdint>

#include "engine/compare/baselines.h"
#include "engine/compare/judged_log.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/decision/detector/detector_model.h"

namespace kdgat::compare {

inline constexpr const char* kDetector = "detector";
/// See rule.h; with the same profile as the detector.
inline constexpr const char* kRule = "rule";

/// Matches the log with a vehicle of the model by its first windows, or learns its own profile from
/// those of model.own_seconds ahead of the first attack row. Throws Error(kData) where there are
/// too few. The detector, the rule, and all baselines where there are any.
JudgedLog judge(const data::StoredLog& log, const decision::DetectorModel& model,
                const Baselines* baselines = nullptr);

}  // namespace kdgat::compare
