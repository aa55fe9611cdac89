// A sweep in words: tables of its trials, the best one, and what it would be on another device.
// Pure: from what tune.json says.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/tune/saved_sweep.h"

namespace kdgat {

/// The options that trials differ in.
std::vector<std::string> tried_keys(const SavedSweep& sweep);

/// One line a trial, the best first: its values, the metric, further numbers of validation, memory
/// and time.
std::string trials_table(const SavedSweep& sweep);
/// The best trial and what test data say of it; how long it all took.
std::string best_lines(const SavedSweep& sweep);

/// What the trials would be on a device of `total` bytes of which `buffer` stay free, against the
/// published rule with `model` bytes a trial: {"total", "trials", "measured": {...}, "published":
/// {...}}. `copies` of each trial.
nlohmann::json simulation_json(const SavedSweep& sweep, double total, double buffer, double model,
                               int64_t copies);
std::string simulation_text(const nlohmann::json& simulation);

}  // namespace kdgat
