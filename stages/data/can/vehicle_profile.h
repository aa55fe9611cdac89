// VehicleProfile: what the benign traffic of one bus looks like, id by id: how often it sends, how
// regularly, how long its payloads are and how far each byte moves from frame to frame. Learned in
// one pass with bounded state; some kilobytes as JSON. Knows no windows and no models. No LibTorch.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/can/can_frame.h"

namespace kdgat::graph {

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
  static int bin(uint8_t from, uint8_t to);

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

/// The times at which a sender is due, one period apart. It follows the frames that come when they
/// are due, so that neither an injected frame nor an error of the period moves it, and starts anew
/// where several frames in a row agree on other times.
class SendingTimes {
 public:
  /// Period in seconds; `tolerance` as a share of it.
  void start(double period, float tolerance) {
    period_ = period;
    tolerance_ = tolerance;
    due_ = std::numeric_limits<double>::quiet_NaN();
    run_ = 0;
  }
  /// How far from its due time a frame comes: 0 when it is due, 1 half a period away or second to
  /// the same due time. `distance`: to the nearest due time, as a share of the period, at most 1/2.
  float add(double time, float& distance);

 private:
  static constexpr int kAgree = 5, kMostOff = 12;

  double period_ = 0, due_ = std::numeric_limits<double>::quiet_NaN();
  float tolerance_ = 0;
  int run_ = 0;                          // frames in a row that were not due
  std::array<double, kAgree> others_{};  // their times
};

/// What is usual for one id.
struct IdProfile {
  static constexpr float kLeastChange = 10;  ///< of `change`: about the first move of a byte

  uint32_t id = 0;
  int64_t frames = 0;
  double period = 0;  ///< median time between two frames, seconds; 0 where there were too few
  float early = 0;    ///< 99 of 100 gaps are longer than this share of the period
  float late = 0;     ///< 99 of 100 gaps are shorter than this multiple of the period
  float silence = 0;  ///< the longest gap seen, in periods
  float jitter = 0;   ///< 99 of 100 frames come nearer to their due time, share of the period
  float change = 0;   ///< bits of surprise that one frame in a thousand exceeds
  std::bitset<kMostPayload + 1> lengths;  ///< payload lengths seen
  std::vector<ByteMoves> bytes;           ///< as many as the longest payload has

  bool regular() const { return frames >= 20 && period > 0 && late < 5; }
  /// Bits of surprise of the move from one payload to the next, over `length` bytes.
  float surprise(const uint8_t* from, const uint8_t* to, std::size_t length) const;
  /// Whether a byte moved that moves in less than one frame of eight.
  bool rare_change(const uint8_t* from, const uint8_t* to, std::size_t length) const;
};

struct VehicleProfile {
  std::vector<IdProfile> ids;  ///< ascending by id
  int64_t frames = 0;
  double seconds = 0;  ///< of benign traffic; 0 where the logs have no times

  const IdProfile* find(uint32_t id) const;
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

/// Learns a profile, frame by frame. Rows labelled as attacks are not to be added.
class ProfileBuilder {
 public:
  static constexpr std::size_t kMostIds = 8192;

  /// Another log begins: no gap and no move reaches across.
  void restart();
  void add(const CanFrame& frame);
  /// What was learned so far.
  VehicleProfile profile() const;
  int64_t frames() const { return frames_; }
  /// Frames of ids beyond kMostIds, which are not in the profile.
  int64_t dropped() const { return dropped_; }

 private:
  struct State {
    IdProfile out;
    Sample gaps, distances, surprises;
    SendingTimes times;
    int64_t gaps_at_start = 0;  // gaps seen when `times` was started last
    float silence = 0;          // seconds
    bool has_last = false;
    double last_time = 0;
    std::size_t last_length = 0;
    std::array<uint8_t, kMostPayload> last{};
  };
  void add_gap(State& state, double gap, double time);
  void add_move(State& state, const CanFrame& frame);

  std::unordered_map<uint32_t, State> ids_;
  int64_t frames_ = 0, dropped_ = 0;
  static constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();
  double seconds_ = 0, now_ = kNoTime;  // the latest time of this log: steps back are not followed
};

/// The profile of some frames of one log, those labelled as attacks left out.
VehicleProfile profile_of(std::span<const CanFrame> frames);

}  // namespace kdgat::graph
