// Options of the score stage.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "engine/data/can/frames/channel_choice.h"
#include "engine/data/can/logs/can_log.h"
#include "kdgat/options.h"

namespace kdgat::decision {

struct ScoreOptions : data::LogReading {
  std::vector<double> threshold;
  int64_t calibrate = 0;
  double false_alarms = 0.001;
  std::string format = "auto";
  bool strict = false;
  std::string channel = data::kAllChannels;
  int64_t batch = 256;
  std::string vehicle;
  bool reasons = true;
  bool frames = false;
  std::string explain = "none";
  double explain_at = 0;
  int64_t top = 5;
  std::string dbc;

  /// One window, or one alarm, of one log.
  bool explains_one() const { return explain != "none" && explain != "alarms"; }

  static auto table() {
    using O = ScoreOptions;
    auto own = std::tuple{
        field("threshold", &O::threshold, Purpose::kAlarms,
              "Windows that score above it are attacks; [] = the model's own threshold, of a "
              "detector 0."),
        field("calibrate", &O::calibrate, Purpose::kAlarms,
              "The first so many windows of each log are taken as benign and set its threshold; "
              "0 = none, else 20 or more. With a detector: the most that the profile of a vehicle "
              "it does not know is learned from; 0 = 300.")
            .range(0, 1e9),
        field("false_alarms", &O::false_alarms, Purpose::kAlarms,
              "Share of benign windows that a calibrated threshold may take for attacks; not with "
              "a detector.")
            .first()
            .set_by({"why"})
            .range(1e-9, 0.5),
        field("format", &O::format, "Log format; auto recognises it from the first lines.")
            .choices(data::log_format_choices()),
        field("strict", &O::strict, "A malformed line is an error, not counted and skipped."),
        data::channel_row(&O::channel),
        field("batch", &O::batch,
              "Windows scored together; 1 = each as soon as its last row is read.")
            .set_by({"why"})
            .range(1, 4096)
            .runtime(),
        field("vehicle", &O::vehicle,
              "With a detector: the vehicle of it that the logs are of, by name; empty = found by "
              "the first windows of each log."),
        field("reasons", &O::reasons,
              "With a detector: each flagged window comes with the three ids, in words, that made "
              "most of its score.")
            .set_by({"why"}),
        field("frames", &O::frames, Purpose::kAlarms,
              "With a detector: each flagged window comes with the rows of its frames that were "
              "injected, as far as the detector can tell. True frames that an attack makes odd are "
              "none of them.")
            .set_by({"why"}),
        field(
            "explain", &O::explain,
            "With a detector: the parts of a score, by id, of the highest window of each alarm, of "
            "the window or alarm with the number explain_at, or of the window at that time.")
            .set_by({"score", "why"})
            .choices({"none", "alarms", "alarm", "window", "time"}),
        field("explain_at", &O::explain_at,
              "Which window or alarm is explained, from 0; or a time in seconds.")
            .set_by({"score", "why"}),
        field("top", &O::top, "Ids of a score that are told apart where it is explained.")
            .set_by({"score"})
            .range(1, 20),
        field(
            "dbc", &O::dbc,
            "With a detector: a DBC file whose names of messages and signals stand beside ids and "
            "bytes in reasons and alarms; scores are the same without it.")
            .runtime()};
    return std::tuple_cat(std::move(own), reading_rows());
  }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems = data::channel_problems(channel);
    if (threshold.size() > 1) problems.push_back({"", "threshold: one number, or none", ""});
    if (!threshold.empty() && calibrate > 0) {
      problems.push_back(
          {"", "threshold and calibrate both set the threshold", "give one of them"});
    }
    if (calibrate > 0 && calibrate < 20) {
      problems.push_back({"", "calibrate: " + std::to_string(calibrate) + " windows are too few",
                          "use 20 or more, or 0"});
    }
    return problems;
  }
};

}  // namespace kdgat::decision
