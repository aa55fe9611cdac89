// Which id sends behind which on a bus, how often and how long after it: what is usual of the edges
// of a window's graph.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/row_fields.h"

namespace kdgat::data {

/// From one id to the one that sends next on its bus.
struct IdStep {
  uint32_t from = 0, to = 0;  ///< CanFrame::key() of both
  int64_t frames = 0;
  double gap = 0;  ///< seconds, the mean; 0 without times

  bool operator==(const IdStep&) const = default;
};

/// Counts them while frames come; bounded.
class StepCounter {
 public:
  static constexpr std::size_t kMostSteps = std::size_t{1} << 16;  ///< others are not counted

  /// The next frame; `now`: of a clock that never steps back, NaN without times.
  void add(const CanFrame& frame, double now);
  /// Nothing that follows is a step from what came.
  void restart() { last_ = {}; }
  /// Those that were seen twice or more, ascending by `from`, then `to`.
  std::vector<IdStep> steps() const;

 private:
  struct Last {
    bool is = false;
    uint32_t key = 0;
    double time = 0;
  };
  struct Sum {
    int64_t frames = 0, timed = 0;
    double seconds = 0;
  };
  std::array<Last, kMostChannels> last_{};
  std::unordered_map<uint64_t, Sum> sums_;  // by both keys
};

}  // namespace kdgat::data
