// A sweep as tune.json holds it: SweepRecord::saved() makes it, tables and reports read it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/show/json_lookup.h"
#include "pipeline/system/record.h"
#include "pipeline/tune/admission.h"

namespace kdgat {

struct SavedTrial {
  std::string name;                           ///< unique in the sweep; also its folder
  std::map<std::string, std::string> values;  ///< by option
  std::string state = "waiting";  ///< also running, done, kept, stopped, failed, interrupted
  int64_t planned = 0;            ///< peak bytes of its tensors, as its stage predicts
  int64_t reserved = 0;           ///< what it was admitted with, last
  int64_t needed = 0;             ///< the peak it came to; 0 = not known
  int attempts = 0;
  double seconds = 0, cpu_seconds = 0;
  nlohmann::json metrics = nlohmann::json::object();
  std::optional<double> value;        ///< of the metric
  std::optional<int64_t> best_epoch;  ///< that `metrics` are of
  std::optional<int64_t> stopped_at;  ///< epoch
  std::optional<std::string> error;

  /// A number of `metrics`; none if there is no such.
  std::optional<double> metric(const std::string& of) const { return number_there(metrics, of); }

  static auto keys() {
    using T = SavedTrial;
    return std::tuple{
        key("name", &T::name, "of its step"),
        key("values", &T::values, "of the options that are tried"),
        key("state", &T::state, "waiting, running, done, failed or stopped"),
        key("planned", &T::planned, "peak that its stage plans, bytes"),
        key("reserved", &T::reserved, "for it, bytes"),
        key("needed", &T::needed, "as measured, bytes; 0 = not measured"),
        key("attempts", &T::attempts, "how often it was begun"),
        key("seconds", &T::seconds, "wall clock, seconds"),
        key("cpu_seconds", &T::cpu_seconds, "of all its threads, seconds"),
        key("metrics", &T::metrics, "of its best epoch, by names of the stage").of_type("open"),
        key("value", &T::value, "of the metric"),
        key("epoch_of_best", &T::best_epoch, "the epoch of its metrics"),
        key("stopped_at", &T::stopped_at, "the epoch at which it was left"),
        key("error", &T::error, "what went wrong")};
  }
};

/// What holds for all trials.
struct SweepFrame {
  std::string mode;
  std::string metric;        ///< of validation, by which the best is chosen
  std::string goal = "min";  ///< or max
  int64_t memory = 0;        ///< bytes that trials and their process may hold on a device
  int64_t buffer = 0;        ///< of these to stay free
  int64_t context = 0;       ///< bytes of the process beside trials
  std::size_t at_once = 0;   ///< most trials at once; 0 = as memory allows
  int threads = 1;           ///< of each trial
  int cores = 1;             ///< of the machine, for this process
  double seconds = 0;        ///< from the first measurement to the last end, in the last process

  bool is_less_better() const { return goal == "min"; }

  static auto keys() {
    using T = SweepFrame;
    return std::tuple{
        key("mode", &T::mode, "grid, random, asha or the name of a published sweep"),
        key("metric", &T::metric, "by which trials are compared"),
        key("goal", &T::goal, "min or max"),
        key("memory", &T::memory, "for all trials, bytes"),
        key("buffer", &T::buffer, "that stays free, bytes"),
        key("context", &T::context, "of the device, bytes"),
        key("at_once", &T::at_once, "trials that work at the same time; 0 = as memory allows"),
        key("threads", &T::threads, "of each trial"),
        key("cores", &T::cores, "of the machine"),
        key("seconds", &T::seconds, "of the whole sweep, seconds")};
  }
};

struct SavedSweep : SweepFrame {
  std::optional<std::string> best;  ///< the name of a trial
  std::vector<DeviceRoom> devices;
  std::vector<SavedTrial> trials;

  bool is_best(const SavedTrial& trial) const { return trial.name == best; }

  static auto keys() {
    using T = SavedSweep;
    return std::tuple_cat(
        SweepFrame::keys(),
        std::tuple{key("best", &T::best, "name of the trial that validation chose").or_null(),
                   key("devices", &T::devices, "where trials work"),
                   key("trials", &T::trials, "in the order in which they were made")});
  }
};

}  // namespace kdgat
