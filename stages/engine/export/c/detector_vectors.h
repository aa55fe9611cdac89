// Vectors of a detector: made-up traffic of its vehicle and what the program says of it.
#pragma once

#include <string>

#include "engine/decision/detector/detector_model.h"

namespace kdgat::exporting {

/// vectors.h: some windows of traffic on the first bus of a vehicle of the model, each id about as
/// often as in its profile, with frames of others in between, gaps, forged bytes, and clocks that
/// stand still, run back and begin again. What is flagged scores above `threshold`.
std::string detector_vectors(const decision::DetectorModel& model, const data::Vehicle& vehicle,
                             double threshold);

}  // namespace kdgat::exporting
