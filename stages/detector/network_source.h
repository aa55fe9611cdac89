// A trained network in the place of a detector's trees, and which windows it was not trained on: by
// these its thresholds are chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/data/can/vehicles/learn_windows.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/decision/detector/relative_network.h"
#include "engine/graph/graph_store.h"

namespace kdgat::detector {

/// Windows of logs that are in no other part than "val". Views nothing.
class HeldOutWindows {
 public:
  HeldOutWindows() = default;
  HeldOutWindows(const graph::GraphStore& store, const graph::Split& split);

  /// Of one with injected attacks: whether all of its log is. `log`: where `window` is from.
  bool has(const data::StoredLog& log, const data::SeenWindow& window) const;

 private:
  struct OfLog {
    std::vector<int64_t> begins;  // rows, ascending
    bool is_whole = false;        // no graph of the log is in another part
  };
  std::vector<OfLog> logs_;  // by source of the store
};

struct NetworkSource {
  std::shared_ptr<const decision::RelativeNetwork> network;  ///< null: there is none
  HeldOutWindows held_out;

  explicit operator bool() const { return network != nullptr; }
};

}  // namespace kdgat::detector
