// What the stage watch reports of the traffic, at each heartbeat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "pipeline/system/record.h"

namespace kdgat {

/// Times between two moments, seconds.
struct Delays {
  int64_t count = 0;
  double sum = 0, p50 = 0, p99 = 0, max = 0;
  static auto keys() {
    return std::tuple{key("count", &Delays::count, "of them"), key("sum", &Delays::sum, "seconds"),
                      key("p50", &Delays::p50, "seconds"), key("p99", &Delays::p99, "seconds"),
                      key("max", &Delays::max, "seconds")};
  }
};

struct BusTraffic {
  std::string name, state;
  int64_t frames = 0, error_frames = 0, malformed = 0;
  int64_t kernel_drops = 0, queue_drops = 0, interruptions = 0, own_frames = 0;
  static auto keys() {
    using B = BusTraffic;
    return std::tuple{key("name", &B::name, "of the bus, or of the log in its place"),
                      key("state", &B::state, "up, down, ..."),
                      key("frames", &B::frames, "since it began"),
                      key("error_frames", &B::error_frames, "of the bus"),
                      key("malformed", &B::malformed, "datagrams or lines"),
                      key("kernel_drops", &B::kernel_drops, "frames lost before this program"),
                      key("queue_drops", &B::queue_drops, "frames lost in it"),
                      key("interruptions", &B::interruptions, "times without the bus"),
                      key("own_frames", &B::own_frames, "of its own alarms, which were left out")};
  }
};

struct Traffic {
  double seconds = 0;
  int64_t frames = 0;
  double frames_per_second = 0, load = 0;
  int64_t unknown = 0, unknown_ids = 0, windows = 0, flagged = 0, alarms = 0;
  bool alarm_open = false;
  std::optional<double> highest_score;
  bool learning = false, fits = true, calibrating = false;
  std::vector<BusTraffic> buses;
  Delays decision, alarm;
  static auto keys() {
    using T = Traffic;
    return std::tuple{
        key("seconds", &T::seconds, "since it began, seconds"),
        key("frames", &T::frames, "since it began"),
        key("frames_per_second", &T::frames_per_second, "since the line before"),
        key("load", &T::load, "of the buses since the line before, 1 = all of their time"),
        key("unknown", &T::unknown, "frames with ids that the vehicle does not have"),
        key("unknown_ids", &T::unknown_ids, "ids that it does not have"),
        key("windows", &T::windows, "that were judged"),
        key("flagged", &T::flagged, "windows"),
        key("alarms", &T::alarms, "that were opened"),
        key("alarm_open", &T::alarm_open, "one is open now"),
        key("highest_score", &T::highest_score,
            "since the line before; null = no window was judged")
            .or_null(),
        key("learning", &T::learning, "it still listens to what is usual"),
        key("fits", &T::fits, "false while, for a minute, a detector flagged over 5 %"),
        key("calibrating", &T::calibrating, "with a time to calibrate: it is not over"),
        key("buses", &T::buses, "each bus"),
        key("decision", &T::decision, "from a frame to its decision").of_type("@delays"),
        key("alarm", &T::alarm, "from a frame to its alarm").of_type("@delays")};
  }
};

}  // namespace kdgat
