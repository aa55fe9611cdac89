// Options of the adapt stage.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/can/frames/channel_choice.h"
#include "engine/data/can/logs/can_log.h"
#include "kdgat/options.h"

namespace kdgat::adapt {

struct AdaptOptions : data::LogReading {
  std::string output;
  int64_t windows = 0;
  std::string name;
  std::string format = "auto";
  bool strict = false;
  std::string channel = data::kAllChannels;

  static auto table() {
    using O = AdaptOptions;
    auto own = std::tuple{
        field("output", &O::output, "File that the adapted detector is written to.")
            .set_by({"adapt"}),
        field("windows", &O::windows,
              "Most windows that are learned from, of the beginning of each log; 0 = all of it.")
            .range(0, 1e9),
        field("name", &O::name,
              "What the vehicle is called; empty = as the one that it takes the place of, else as "
              "the first log."),
        field("format", &O::format, "Log format; auto recognises it from the first lines.")
            .choices(data::log_format_choices()),
        field("strict", &O::strict, "A malformed line is an error, not counted and skipped."),
        data::one_channel_row(&O::channel)};
    return std::tuple_cat(std::move(own), reading_rows());
  }

  std::vector<Diagnostic> validate() const {
    return data::channel_problems(channel, "each bus would be a vehicle of its own");
  }
};

}  // namespace kdgat::adapt
