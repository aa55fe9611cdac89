// LabelIntervals: the labels of a log that has none in its rows, from a table of intervals beside
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/core/note.h"

namespace kdgat::data {

class LabelIntervals {
 public:
  /// A table with the columns begin, end and, if it likes, id, label and file, by these names or
  /// others that tools give them. Times are those of the log's clock, in seconds or as dates; both
  /// ends belong to the interval. Ids are hexadecimal; none: every frame. A label that means benign
  /// makes no interval; a file is the name of a log, none: every log. Throws Error(kData) with file
  /// and line.
  explicit LabelIntervals(const std::filesystem::path& table);

  /// The frames that follow are those of this log.
  void begin(const std::filesystem::path& log);

  /// 1 for a frame of an interval, 0 for all others; -1 without a time. Asked for each frame whose
  /// row has no label.
  int8_t label_of(const CanFrame& frame);

  /// Call behind the last frame: intervals, and ids, that met no frame, and why that may be.
  Notes notes() const;

 private:
  struct Interval {
    double begin = 0, end = 0;
    int64_t id = -1;  // -1: any
    int64_t line = 0;
    std::string file = "";  // of every log
    bool is_met = false, is_of_log = true;
  };
  void see(const CanFrame& frame);
  std::string shown(const Interval& one) const;
  std::string times() const;

  std::string table_;
  Notes unused_;  // columns
  int64_t benign_ = 0;
  std::vector<Interval> intervals_;  // by their begin
  std::vector<double> latest_end_;   // up to each
  std::map<uint32_t, bool> ids_;     // of intervals, and whether a frame has it
  std::size_t unmet_ = 0;
  int64_t asked_ = 0;                                       // frames without a label
  double first_ = std::numeric_limits<double>::infinity();  // time of these
  double last_ = -std::numeric_limits<double>::infinity();
};

/// Gives a frame whose row has no label that of the table next to its log; nullptr: there is none.
inline void add_label(LabelIntervals* labels, CanFrame& frame) {
  if (labels != nullptr && frame.label < 0) frame.label = labels->label_of(frame);
}

/// The tables beside logs (label_table_of()), each read once: one may be of several logs.
class LabelTables {
 public:
  /// nullptr if there is none. Throws Error(kData).
  LabelIntervals* of(const std::filesystem::path& log);
  /// Call behind the last log: LabelIntervals::notes() of all.
  Notes notes() const;

 private:
  std::map<std::filesystem::path, LabelIntervals> tables_;
};

}  // namespace kdgat::data
