// Windows of a log in fifteen plain numbers, as a page of a script would compute them: what a
// learned detector has to be better than. The columns are those of the published comparison that
// the baselines are checked against; no model of this program uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/data/can/vehicles/learn_profile.h"
#include "engine/data/can/vehicles/stored_log.h"

namespace kdgat::compare {

/// What is usual: ids, the period of each, and which id follows which.
class PlainProfile {
 public:
  /// Of the benign rows of these pieces. An id's period is the median over the pieces of the median
  /// gap in each, in seconds; a piece with fewer than four frames of it says nothing.
  static PlainProfile learn(std::span<const data::Piece> pieces);

  bool knows(uint32_t id) const { return period_.contains(id); }
  /// NaN where no piece says one.
  double period(uint32_t id) const;
  bool follows(uint32_t id, uint32_t before) const { return pairs_.contains(pair(before, id)); }

 private:
  static uint64_t pair(uint32_t before, uint32_t id) { return uint64_t{before} << 32 | id; }

  std::unordered_map<uint32_t, double> period_;
  std::unordered_set<uint64_t> pairs_;
};

/// The columns, in their order. "Gap": time since the last frame of the id; "relative": in its
/// periods. Missing gaps are 9 s, missing relative ones 0.
enum class Plain : uint8_t {
  kSpan,          ///< seconds from the first frame to the last
  kIds,           ///< distinct ids
  kLargestShare,  ///< of the frames, of one id
  kEntropy,       ///< of these shares, nats
  kUnknown,       ///< share of frames whose id the profile does not have
  kLeastGap,
  kMedianGap,
  kLeastRelative,
  kEarly,         ///< share of frames with a relative gap below 1/2
  kLate,          ///< share above 2
  kMeanRelative,  ///< relative gaps above 5 count as 5
  kLeastId,
  kChanged,  ///< share of frames whose payload differs from that of their id before; the first does
  kZero,     ///< share of frames with no byte but 0
  kNewPairs,  ///< share of frames that never followed the id before them
  kCount
};
inline constexpr std::size_t kPlainColumns = static_cast<std::size_t>(Plain::kCount);

struct PlainWindows {
  std::vector<float> values;    ///< [windows, kPlainColumns]
  std::vector<int64_t> labels;  ///< 1 where a frame is labelled as an attack, else 0

  int64_t size() const { return std::ssize(labels); }
  float at(int64_t window, Plain column) const {
    return values[static_cast<std::size_t>(window) * kPlainColumns +
                  static_cast<std::size_t>(column)];
  }
  /// Rows [begin, end) of `values`.
  std::span<const float> rows(int64_t begin, int64_t end) const;
};

/// All complete windows of the log. No gap reaches across a restart.
PlainWindows plain_windows(const data::StoredLog& log, const PlainProfile& profile, int64_t window);

}  // namespace kdgat::compare
