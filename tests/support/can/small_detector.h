// Detectors that learn short logs in a moment.
#pragma once

#include <cstdint>
#include <string>

#include "detector/detector_options.h"
#include "detector/training.h"
#include "engine/decision/detector/detector_model.h"
#include "support/can/can_logs.h"

namespace kdgat::test {

/// Few trees, no baselines, and the budget that the logs support.
inline detector::DetectorOptions small_detector(int64_t trees) {
  detector::DetectorOptions out;
  out.trees = trees;
  out.take_supported = true;
  out.baselines = false;
  return out;
}

/// What it learns of the training logs.
inline decision::DetectorModel detector_of(const LogStore& logs, int64_t trees) {
  const auto nothing = [](const std::string&, double) {};
  return detector::train_detector(logs.training(), small_detector(trees), 42, 1,
                                  {nothing, [](const std::string&) {}})
      .model;
}

}  // namespace kdgat::test
