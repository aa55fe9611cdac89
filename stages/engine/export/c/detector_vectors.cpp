#include "engine/export/c/detector_vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/decision/detector/alarms.h"
#include "engine/decision/detector/window_scorer.h"
#include "engine/export/c/portable_level.h"
#include "engine/export/c/vector_text.h"
#include "engine/portable/alarms.h"

namespace kdgat::exporting {
namespace {

using data::IdProfile;

/// A vehicle's traffic as its profile has it, more or less.
class ProfileTraffic {
 public:
  explicit ProfileTraffic(const data::VehicleProfile& profile) : bus_(profile.ids.front().channel) {
    constexpr double kRare = 0.5;  // seconds: of an id without a period
    for (const IdProfile& one : profile.ids) {
      if (one.channel != bus_) continue;
      const double period = one.period > 0 ? std::min(one.period, kRare) : kRare;
      senders_.push_back({&one, period, start_ + period * random_.uniform(), first_payload(one)});
    }
  }

  /// `part`: 0 usual, 1 forged bytes beside true ones, 2 an id that is silent, and other ids.
  data::CanFrame next(int part) {
    constexpr uint64_t kForged = 4, kOthers = 6, kOdd = 150;
    data::CanFrame out;
    if (part == 2 && random_.below(kOthers) == 0) {
      out = other();
    } else {
      Sender& sender = next_sender();
      now_ = std::max(now_, sender.due);
      sender.due += sender.period * (1 + 0.02 * (random_.uniform() - 0.5));
      out = frame_of(sender);
      if (part == 1 && random_.below(kForged) == 0) {
        for (int i = 0; i < out.length; ++i) out.payload[at(i)] ^= byte();
        sender.due -= sender.period / 2;
      }
      if (part == 2 && &sender == &senders_.front()) sender.due += kLongSilence;
    }
    now_ += kFrame * static_cast<double>(random_.below(4));  // some come at the same time
    out.time = now_;
    const uint64_t odd = random_.below(kOdd);
    if (odd == 0) out.time = std::numeric_limits<double>::quiet_NaN();
    if (odd == 1) out.time = now_ - 0.003;
    return out;
  }
  /// Another recording: the clock falls.
  void restart() {
    constexpr double kFall = 50;
    now_ -= kFall;
    for (Sender& sender : senders_) sender.due -= kFall;
  }

 private:
  static constexpr double kFrame = 1e-4, kLongSilence = 1;

  struct Sender {
    const IdProfile* usual;
    double period, due;
    std::array<uint8_t, data::kMostPayload> payload;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  uint8_t byte() { return static_cast<uint8_t>(random_.below(256)); }

  std::array<uint8_t, data::kMostPayload> first_payload(const IdProfile& one) {
    std::array<uint8_t, data::kMostPayload> out{};
    for (std::size_t i = 0; i < one.bytes.size(); ++i) out[i] = byte();
    return out;
  }

  Sender& next_sender() {
    return *std::min_element(senders_.begin(), senders_.end(),
                             [](const Sender& a, const Sender& b) { return a.due < b.due; });
  }

  /// Bytes that usually move move by a little.
  data::CanFrame frame_of(Sender& sender) {
    const IdProfile& usual = *sender.usual;
    for (std::size_t i = 0; i < usual.bytes.size(); ++i) {
      if (usual.bytes[i].surprise(1) < 2)
        sender.payload[i] += static_cast<uint8_t>(random_.below(3));
    }
    data::CanFrame out;
    out.id = usual.id;
    out.extended = usual.id > 0x7FF;
    out.channel = bus_;
    for (std::size_t length = 0; length <= data::kMostPayload; ++length) {
      if (usual.lengths.test(length)) out.length = static_cast<uint8_t>(length);
    }
    if (random_.below(200) == 0) out.length = static_cast<uint8_t>(random_.below(9));
    std::copy_n(sender.payload.begin(), out.length, out.payload.begin());
    return out;
  }

  /// Of a tester, a claim of an address, or an id that nobody has.
  data::CanFrame other() {
    data::CanFrame out;
    out.channel = bus_;
    const uint64_t kind = random_.below(3);
    out.id = kind == 0   ? 0x7E0 + static_cast<uint32_t>(random_.below(16))
             : kind == 1 ? 0x18EEFF00U + static_cast<uint32_t>(random_.below(4))
                         : static_cast<uint32_t>(random_.below(0x800));
    out.extended = out.id > 0x7FF;
    out.length = 8;
    for (int i = 0; i < out.length; ++i) out.payload[at(i)] = byte();
    return out;
  }

  arrays::Random random_{24};
  uint8_t bus_;
  double start_ = 1000, now_ = start_;
  std::vector<Sender> senders_;
};

}  // namespace

std::string detector_vectors(const decision::DetectorModel& model, const data::Vehicle& vehicle,
                             double threshold) {
  constexpr int64_t kUsual = 8, kForged = 6, kWindows = 24, kMostFrames = 6000;
  VectorText out;
  kdgat_alarms alarms;
  kdgat_alarms_init(&alarms);
  float score = 0;
  const PortableLevel portable;  // of a network
  decision::WindowScorer watch(model, "vectors", 0, [&](const decision::JudgedWindow& window) {
    score = window.score;
    out.expect(kdgat_alarms_add(&alarms, threshold, score, window.time, window.relative.end),
               score);
  });
  watch.take(vehicle);
  ProfileTraffic traffic(vehicle.profile);
  const int64_t most = std::max(kMostFrames, 2 * model.window + 7);
  const int64_t frames = std::min(kWindows * model.window + 7, most);
  double last = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < frames; ++i) {
    const int64_t share = kWindows * i / frames;
    if (i == frames / 2 + 3) traffic.restart();
    const data::CanFrame frame = traffic.next(share < kUsual             ? 0
                                              : share < kUsual + kForged ? 1
                                              : share < 20               ? 2
                                                                         : 0);
    const bool restarts = last - frame.time >= data::kClockRestart;
    if (!std::isnan(frame.time)) last = frame.time;
    out.add(frame);
    watch.add(frame, restarts);
  }
  watch.finish();
  if (const int said = kdgat_alarms_finish(&alarms); said != 0) out.expect(said, score);
  return out.text();
}

}  // namespace kdgat::exporting
