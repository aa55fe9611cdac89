// StoredLog: a log whose frames a store keeps, row by row, and what is wrong with a log. Views into
// the store.
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

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/protocol_ids.h"
#include "engine/data/can/logs/stored_frames.h"
#include "engine/graph/graph_store.h"

namespace kdgat::data {

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
class StoredLog {
 public:
  StoredLog(const graph::Source& source, const graph::Frames& frames, std::size_t index)
      : source_(&source),
        frames_(&frames),
        index_(index),
        begin_(frames.source_ptr[index]),
        rows_(frames.source_ptr[index + 1] - begin_) {}

  std::size_t index() const { return index_; }  ///< among the sources of its store
  const std::string& name() const { return source_->path; }
  /// "test_01..": the folder of a test log.
  const std::string& part() const { return source_->scenario; }
  bool trains() const { return source_->role == "train" && !validates(); }
  bool validates() const { return source_->validates(); }
  int64_t rows() const { return rows_; }
  CanFrame frame(int64_t row) const {
    CanFrame out = frame_of(*frames_, begin_ + row);
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
  uint32_t key(int64_t row) const { return without_priority(key_of(*frames_, begin_ + row)); }
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
  std::size_t index_;
  int64_t begin_, rows_;
  std::shared_ptr<const std::vector<double>> times_;  // in the place of those of the store
};

/// "1 log", "2,000 logs".
std::string counted(int64_t count, const char* of);

/// An id for people, by CanFrame::key(): hexadecimal, "2C0"; behind the number of its bus where
/// that is not the first, "1:2C0".
std::string id_text(uint32_t key);

/// Throws Error(kData) where the store has no frames.
std::vector<StoredLog> stored_logs(const graph::GraphStore& store);

/// Names of two logs of which one is a copy of the other: the same ids, payloads and labels, row by
/// row, whatever their times are.
struct SameContent {
  std::string first, second;
};
/// Of logs of different test parts, or of training and a part; of several copies each beside the
/// first.
std::vector<SameContent> same_content(std::span<const StoredLog> logs);

}  // namespace kdgat::data
