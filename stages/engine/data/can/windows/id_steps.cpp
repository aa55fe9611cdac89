#include "engine/data/can/windows/id_steps.h"

#include <algorithm>
#include <tuple>

#include "engine/data/can/frames/bus_clock.h"
#include "engine/data/can/frames/protocol_ids.h"

namespace kdgat::data {

void StepCounter::add(const CanFrame& frame, double now) {
  if (is_diagnostic(frame.id)) return;  // a tester's, which no window's graph has
  const uint32_t key = frame.key();
  Last& last = last_[frame.channel];
  if (last.is) {
    const uint64_t pair = uint64_t{last.key} << 32 | key;
    const auto found = sums_.find(pair);
    if (found != sums_.end() || sums_.size() < kMostSteps) {
      Sum& sum = found != sums_.end() ? found->second : sums_[pair];
      ++sum.frames;
      if (const double gap = now - last.time; gap >= 0) {
        ++sum.timed;
        sum.seconds += std::min(gap, kLongestPause);  // a pause is not usual
      }
    }
  }
  last = {true, key, now};
}

std::vector<IdStep> StepCounter::steps() const {
  constexpr int64_t kOften = 2;
  std::vector<IdStep> out;
  for (const auto& [pair, sum] : sums_) {
    if (sum.frames < kOften) continue;
    out.push_back({static_cast<uint32_t>(pair >> 32), static_cast<uint32_t>(pair), sum.frames,
                   sum.timed > 0 ? sum.seconds / static_cast<double>(sum.timed) : 0});
  }
  std::sort(out.begin(), out.end(), [](const IdStep& a, const IdStep& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  return out;
}

}  // namespace kdgat::data
