// Recording: the frames of one capture, with the rows of each id and how regularly it is sent.
// Looks at frames that it does not own. Knows nothing about attacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::data {

/// The true frames of one id: those not labelled as attacks.
struct IdRows {
  uint32_t id = 0;
  bool extended = false;
  std::vector<std::size_t> rows;  ///< ascending
  int64_t period_us = 0;          ///< the median of its gaps
  bool regular = false;           ///< ten frames at least, most of them about a period apart
  int length = 0;                 ///< the shortest of its payloads
};

class Recording {
 public:
  /// Rows have times, and one at least.
  explicit Recording(std::span<const CanFrame> frames);

  std::span<const CanFrame> frames() const { return frames_; }
  std::span<const IdRows> ids() const { return ids_; }  ///< ascending
  /// The latest time up to a row: where a log steps back a little, its clock stands still.
  int64_t clock_us(std::size_t row) const { return clock_us_[row]; }
  int64_t begin_us() const { return clock_us_.front(); }
  int64_t end_us() const { return clock_us_.back(); }

  /// The rows of [begin_us, end_us).
  std::pair<std::size_t, std::size_t> rows_between(int64_t begin_us, int64_t end_us) const;
  /// The rows of one id among them.
  std::span<const std::size_t> rows_between(const IdRows& id, int64_t begin_us,
                                            int64_t end_us) const;

 private:
  void find_period(IdRows& id) const;

  std::span<const CanFrame> frames_;
  std::vector<int64_t> clock_us_;
  std::vector<IdRows> ids_;
};

}  // namespace kdgat::data
