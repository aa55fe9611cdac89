// Training of a detector: from logs to a model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "detector/detector_options.h"
#include "detector/left_out.h"
#include "detector/network_source.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/decision/detector/detector_model.h"

namespace kdgat::detector {

/// What training tells whoever started it. Each may throw, to stop.
struct TrainingTold {
  std::function<void(const std::string& phase, double share)> progress;
  std::function<void(const std::string& sentence)> log;
};

struct TrainedDetector {
  decision::DetectorModel model;
  LeftOut left_out;
  std::vector<std::string> not_learned;  ///< sentences: logs that look attacked
};

/// Leaves out logs without labels that look attacked to models of the others. Learns profiles, the
/// classifier, the tails and their thresholds: twice from all folds but one, then from all of them.
/// The same for the same seed, whatever the number of threads. A network takes the place of the
/// trees, at thresholds by the windows that it was not trained on; where logs have no labels, trees
/// still look for those that are attacked. Throws Error(kData) where the logs are too short, or the
/// network was trained on all that is benign; Error(kUsage) where they do not support the budget.
TrainedDetector train_detector(std::span<const data::StoredLog> logs,
                               const DetectorOptions& options, int64_t seed, int64_t threads,
                               const TrainingTold& told, const NetworkSource& network = {});

}  // namespace kdgat::detector
