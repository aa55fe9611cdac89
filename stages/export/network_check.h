// Scores of a network as the native engine computes them, held against LibTorch's.
#pragma once

#include "engine/model/config/trained_model.h"
#include "engine/native/networks.h"
#include "export/check.h"
#include "export/check_windows.h"

namespace kdgat::exporting {

/// Throws Error(kData) for a model that cannot be loaded.
Check check_by_torch(const model::TrainedModel& made, native::GraphNetwork& network,
                     const CheckWindows& windows, double threshold);

}  // namespace kdgat::exporting
