// Options of the watch stage.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "engine/data/can/logs/can_log.h"
#include "engine/decision/stream/score_options.h"
#include "kdgat/options.h"

namespace kdgat::watch {

struct WatchOptions : data::LogReading {
  std::vector<double> threshold;
  int64_t calibrate = 0;
  double calibrate_seconds = 0;
  double budget = 0;
  std::string vehicle;
  std::string save, dbc, expect;
  bool reasons = true;
  bool replay = false;
  double speed = 1;
  std::string format = "auto";
  bool strict = false;
  std::vector<std::string> filters;
  std::vector<std::string> own_frames;
  int64_t receive_buffer = 4 << 20;
  int64_t bitrate = 500'000;
  double heartbeat = 10;
  double silence = 1;

  static auto table() {
    using O = WatchOptions;
    auto own = std::tuple{
        field("threshold", &O::threshold, Purpose::kAlarms,
              "Windows that score above it are flagged; [] = the model's own threshold, of a "
              "detector 0.")
            .set_by({"watch"}),
        field("calibrate", &O::calibrate, Purpose::kAlarms,
              "As kdgat score has it: the first so many windows are taken as benign; 0 = of a "
              "detector at most 300, and only on a vehicle that it does not know.")
            .set_by({"watch"})
            .range(0, 1e9),
        field("calibrate_seconds", &O::calibrate_seconds, Purpose::kAlarms,
              "With a detector: the first so many seconds of the bus are taken as benign, and what "
              "is usual on it is learned from them, whatever vehicle it is; 0 = not.")
            .set_by({"watch"})
            .range(0, 86400),
        field(
            "budget", &O::budget, Purpose::kAlarms,
            "False windows an hour that may be: the last third of calibrate_seconds may raise the "
            "threshold, never lower it; 0 = the threshold stays.")
            .set_by({"watch"})
            .range(0, 1e6),
        field("vehicle", &O::vehicle,
              "With a detector: the vehicle of it that the bus is of; empty = found by the first "
              "windows."),
        field("save", &O::save,
              "The detector with what calibrate_seconds taught it is written to this file.")
            .set_by({"watch"})
            .runtime(),
        field("dbc", &O::dbc,
              "With a detector: a DBC file whose names of messages and signals stand in reasons.")
            .runtime(),
        field("expect", &O::expect,
              "Nothing is judged unless the model's file has this hash; empty = any.")
            .set_by({"watch"})
            .runtime(),
        field("reasons", &O::reasons, "Alarms of a detector come with their reasons in words."),
        field("replay", &O::replay, "What is watched is a log, or - for standard input.")
            .set_by({"watch"}),
        field("speed", &O::speed,
              "Seconds of the log in one second; 0 = as fast as it can be judged.")
            .set_by({"watch"})
            .range(0, 1e6)
            .runtime(),
        field("format", &O::format, "Form of the log; auto recognises it from the first lines.")
            .choices(data::log_format_choices()),
        field("strict", &O::strict, "A malformed line is an error, not counted and skipped."),
        field("filters", &O::filters,
              "Ids that are watched, ID:MASK in hexadecimal each, as candump has them; [] = all.")
            .set_by({"watch"}),
        field("own_frames", &O::own_frames,
              "Where this program writes frames for its alarms, INTERFACE,ID each: those that it "
              "sent itself, and no others with the ID, are left out and counted.")
            .set_by({"watch"}),
        field("receive_buffer", &O::receive_buffer,
              "Bytes of frames of one bus that the kernel keeps while they are not read.")
            .range(1024, 1 << 30)
            .runtime(),
        field("bitrate", &O::bitrate, "Bits a second of the bus, to tell its load.")
            .range(10'000, 8'000'000)
            .runtime(),
        field("heartbeat", &O::heartbeat, "Seconds between two reports of the traffic.")
            .set_by({"watch"})
            .range(0.1, 3600)
            .runtime(),
        field("silence", &O::silence, "Seconds without a frame after which a bus is called silent.")
            .range(0.1, 3600)
            .runtime()};
    return std::tuple_cat(std::move(own), reading_rows());
  }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems = of_scoring().validate();
    if (calibrate > 0 && calibrate_seconds > 0) {
      problems.push_back({"", "calibrate and calibrate_seconds both say what is taken as benign",
                          "give one of them"});
    }
    if (budget > 0 && calibrate_seconds == 0) {
      problems.push_back({"", "budget: nothing is known of this bus to keep a budget by",
                          "give a time to calibrate too, as --calibrate 15min"});
    }
    if (!save.empty() && calibrate_seconds == 0) {
      problems.push_back({"", "save: nothing is learned that could be saved",
                          "give a time to calibrate, as --calibrate 5min"});
    }
    return problems;
  }

  decision::ScoreOptions of_scoring() const {
    decision::ScoreOptions out;
    out.threshold = threshold;
    out.calibrate = calibrate;
    out.vehicle = vehicle;
    out.reasons = reasons;
    out.batch = 1;
    out.dbc = dbc;
    return out;
  }
};

}  // namespace kdgat::watch
