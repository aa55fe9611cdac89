// The benign traffic of one vehicle: which messages it has, what they carry, when they are asked
// for and in which order the bus lets them through. Knows nothing about attacks or files. Integers
// only, so that the same seed gives the same bytes on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/frames/can_frame.h"

namespace kdgat::data {

/// One physical quantity inside a payload, big-endian in 1 or 2 bytes.
struct Signal {
  enum class Kind { kConstant, kWalk, kWave, kFlag };
  Kind kind = Kind::kConstant;
  int at = 0;     ///< first byte
  int bytes = 1;  ///< 1 or 2
  int64_t low = 0, high = 0;
  int64_t step = 1;  ///< walk: largest change; wave: phase of 65536 per frame; flag: one in so many
};

/// One arbitration id and the layout of its payload.
struct Message {
  uint32_t id = 0;
  int64_t period_us = 0;  ///< 0 = sent on events only
  int length = 8;
  int counter_at = -1;           ///< byte whose low nibble counts frames; -1 = none
  int checksum_at = -1;          ///< byte with the checksum of the others; -1 = none
  bool checksum_is_sum = false;  ///< else XOR
  std::vector<Signal> signals;
};

using Payload = std::array<uint8_t, 8>;

/// A frame some node wants to send.
struct Transmission {
  int64_t ready_us = 0;
  uint32_t id = 0;
  int length = 8;
  Payload payload{};
  bool attack = false;
  bool suppressed = false;  ///< never reaches the bus; the next frame that does is labelled
};

/// The messages of a vehicle. Vehicles of one seed share about half of their ids, with the same
/// layouts, as models of one maker do.
std::vector<Message> make_vehicle(uint64_t seed, int64_t vehicle);

/// Everything the vehicle wants to send in [0, duration_us), ordered by time. `drive` seeds initial
/// values, jitter and events. At the end periods jitter more by `ageing` per cent than at the
/// beginning, and events come as much more often; in between it grows evenly.
std::vector<Transmission> make_drive(const std::vector<Message>& messages, uint64_t drive,
                                     int64_t duration_us, int64_t ageing);

/// Writes the checksum of `message` into its payload.
void set_checksum(const Message& message, Payload& payload);

/// A 500 kbit/s bus: one frame at a time, the lowest id first among those that wait. Times are
/// those of a receiver (end of frame), counted from `start_us`, strictly increasing.
std::vector<CanFrame> transmit(std::vector<Transmission> wanted, int64_t start_us);

}  // namespace kdgat::data
