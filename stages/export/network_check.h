// Scores of a network as the native engine computes them, held against LibTorch's.
#pragma once

#include "export/check.h"
#include "export/check_windows.h"
#include "model/trained_model.h"
#include "native/networks.h"

namespace kdgat::exporting {

/// Throws Error(kData) for a model that cannot be loaded.
Check check_by_torch(const model::TrainedModel& made, native::GraphNetwork& network,
                     const CheckWindows& windows, double threshold);

}  // namespace kdgat::exporting
