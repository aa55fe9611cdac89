// How a log is read where it does not say so itself: its times, and the labels of its rows.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/core/import_options.h"
#include "kdgat/options.h"

namespace kdgat::data {

struct LogReading {
  std::string time_unit = "auto";  ///< auto, s, ms, us or ns
  std::string times = "auto";      ///< auto, absolute or delta
  std::string label_column{};
  std::vector<std::string> benign{};

  bool names_label() const { return !label_column.empty(); }

  static auto reading_rows() {
    using O = LogReading;
    return std::tuple{
        field("time_unit", &O::time_unit,
              "Unit of the times of a log; auto: what the log says, milli-, micro- or nanoseconds "
              "for numbers of 13, 16 or 19 digits, else seconds.")
            .choices({"auto", "s", "ms", "us", "ns"})
            .later(),
        field("times", &O::times,
              "Times of a log: absolute, or delta, the time since the frame before; auto tells "
              "those of candump -td.")
            .choices({"auto", "absolute", "delta"})
            .later(),
        field("label_column", &O::label_column, LabelOptions::kLabelColumn).later(),
        field("benign", &O::benign,
              "Words of the label column of a log that mean benign; every other word is then an "
              "attack. Empty: the usual words.")
            .later()};
  }
};

/// How an option of LogReading is given, for hints: "--times delta, in a profile data.times".
inline std::string reading_option(const std::string& name, const std::string& value) {
  std::string flag = name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return "--" + flag + " " + value + " (in a profile data." + name + ")";
}

}  // namespace kdgat::data
