// The windows that networks are compared on: those that its run validated on or, where its data set
// is not there, of made-up traffic of its own ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/graph/pack.h"
#include "engine/model/config/trained_model.h"

namespace kdgat::exporting {

struct CheckWindows {
  std::string where;  ///< "1,204 validation windows of the run"
  int64_t count = 0;
  /// Calls it for one batch after another.
  std::function<void(const std::function<void(const graph::GraphBatch&)>&)> each;
};

/// `data`: folder of the run's data set; empty: not there. Throws Error(kData) where the model was
/// made for other data.
CheckWindows check_windows(const model::TrainedModel& made, const std::filesystem::path& data,
                           bool with_edge_attr);

}  // namespace kdgat::exporting
