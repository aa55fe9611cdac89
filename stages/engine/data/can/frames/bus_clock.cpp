#include "engine/data/can/frames/bus_clock.h"

#include <algorithm>
#include <cmath>

namespace kdgat::data {
namespace {

constexpr double kQuiet = 0.5;  // of the usual frames

}  // namespace

bool LogClock::read(double time) {
  // Logs that were merged step back by some milliseconds here and there, and half a second of
  // frames that all come at one time would be an alarm.
  constexpr double kWellBehind = 0.1;
  constexpr int kInARow = 5;
  passed_ = 0;
  if (!(time < now_)) {
    if (time > now_) passed_ = std::min(kLongestPause, time - now_);
    now_ = time;
    behind_ = 0;
    return false;
  }
  behind_ = now_ - time > kWellBehind ? behind_ + 1 : 0;
  if (behind_ < kInARow || !follows_) return false;
  now_ = time;
  behind_ = 0;
  return true;
}

BusActivity::BusActivity(const Rates& rates) : learns_(false) {
  for (std::size_t i = 0; i < rates.size(); ++i) buses_[i].rate = rates[i];
}

void BusActivity::restart() {
  for (Bus& bus : buses_) {
    bus.last = bus.begin = kNoTime;
    bus.in_stretch = 0;
    bus.awake = 0;
    bus.was_quiet = false;
  }
}

void BusActivity::add(uint8_t channel, double time) {
  constexpr double kEnough = 30, kShortest = 0.05;
  Bus& bus = buses_[channel];
  ++bus.frames;
  if (std::isnan(bus.begin)) bus.begin = time;
  const double seconds = time - bus.begin, usual = bus.rate * seconds;
  if (usual >= kEnough && seconds >= kShortest) {
    // Senders stop and start in the middle of stretches: those beside a quiet one count as quiet.
    const bool is_quiet = static_cast<double>(bus.in_stretch) < kQuiet * usual;
    if (is_quiet) bus.asleep += bus.awake;
    if (is_quiet || bus.was_quiet) bus.asleep += seconds;
    bus.awake = is_quiet || bus.was_quiet ? 0 : seconds;
    bus.was_quiet = is_quiet;
    bus.begin = time;
    bus.in_stretch = 0;
  }
  ++bus.in_stretch;
  if (!learns_) return;
  if (time > bus.last) bus.seconds += std::min(kLongestPause, time - bus.last);
  bus.last = time;
  if (bus.seconds > 0) bus.rate = static_cast<double>(bus.frames) / bus.seconds;
}

bool BusActivity::quiet(uint8_t channel, int64_t before, double seconds) const {
  constexpr double kEnough = 10;
  const Bus& bus = buses_[channel];
  const double usual = bus.rate * seconds;
  return usual >= kEnough && static_cast<double>(bus.frames - before) < kQuiet * usual;
}

}  // namespace kdgat::data
