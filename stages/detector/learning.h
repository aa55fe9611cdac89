// What a detector learns from: the windows of engine/data/can/vehicles/learn_windows.h, a row each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "detector/detector_options.h"
#include "detector/frame_sample.h"
#include "detector/network_source.h"
#include "engine/data/can/vehicles/learn_windows.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/decision/detector/alarms.h"
#include "engine/trees/table.h"

namespace kdgat::detector {

struct LearningSet {
  std::vector<float> values;  ///< [rows, kRelativeColumns]
  std::vector<int64_t> labels;
  std::vector<float> weights;
  std::vector<int32_t> folds;  ///< as in data::SeenWindow
  std::vector<int32_t> own;    ///< as in Held
  /// Benign as they came: not right after an attack, nor seen against a profile that forgot.
  std::vector<uint8_t> plain;
  std::vector<uint8_t> forgetful;  ///< seen against a profile that forgot
  std::vector<uint8_t> begins;     ///< is no window behind the one of the row before it
  std::vector<int8_t> kinds;  ///< of a log with injected attacks, place in Learning::kinds; else -1
  std::vector<float> rule;    ///< what the rule says of it, see RuleWindows
  /// Log-odds by the network, where there is one; of windows that it was trained on the lowest.
  std::vector<float> network;

  trees::Table table() const;
};

/// Benign windows of a log, one after another (those under attack are left out between them), for a
/// threshold: what a model says of them that did not learn from this fold.
struct Held {
  std::vector<float> values;   ///< [windows, kRelativeColumns]
  std::vector<float> network;  ///< [windows] as LearningSet has it; empty where it was trained on
  double seconds = 0;
  int32_t own = 0;  ///< as in data::SeenWindow
  int32_t fold = 0;
  std::size_t log = 0;  ///< place among the training logs
};

struct Learning {
  LearningSet rows;
  FrameSample frames;
  std::vector<Held> held;
  std::vector<std::string> kinds;  ///< of injected attacks
  int64_t windows = 0;             ///< of all logs
};

/// `logs`: of training, in groups by vehicle. What is learned from: learning_size.h. `told` is
/// called now and then with a share of the work done; it may throw. The same for the same seed.
/// `network` scores what it was not trained on. Throws Error(kData) where no log has two ids.
Learning learn(std::span<const data::StoredLog> logs,
               const std::vector<std::vector<std::size_t>>& vehicles,
               const DetectorOptions& options, int64_t seed,
               const std::function<void(double share)>& told, const NetworkSource& network = {});

}  // namespace kdgat::detector
