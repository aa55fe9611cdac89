#include "engine/data/can/frames/recording.h"

#include <algorithm>
#include <limits>
#include <map>

#include "engine/data/can/frames/bus_slots.h"

namespace kdgat::data {
namespace {

constexpr std::size_t kFewestFrames = 10;

}  // namespace

Recording::Recording(std::span<const CanFrame> frames) : frames_(frames) {
  std::map<std::pair<bool, uint32_t>, IdRows> by_id;  // an 11-bit id and a 29-bit one may be equal
  int64_t clock = std::numeric_limits<int64_t>::min();
  clock_us_.reserve(frames.size());
  for (std::size_t row = 0; row < frames.size(); ++row) {
    const CanFrame& frame = frames[row];
    clock = std::max(clock, microseconds(frame.time));
    clock_us_.push_back(clock);
    if (frame.label == 1) continue;
    IdRows& id = by_id[{frame.extended, frame.id}];
    id.length = id.rows.empty() ? frame.length : std::min<int>(id.length, frame.length);
    id.rows.push_back(row);
  }
  ids_.reserve(by_id.size());
  for (auto& [key, id] : by_id) {
    id.extended = key.first;
    id.id = key.second;
    find_period(id);
    ids_.push_back(std::move(id));
  }
}

void Recording::find_period(IdRows& id) const {
  if (id.rows.size() < 2) return;
  std::vector<int64_t> gaps;
  gaps.reserve(id.rows.size() - 1);
  for (std::size_t i = 1; i < id.rows.size(); ++i) {
    gaps.push_back(clock_us_[id.rows[i]] - clock_us_[id.rows[i - 1]]);
  }
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  const int64_t period = std::max<int64_t>(1, *middle);
  const auto near = std::count_if(gaps.begin(), gaps.end(), [period](int64_t gap) {
    return gap > period / 2 && gap < period + period / 2;
  });
  id.period_us = period;
  id.regular = id.rows.size() >= kFewestFrames && 4 * near >= 3 * std::ssize(gaps);
}

std::pair<std::size_t, std::size_t> Recording::rows_between(int64_t begin_us,
                                                            int64_t end_us) const {
  const auto from = std::lower_bound(clock_us_.begin(), clock_us_.end(), begin_us);
  const auto to = std::lower_bound(from, clock_us_.end(), end_us);
  return {static_cast<std::size_t>(from - clock_us_.begin()),
          static_cast<std::size_t>(to - clock_us_.begin())};
}

std::span<const std::size_t> Recording::rows_between(const IdRows& id, int64_t begin_us,
                                                     int64_t end_us) const {
  const auto [first, last] = rows_between(begin_us, end_us);
  const auto from = std::lower_bound(id.rows.begin(), id.rows.end(), first);
  const auto to = std::lower_bound(from, id.rows.end(), last);
  return {from, to};
}

}  // namespace kdgat::data
