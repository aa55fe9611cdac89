// What training says to people: what is in the logs, what is learned from and why, what the
// thresholds stand for. No LibTorch.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "detector/detector_model.h"
#include "detector/detector_options.h"
#include "detector/learning.h"
#include "detector/traffic.h"

namespace kdgat::detector {

/// One of each vehicle, of the first ones where there are many. `vehicles`: numbers of logs;
/// `known`: what was learned of each.
std::vector<std::string> sentences_of_logs(std::span<const Log> logs,
                                           const std::vector<std::vector<std::size_t>>& vehicles,
                                           std::span<const Vehicle> known);
/// Of learned windows.
std::string sentence_of_choice(const Learning& learning, const DetectorOptions& options);
/// Of the budget, asked for and taken.
std::string sentence_of_thresholds(const DetectorModel& model, const DetectorOptions& options);

}  // namespace kdgat::detector
