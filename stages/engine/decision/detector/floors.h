// Floors: how large one column of a window must be by itself for the window to be flagged. Trees
// rank windows; a high rank of many small oddities alone is no alarm.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/portable/evidence.h"

namespace kdgat::decision {

/// Of the column silence: from here on an id is missing, and its window is flagged by itself.
inline constexpr float kMissing = KDGAT_MISSING;
/// Of the columns of a window.
inline bool is_missing(std::span<const float> row) { return row[KDGAT_COL_SILENCE] >= kMissing; }
/// Powers of ten by which it is above the threshold of the tails.
inline constexpr double kSure = KDGAT_SURE;

/// Of some columns, ascending; a column without one is no evidence. Never empty.
class Floors {
 public:
  /// In units of what is usual, as engine/data/can/windows/relative_windows.h has them.
  Floors();

  bool are_reached(std::span<const float> row) const {
    return kdgat_has_evidence(floors_.data(), static_cast<uint32_t>(floors_.size()), row.data()) !=
           0;
  }
  std::span<const kdgat_floor> all() const { return floors_; }

  /// {column: least}
  nlohmann::json json() const;
  /// Throws Error(kData) naming `file` where it is no such object.
  static Floors from_json(const nlohmann::json& json, const std::string& file);

 private:
  explicit Floors(std::vector<kdgat_floor> floors) : floors_(std::move(floors)) {}

  std::vector<kdgat_floor> floors_;
};

}  // namespace kdgat::decision
