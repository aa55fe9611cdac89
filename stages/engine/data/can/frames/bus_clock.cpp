#include "engine/data/can/frames/bus_clock.h"

namespace kdgat::data {

void BusActivity::restart() {
  for (Bus& bus : buses_) {
    bus.last = kdgat_no_time();
    kdgat_bus_anew(&bus.counted);
  }
}

void BusActivity::add(uint8_t channel, double time) {
  Bus& bus = buses_[channel];
  kdgat_listen(&bus.counted, bus.rate, time);
  bus.seconds += listened(bus.last, time);
  bus.last = time;
  if (bus.seconds > 0) bus.rate = static_cast<double>(bus.counted.frames) / bus.seconds;
}

}  // namespace kdgat::data
