#include "watch/traffic_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/data/can/frames/bus_slots.h"
#include "kdgat/text.h"

namespace kdgat::watch {
namespace {

using nlohmann::json;

constexpr double kNanoseconds = 1e9;

const char* name_of(live::BusState state) {
  switch (state) {
    case live::BusState::kUp:
      return "up";
    case live::BusState::kDown:
      return "down";
    case live::BusState::kGone:
      break;
  }
  return "gone";
}

int64_t lost(const live::BusCounts& bus) { return bus.kernel_drops + bus.queue_drops; }

}  // namespace

bool TrafficReport::is_known(uint32_t key, const decision::LogJudge& judge) {
  constexpr std::size_t kMostOthers = 8192;
  if (key < small_.size()) {
    int8_t& known = small_[key];
    if (known == 0) {
      known = judge.knows(key) ? 1 : -1;
      unknown_ids_ += known < 0 ? 1 : 0;
    }
    return known > 0;
  }
  const auto found = others_.find(key);
  if (found != others_.end()) return found->second;
  const bool known = judge.knows(key);
  if (others_.size() < kMostOthers) {
    others_.emplace(key, known);
    unknown_ids_ += known ? 0 : 1;
  }
  return known;
}

void TrafficReport::add(const live::LiveFrame& live, const decision::LogJudge& judge) {
  ++frames_;
  last_frame_ = live.received;
  clock_.add(live);
  bus_us_ += data::bus_time_us(live.frame, bitrate_);
  if (!judge.is_learning() && !is_known(live.frame.key(), judge)) ++unknown_;
}

void TrafficReport::judged(const live::LiveFrame& last, float score, int64_t now) {
  decision_.add(now - last.received);
  highest_ = has_score_ ? std::max(highest_, score) : score;
  has_score_ = true;
}

void TrafficReport::told(const live::LiveFrame& last, int64_t now) {
  alarm_.add(now - last.received);
}

void TrafficReport::forget_ids() {
  small_.fill(0);
  others_.clear();
  unknown_ids_ = 0;
}

json TrafficReport::report(const decision::LogJudge& judge,
                           std::span<const live::BusCounts> buses) {
  const double seconds = clock_.seconds() - seconds_then_;
  const auto rate = [&](int64_t count) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  };
  json out = {{"frames", frames_},
              {"frames_per_second", rate(frames_ - frames_then_)},
              {"load", rate(bus_us_ - bus_us_then_) * 1e-6},
              {"unknown", unknown_},
              {"unknown_ids", unknown_ids_},
              {"windows", judge.windows()},
              {"flagged", judge.flagged()},
              {"alarms", judge.alarms()},
              {"highest_score", has_score_ ? json(highest_) : json()},
              {"learning", judge.is_learning()},
              {"fits", judge.fits()},
              {"buses", json::array()},
              {"decision", decision_.json()},
              {"alarm", alarm_.json()}};
  for (const live::BusCounts& bus : buses) {
    out["buses"].push_back({{"name", bus.name},
                            {"state", name_of(bus.state)},
                            {"frames", bus.frames},
                            {"error_frames", bus.error_frames},
                            {"malformed", bus.malformed},
                            {"kernel_drops", bus.kernel_drops},
                            {"queue_drops", bus.queue_drops},
                            {"interruptions", bus.interruptions},
                            {"own_frames", bus.own_frames}});
  }
  seconds_then_ = clock_.seconds();
  frames_then_ = frames_;
  bus_us_then_ = bus_us_;
  has_score_ = false;
  return out;
}

std::vector<std::string> TrafficReport::changes(std::span<const live::BusCounts> buses,
                                                int64_t now) {
  std::vector<std::string> out;
  buses_.resize(buses.size());
  for (std::size_t i = 0; i < buses.size(); ++i) {
    const live::BusCounts& bus = buses[i];
    live::BusCounts& before = buses_[i];
    if (bus.state != before.state) {
      out.push_back(bus.state == live::BusState::kUp ? bus.name + " is back"
                                                     : bus.name + " is " + name_of(bus.state) +
                                                           "; it is watched again when it is back");
    }
    if (lost(bus) > lost(before)) {
      out.push_back(bus.name + ": " + grouped(lost(bus) - lost(before)) + " frames were lost (" +
                    grouped(bus.kernel_drops) + " by the kernel's buffer and " +
                    grouped(bus.queue_drops) +
                    " by a slow machine so far); frames are not compared across the gap");
    }
    before = bus;
  }
  if (last_frame_ == 0) last_frame_ = now;
  const double quiet = static_cast<double>(now - last_frame_) / kNanoseconds;
  const bool is_silent = is_live_ && quiet >= silence_;
  if (is_silent != std::exchange(is_silent_, is_silent)) {
    out.push_back(is_silent
                      ? "the bus is silent: no frame for " + format_number("%.1f", quiet) + " s"
                      : "the bus speaks again");
  }
  constexpr int64_t kLeastFrames = 100;
  const int64_t frames = frames_ - frames_seen_, unknown = unknown_ - unknown_seen_;
  if (frames >= kLeastFrames) {
    // A flood comes in bursts: it is over once nothing of it was seen for a while.
    usual_looks_ = 2 * unknown > frames ? 0 : usual_looks_ + 1;
    const bool is_strange = usual_looks_ == 0 || (is_strange_ && usual_looks_ < kUsualLooks);
    if (is_strange != std::exchange(is_strange_, is_strange)) {
      out.push_back(
          is_strange ? "most frames are of ids that this vehicle does not have: another vehicle, "
                       "another bus, or a flood"
                     : "most frames are of ids of this vehicle again");
    }
    frames_seen_ = frames_;
    unknown_seen_ = unknown_;
  }
  return out;
}

}  // namespace kdgat::watch
