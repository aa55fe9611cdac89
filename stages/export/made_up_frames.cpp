#include "export/made_up_frames.h"

#include <cmath>
#include <cstddef>
#include <queue>
#include <utility>

#include "engine/arrays/random.h"

namespace kdgat::exporting {
namespace {

constexpr uint64_t kSeed = 20'260'501;
constexpr uint32_t kMostSmallId = 0x7FF;
/// Of so many frames the last quarter may be odd.
constexpr int64_t kStretch = 1000;

data::CanFrame frame_of(uint32_t id, double time, uint8_t length) {
  data::CanFrame out;
  out.id = id;
  out.time = std::round(time * 1e6) / 1e6;
  out.length = length;
  out.extended = id > kMostSmallId;
  return out;
}

}  // namespace

std::vector<data::CanFrame> made_up_frames(std::span<const int64_t> keys, int64_t count) {
  struct Sender {
    uint32_t id;
    double period;
    uint8_t length;
    uint64_t counter = 0;
  };
  arrays::Random random(kSeed);
  std::vector<Sender> senders;
  for (const int64_t key : keys) {
    senders.push_back({static_cast<uint32_t>(key), 0.01 * static_cast<double>(1 + random.below(20)),
                       static_cast<uint8_t>(1 + random.below(8))});
  }
  if (senders.empty()) senders.push_back({1, 0.01, 8});
  using Due = std::pair<double, std::size_t>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> queue;
  for (std::size_t i = 0; i < senders.size(); ++i) {
    queue.emplace(random.uniform() * senders[i].period, i);
  }
  std::vector<data::CanFrame> out;
  while (std::ssize(out) < count) {
    const auto [time, number] = queue.top();
    queue.pop();
    Sender& sender = senders[number];
    queue.emplace(time + sender.period * (0.98 + 0.04 * random.uniform()), number);
    const int64_t at = std::ssize(out);
    const bool is_odd = at % kStretch >= kStretch * 3 / 4;
    const int64_t kind = at / kStretch % 4;
    uint32_t id = sender.id;
    uint8_t length = sender.length;
    if (is_odd && kind == 1) id = static_cast<uint32_t>(random.below(kMostSmallId + 1));
    if (is_odd && kind == 2) id = senders.front().id;
    if (is_odd && kind == 3) length = static_cast<uint8_t>(random.below(9));
    data::CanFrame frame = frame_of(id, time, length);
    ++sender.counter;
    for (std::size_t b = 0; b < length; ++b) {
      const bool jumps = (is_odd && kind == 0) || b % 4 == 3;
      frame.payload[b] = static_cast<uint8_t>(jumps        ? random.below(256)
                                              : b % 4 == 0 ? sender.counter >> 8
                                              : b % 4 == 1 ? sender.counter
                                                           : 0x40 + number);
    }
    out.push_back(frame);
  }
  return out;
}

}  // namespace kdgat::exporting
