// The logs of a store, and which of them are of one vehicle. Views into the store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/protocol_ids.h"
#include "engine/data/can/logs/stored_frames.h"
#include "engine/data/can/windows/vehicle_profile.h"
#include "engine/graph/graph_store.h"

namespace kdgat::decision {

/// Frames a second of logs without times: for budgets of alarms an hour, and where attacks are
/// injected.
inline constexpr int64_t kAssumedRate = 1000;

/// What windows of a log cannot show, and why: no times, one id only, jumps of the clock, more ids
/// than a profile holds. Bounded state.
class LogProblems {
 public:
  /// The next row: CanFrame::key(), its time as the log has it.
  void add(uint32_t key, double time, bool is_attack, bool restarts);
  std::vector<std::string> sentences() const;

 private:
  std::unordered_set<uint32_t> ids_;  // one more than a profile holds at most
  std::optional<int64_t> beyond_;     // row of the first id that is one too many
  int64_t rows_ = 0, timeless_ = 0, jumps_ = 0;
  double last_ = std::numeric_limits<double>::quiet_NaN(), longest_ = 0;
};

/// Rows of one log, counted from its first.
class Log {
 public:
  Log(const graph::Source& source, const graph::Frames& frames, std::size_t index)
      : source_(&source),
        frames_(&frames),
        begin_(frames.source_ptr[index]),
        rows_(frames.source_ptr[index + 1] - begin_) {}

  const std::string& name() const { return source_->path; }
  /// "test_01..": the folder of a test log.
  const std::string& part() const { return source_->scenario; }
  bool trains() const { return source_->role == "train" && !validates(); }
  bool validates() const { return source_->validates(); }
  int64_t rows() const { return rows_; }
  data::CanFrame frame(int64_t row) const {
    data::CanFrame out = data::frame_of(*frames_, begin_ + row);
    out.time = time(row);
    return out;
  }
  double time(int64_t row) const {
    return times_ != nullptr ? (*times_)[static_cast<std::size_t>(row)]
                             : frames_->time[static_cast<std::size_t>(begin_ + row)];
  }
  uint32_t id(int64_t row) const {
    return static_cast<uint32_t>(frames_->id[static_cast<std::size_t>(begin_ + row)]);
  }
  /// CanFrame::key() without_priority(): what benign_ids() are.
  uint32_t key(int64_t row) const {
    return data::without_priority(data::key_of(*frames_, begin_ + row));
  }
  bool restarts(int64_t row) const { return data::restarts(*frames_, begin_ + row); }
  bool is_attack(int64_t row) const {
    return (frames_->flags[static_cast<std::size_t>(begin_ + row)] & graph::Frames::kAttack) != 0;
  }
  /// Of rows [begin, end): a pause, or a jump of the clock, is no longer than one; 0 without times.
  double seconds(int64_t begin, int64_t end) const;
  /// Rows that do not say whether they are an attack.
  int64_t unlabelled() const;
  bool is_labelled() const { return unlabelled() < rows_; }
  /// From now on no time is earlier than one before it, as far as the last restart: each is the
  /// latest until then.
  void make_monotonic();
  /// Whether no row has a time.
  bool is_timeless() const;
  /// Of LogProblems, each behind its name.
  std::vector<std::string> problems() const;
  /// The first row that is labelled as an attack; rows() if none is.
  int64_t first_attack() const;
  /// Keys of rows without an attack label below `end`, ascending; without diagnostics, which any
  /// tester brings.
  std::vector<uint32_t> benign_ids(int64_t end) const;

 private:
  const graph::Source* source_;
  const graph::Frames* frames_;
  int64_t begin_, rows_;
  std::shared_ptr<const std::vector<double>> times_;  // in the place of those of the store
};

/// "1 log", "2,000 logs".
std::string counted(int64_t count, const char* of);

/// An id for people, by CanFrame::key(): hexadecimal, "2C0"; behind the number of its bus where
/// that is not the first, "1:2C0".
std::string id_text(uint32_t key);

/// Throws Error(kData) where the store has no frames.
std::vector<Log> logs_of(const graph::GraphStore& store);

/// Names of two logs of which one is a copy of the other: the same ids, payloads and labels, row by
/// row, whatever their times are.
struct SameContent {
  std::string first, second;
};
/// Of logs of different test parts, or of training and a part; of several copies each beside the
/// first.
std::vector<SameContent> same_content(std::span<const Log> logs);

/// Rows [begin, end) of a log.
struct Piece {
  const Log* log;
  int64_t begin, end;
};
/// A row of a log: what it teaches. One that is labelled as an attack teaches nothing.
inline void learn_row(const data::CanFrame& frame, bool restarts, data::ProfileBuilder& builder) {
  if (restarts) builder.restart();
  if (frame.label == 1) {
    builder.pass_over_attack();
  } else {
    builder.add(frame);
  }
}
/// What the benign rows of these pieces teach.
data::VehicleProfile learn_profile(std::span<const Piece> pieces);

/// Seconds of its own that the profile of a vehicle never seen is learned from, unless said.
inline constexpr double kOwnSeconds = 15;
/// Frames of its own that a log's profile is learned from at most: they are kept until then.
inline constexpr int64_t kMostOwnFrames = 1'000'000;
inline constexpr int64_t kLeastOwn = 20;  ///< windows; fewer say too little of what is usual
/// Of so many windows those that kMostOwnFrames allow, and at least kLeastOwn.
inline int64_t own_windows_of(int64_t wanted, int64_t window) {
  return std::max(kLeastOwn, std::min(wanted, kMostOwnFrames / window));
}

/// How long traffic was listened to, frame by frame: a pause or a jump of the clock counts a second
/// at most, a frame without a time as at kAssumedRate.
class HeardTime {
 public:
  void add(double time) {
    const double gap = time - last_;
    if (frames_++ > 0) {
      seconds_ +=
          std::isnan(gap) ? 1.0 / static_cast<double>(kAssumedRate) : std::clamp(gap, 0.0, 1.0);
    }
    last_ = time;
  }
  double seconds() const { return seconds_; }

 private:
  int64_t frames_ = 0;
  double last_ = 0, seconds_ = 0;
};

/// Windows that begin in the first `seconds` of a log, as own_windows_of() bounds them; at most
/// those that it has.
int64_t own_windows_in(const Log& log, int64_t window, double seconds);

/// The first `windows` of the log that end ahead of its first attack row, and what they teach; no
/// profile where there are fewer than kLeastOwn.
struct OwnBeginning {
  int64_t windows = 0;
  std::optional<data::VehicleProfile> profile;
};
OwnBeginning learn_own(const Log& log, int64_t window, int64_t windows);

/// Share of ids in both of those in either (Jaccard); 0 of nothing. Both ascending.
double overlap(std::span<const uint32_t> a, std::span<const uint32_t> b);

/// Above which overlap two logs are of one vehicle.
inline constexpr double kSameVehicle = 0.7;

/// Whether three of four ids that both profiles have are sent as often, and with lengths that the
/// larger profile has, too. Ids of few frames say nothing.
bool are_alike(const data::VehicleProfile& some, const data::VehicleProfile& more);

/// Of each vehicle the numbers of its logs: those whose benign traffic has so many ids in common
/// and is alike.
std::vector<std::vector<std::size_t>> group_by_vehicle(std::span<const Log> logs);

/// As `profile`, but that of a share of ids some bytes seem never to have moved.
data::VehicleProfile forget_moves(data::VehicleProfile profile, double share,
                                  arrays::Random& random);

}  // namespace kdgat::decision
