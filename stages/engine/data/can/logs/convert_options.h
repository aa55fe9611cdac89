// Options of what reads CAN logs to write them in another form.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/time_reading.h"
#include "kdgat/options.h"

namespace kdgat::data {

struct CanConvertOptions : LogReading {
  std::string format = "auto";
  bool strict = false;
  std::string channel = kAllChannels;

  static auto table() {
    using O = CanConvertOptions;
    auto own = std::tuple{field("format", &O::format, "Form of the log read; auto recognises it.")
                              .choices(log_format_choices()),
                          field("strict", &O::strict,
                                "What is malformed or not used is an error, but for error frames."),
                          one_channel_row(&O::channel)};
    return std::tuple_cat(std::move(own), reading_rows());
  }

  std::vector<Diagnostic> validate() const {
    return channel_problems(channel, "each bus would need a file of its own");
  }
};

}  // namespace kdgat::data
