// What training says to people: what is in the logs, what is learned from and why, what the
// thresholds stand for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "detector/cross_fit.h"
#include "detector/detector_options.h"
#include "detector/learning.h"
#include "detector/left_out.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/data/can/vehicles/vehicles.h"
#include "engine/decision/detector/detector_model.h"

namespace kdgat::detector {

/// One of each vehicle, of the first ones where there are many. `vehicles`: numbers of logs;
/// `known`: what was learned of each.
std::vector<std::string> sentences_of_logs(std::span<const data::StoredLog> logs,
                                           const std::vector<std::vector<std::size_t>>& vehicles,
                                           std::span<const data::Vehicle> known);
/// Logs and rows without labels that are taken as benign although others have labels; "" if there
/// are none.
std::string sentence_of_unlabelled(std::span<const data::StoredLog> logs);
/// That the log was not learned from, and why.
std::string sentence_of_attacked(const data::StoredLog& log, const FlaggedCount& count);
/// That far more benign windows look like attacks than the budget allows; "" if not.
std::string sentence_of_odd_benign(const LeftOut& left_out, const decision::DetectorModel& model);
/// Which injected attacks the detector finds, finds in part and is blind to, by the windows that
/// were left out of training in turn; "" where there are none.
std::string sentence_of_reach(const LeftOut& left_out);
/// Vehicles of which little benign traffic was learned: one drive alone, or less than
/// kFewSeconds; "" where there are none.
inline constexpr double kFewSeconds = 300;
std::string sentence_of_little(const std::vector<std::vector<std::size_t>>& vehicles,
                               std::span<const data::Vehicle> known);
/// Of which vehicles laws of payloads are known.
std::string sentence_of_laws(const std::vector<std::vector<std::size_t>>& vehicles,
                             std::span<const data::Vehicle> known);
/// Which windows a network's thresholds are chosen by.
std::string sentence_of_network(const Learning& learning, const decision::RelativeNetwork& network);
/// Of learned windows.
std::string sentence_of_choice(const Learning& learning, const DetectorOptions& options);
/// Of the budget, asked for and taken.
std::string sentence_of_thresholds(const decision::DetectorModel& model,
                                   const DetectorOptions& options);

}  // namespace kdgat::detector
