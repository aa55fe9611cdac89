// LabelIntervals: the labels of a log that has none in its rows, from a table of intervals beside
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::data {

class LabelIntervals {
 public:
  /// A table with the columns begin, end and, if it likes, id: seconds on the clock of the log,
  /// both ends belong to the interval; ids in hexadecimal, none: every frame. Throws Error(kData)
  /// with file and line.
  explicit LabelIntervals(const std::filesystem::path& table);

  /// 1 for a frame of an interval, 0 for all others; -1 without a time.
  int8_t label_of(const CanFrame& frame) const;

 private:
  struct Interval {
    double begin = 0, end = 0;
    int64_t id = -1;  // -1: any
  };
  std::vector<Interval> intervals_;  // by their begin
  std::vector<double> latest_end_;   // up to each
};

/// Of "drive.blf" the table "drive.labels.csv", else "labels.csv" in the same folder; nullopt if
/// there is neither. Throws Error(kData).
std::optional<LabelIntervals> labels_beside(const std::filesystem::path& log);

}  // namespace kdgat::data
