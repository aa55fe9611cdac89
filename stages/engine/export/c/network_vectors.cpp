#include "engine/export/c/network_vectors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/windows/log_windows.h"
#include "engine/export/c/portable_level.h"
#include "engine/export/c/vector_text.h"
#include "engine/portable/alarms.h"

namespace kdgat::exporting {

namespace {

/// Traffic that has everything in it that a detector must take.
class MadeTraffic {
 public:
  explicit MadeTraffic(const std::vector<int64_t>& vocabulary) {
    constexpr std::size_t kIds = 40;
    for (std::size_t i = 0; i < std::min(kIds, vocabulary.size()); ++i) {
      ids_.push_back(static_cast<uint32_t>(vocabulary[random_.below(vocabulary.size())]));
    }
  }

  /// `restarts`: the clock falls by seconds.
  data::CanFrame next(bool restarts) {
    data::CanFrame out;
    const uint64_t kind = random_.below(100);
    time_ += kind < 5 ? 0 : kind < 8 ? -0.004 : 0.0002 * static_cast<double>(random_.below(20));
    if (restarts) time_ -= 3;
    out.time = kind == 8 ? std::numeric_limits<double>::quiet_NaN() : time_;
    const bool is_known = !ids_.empty() && random_.below(20) != 0;
    if (is_known) {
      // Some ids come far more often than others, as on a bus.
      const uint64_t n = ids_.size();
      at_ = random_.below(3) == 0 ? random_.below(n) : (at_ + 1) % std::max<uint64_t>(1, n / 2);
      out.id = ids_[at_] & 0x1FFFFFFFU;
    } else {
      out.id = static_cast<uint32_t>(random_.below(1U << 29) >> (random_.below(2) * 18));
    }
    out.extended = out.id > 0x7FF;
    constexpr std::array<uint8_t, 8> kLengths = {8, 8, 8, 8, 8, 3, 0, 64};
    out.length = kLengths[random_.below(kLengths.size())];
    for (int i = 0; i < out.length; ++i) {
      out.payload[static_cast<std::size_t>(i)] = static_cast<uint8_t>(random_.below(256));
    }
    return out;
  }

 private:
  arrays::Random random_{24};
  std::vector<uint32_t> ids_;
  uint64_t at_ = 0;
  double time_ = 1000;
};

}  // namespace

std::string network_vectors(const decision::WindowNetwork& windows, const NetworkCOptions& options,
                            std::unique_ptr<native::GraphNetwork> network) {
  constexpr int64_t kWindows = 12, kMostFrames = 4000;
  const PortableLevel level;
  data::FrameWindows pending(windows.shape, data::Vocabulary(windows.vocabulary));
  kdgat_alarms alarms;
  kdgat_alarms_init(&alarms);
  VectorText out;
  graph::GraphBatch batch;
  float score = 0;
  // What is complete is one window at most.
  const auto judge = [&] {
    if (pending.complete() == 0) return 0;
    float raw = 0;
    graph::gather(pending.graphs(), std::vector<int64_t>{0}, network->with_edge_attr(), batch);
    network->raw_scores(batch, {&raw, 1});
    const double begin = pending.time(0), end = pending.end(0);
    pending.clear();
    score = static_cast<float>(network->score_of(raw));
    const float compared = options.on_raw ? raw : score;
    return kdgat_alarms_add(&alarms, options.threshold, compared, begin, end);
  };
  const int64_t wanted = windows.shape.window + kWindows * windows.shape.stride + 3;
  const int64_t frames = std::clamp<int64_t>(wanted, 2 * windows.shape.window + 3,
                                             std::max(kMostFrames, 2 * windows.shape.window + 3));
  MadeTraffic traffic(windows.vocabulary);
  for (int64_t i = 0; i < frames; ++i) {
    // Two recordings: the second one begins in the middle of a window, behind a whole one.
    const bool restarts = i == frames / 2;
    const data::CanFrame frame = traffic.next(restarts);
    pending.add(frame, restarts);
    out.add(frame);
    if (const int said = judge(); said != 0) out.expect(said, score);
  }
  pending.finish();
  if (const int said = judge(); said != 0) out.expect(said, score);
  if (const int said = kdgat_alarms_finish(&alarms); said != 0) out.expect(said, score);
  return out.text();
}

}  // namespace kdgat::exporting
