#include "detector/network_source.h"

#include <algorithm>

namespace kdgat::detector {

HeldOutWindows::HeldOutWindows(const graph::GraphStore& store, const graph::Split& split)
    : logs_(store.sources().size()) {
  for (OfLog& log : logs_) log.is_whole = true;
  for (const auto& [part, ids] : split.parts) {
    for (const int64_t id : ids) {
      const auto g = static_cast<std::size_t>(id);
      OfLog& log = logs_[static_cast<std::size_t>(store.source_of()[g])];
      if (part == "val") {
        log.begins.push_back(store.row_begin()[g]);
      } else {
        log.is_whole = false;
      }
    }
  }
  for (OfLog& log : logs_) {
    std::sort(log.begins.begin(), log.begins.end());
    log.is_whole = log.is_whole && !log.begins.empty();
  }
}

bool HeldOutWindows::has(const data::StoredLog& log, const data::SeenWindow& window) const {
  const OfLog& of = logs_.at(log.index());
  return of.is_whole ||
         (window.kind < 0 && std::binary_search(of.begins.begin(), of.begins.end(), window.row));
}

}  // namespace kdgat::detector
