// VehicleProfile: what the benign traffic of one bus looks like, id by id: how often it sends, how
// regularly, how long its payloads are and how far each byte moves from frame to frame. Learned in
// one pass with bounded state; some kilobytes as JSON. Knows no windows and no models.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/data/can/frames/bus_clock.h"
#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/windows/id_steps.h"
#include "engine/portable/windows.h"

namespace kdgat::data {

inline constexpr std::size_t kMostPayload = 64;

/// How far one byte moves from frame to frame.
///
/// A move is the shorter way round the circle of 256 values, so that a signed word that passes zero
/// (00 to FF) moves its high byte by one. Moves are counted in bins of doubling size: 0, 1, 2-3,
/// 4-7, .., 64-127, 128. The surprise of a move is -log2 of the share of moves at least as large,
/// in bits; beyond the largest ever seen, one bit more for each bin.
class ByteMoves {
 public:
  static constexpr int kBins = 9;
  static int bin(uint8_t from, uint8_t to) { return static_cast<int>(kdgat_move_bin(from, to)); }

  void count(int bin) { ++counts_[static_cast<std::size_t>(bin)]; }
  int64_t total() const;
  /// Bits; 0 for a byte that stays. Slow: settle() has made the table that surprise() reads.
  float measure(int bin) const;
  void settle();
  float surprise(int bin) const { return surprise_[static_cast<std::size_t>(bin)]; }

  const std::array<int64_t, kBins>& counts() const { return counts_; }
  void set_counts(const std::array<int64_t, kBins>& counts) { counts_ = counts; }

 private:
  std::array<int64_t, kBins> counts_{};
  std::array<float, kBins> surprise_{};
};

/// The times at which a sender is due, one period apart; see kdgat_off().
class SendingTimes {
 public:
  /// Period in seconds; `tolerance` as a share of it.
  void start(double period, float tolerance) {
    period_ = period;
    tolerance_ = tolerance;
    run_ = 0;
  }
  /// How far from its due time a frame comes: 0 when it is due, 1 half a period away or second to
  /// the same due time. `distance`: to the nearest due time, as a share of the period, at most 1/2.
  float add(double time, float& distance) {
    return kdgat_off(&due_, others_.data(), &run_, period_, tolerance_, time, &distance);
  }

 private:
  double period_ = 0, due_ = 0;
  float tolerance_ = 0;
  std::array<double, 5> others_{};
  uint8_t run_ = 0;
};

/// Laws that the payloads of an id keep, see payload_laws.h. As kdgat_lawful has them.
struct PayloadLaws {
  uint8_t bytes = 0;  ///< of a payload, at most KDGAT_LAW_BYTES
  uint64_t payload = 0, still = 0, slow = 0;
  uint64_t counters = 0, counter_ends = 0, counter_tops = 0;
  std::vector<uint64_t> sums;  ///< first those of slow bits alone
  uint32_t slow_sums = 0;      ///< so many

  bool has_checks() const { return slow_sums < sums.size(); }
  /// As a vehicle has it whose sums of this id begin at `first`.
  kdgat_lawful view(uint32_t first) const {
    return {payload,
            still,
            slow,
            counters,
            counter_ends,
            counter_tops,
            first,
            first + slow_sums,
            first + static_cast<uint32_t>(sums.size()),
            bytes};
  }
  nlohmann::json json() const;
};

/// What is usual for one id.
struct IdProfile {
  static constexpr float kLeastChange = 10;  ///< of `change`: about the first move of a byte

  uint32_t id = 0;
  uint8_t channel = 0;  ///< bus of the log
  int64_t frames = 0;
  double period = 0;  ///< median time between two frames, seconds; 0 where there were too few
  float early = 0;    ///< 99 of 100 gaps are longer than this share of the period
  float late = 0;     ///< 99 of 100 gaps are shorter than this multiple of the period
  float silence = 0;  ///< the longest gap seen, in periods
  float jitter = 0;   ///< 99 of 100 frames come nearer to their due time, share of the period
  float change = 0;   ///< bits of surprise that one frame in a thousand exceeds
  std::bitset<kMostPayload + 1> lengths;  ///< payload lengths seen
  std::vector<ByteMoves> bytes;           ///< as many as the longest payload has
  std::optional<PayloadLaws> laws;        ///< only of ids of several drives, see LawLearner

  /// As CanFrame::key().
  uint32_t key() const { return uint32_t{channel} << 29 | id; }
  bool regular() const { return frames >= 20 && period > 0 && late < 5; }
  /// Whether its silence says something: it was sent all the time, of `seconds` learned, not in
  /// bursts or in some mode.
  bool is_missed(double seconds) const {
    constexpr double kMostOfTheTime = 0.7;
    return regular() && static_cast<double>(frames) * period >= kMostOfTheTime * seconds;
  }
  /// Of fewer frames nobody knows whether it pauses by design. An id of a period of 50 ms has so
  /// many after 15 s.
  static constexpr int64_t kManyFrames = 250;
};

/// Who had which address on a J1939 bus while the profile was learned.
struct AddressName {
  uint8_t channel = 0, address = 0;
  uint64_t name = 0;
};

struct VehicleProfile {
  std::vector<IdProfile> ids;  ///< ascending by channel, then id
  int64_t frames = 0;
  double seconds = 0;    ///< of benign traffic; 0 where the logs have no times
  int64_t outliers = 0;  ///< frames that looked injected and taught nothing
  int64_t dropped = 0;   ///< frames of ids beyond ProfileBuilder::kMostIds, which it does not have
  std::vector<AddressName> names;
  std::vector<IdStep> steps;  ///< only where they were asked for, see ProfileBuilder

  /// By CanFrame::key(), which on the first bus is the id.
  const IdProfile* find(uint32_t key) const;
  /// Usual frames a second of each bus; 0 where there are no times.
  BusActivity::Rates rates() const;
  nlohmann::json json() const;
  /// Throws Error(kData) naming `file` unless it is a profile with every number in its range.
  static VehicleProfile from_json(const nlohmann::json& json, const std::string& file);
};

/// Numbers of which quantiles are wanted: all of them, later every second, fourth.. so that no more
/// than `kMost` are kept.
class Sample {
 public:
  void add(float value);
  int64_t seen() const { return seen_; }
  /// Linear between neighbours; 0 where nothing was added.
  float quantile(double share) const;

 private:
  static constexpr std::size_t kMost = 4096;

  std::vector<float> kept_;
  int64_t seen_ = 0, stride_ = 1;
};

/// Learns a profile, frame by frame. Rows labelled as attacks are passed over. A few that
/// nobody labelled do little harm: periods are medians, and two kinds of frames teach nothing and
/// are counted as outliers: one that splits a usual gap of its id in two while its payload, or
/// length, jumps there and back, as long as the id does so in less than one frame of eight; and
/// those of ids that came no more than three times, where most ids did.
class ProfileBuilder {
 public:
  static constexpr std::size_t kMostIds = 8192;

  /// `with_steps`: which id follows which is learned, too.
  explicit ProfileBuilder(bool with_steps = false) {
    kdgat_clock_init(&clock_);
    if (with_steps) steps_.emplace();
  }

  /// Another log begins: no gap and no move reaches across.
  void restart();
  void add(const CanFrame& frame);
  /// A frame of an attack stood here: no gap and no move reaches across it. A silence may be the
  /// attack, and a flood holds others up.
  void pass_over_attack() {
    ++attacks_;
    if (steps_) steps_->restart();
  }
  /// What was learned so far.
  VehicleProfile profile() const;
  int64_t frames() const { return frames_; }
  /// Frames of ids beyond kMostIds, which are not in the profile.
  int64_t dropped() const { return dropped_; }

 private:
  struct Seen {
    bool is = false;
    double time = 0;
    double asleep = 0;    // BusActivity::asleep() of its bus then
    int64_t attacks = 0;  // rows of them until then
    std::size_t length = 0;
    std::array<uint8_t, kMostPayload> payload{};
  };
  struct State {
    IdProfile out;
    Sample gaps, distances, surprises;
    SendingTimes times;
    double period = 0;          // that `times` was started with last
    int64_t gaps_at_start = 0;  // gaps seen then
    int64_t outliers = 0;
    float silence = 0;  // seconds
    Seen last, held;    // the last one that was learned from, and the one after it

    /// Nothing that follows is compared with what was seen.
    void begin_anew() {
      last.is = false;
      gaps_at_start = 0;
    }
  };
  bool is_outlier(const State& state, const Seen& next) const;
  void learn_held(State& state) const;
  static void add_gap(State& state, double gap, double time);
  static void add_move(State& state);
  void forget_last();

  std::unordered_map<uint32_t, State> ids_;                // by CanFrame::key()
  std::map<std::pair<uint8_t, uint8_t>, uint64_t> names_;  // by channel and address
  int64_t frames_ = 0, dropped_ = 0, outliers_ = 0, attacks_ = 0;
  kdgat_clock clock_{};
  BusActivity activity_;
  std::optional<StepCounter> steps_;
  double seconds_ = 0;
};

/// The profile of some frames of one log, those labelled as attacks left out.
VehicleProfile profile_of(std::span<const CanFrame> frames);

}  // namespace kdgat::data
