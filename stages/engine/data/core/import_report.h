// What an import says of itself, while it runs and at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/data/core/note.h"
#include "engine/graph/graph_store.h"

namespace kdgat::data {

/// What an import did, for the user: one line a file, problems with file:line.
struct ImportReport {
  std::vector<graph::Source> sources;
  /// First malformed lines, time going backwards, left-out files, repairs.
  Notes warnings;
  int64_t rows = 0;
  int64_t graphs = 0;
  bool reused = false;  ///< the store was already there, with the same inputs and options
  /// Of texts that were read: {"read_seconds","graph_seconds": of the first pass and
  /// "write_seconds": of the second, "text_bytes","threads","peak_resident_bytes",
  /// "resident_before_bytes"}.
  nlohmann::json build;
};

using ImportProgress = std::function<void(int64_t bytes_done, int64_t bytes_total)>;

}  // namespace kdgat::data
