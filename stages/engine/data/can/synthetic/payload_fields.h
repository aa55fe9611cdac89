// Where the payloads of one id have counters and checksums.
#pragma once

#include <cstdint>
#include <span>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/recording.h"

namespace kdgat::data {

/// Bits of a payload, the lowest bit of its first byte first.
struct PayloadFields {
  /// Of fields of two bits and more within a byte that grow by one from frame to frame.
  uint64_t counters = 0;
  /// That follow from other bits of the same frame: each is of a sum over GF(2) of bits, some of
  /// them in no counter, that never changes.
  uint64_t checks = 0;
};

/// As the first thousands of its frames have them. None in payloads of several lengths, nor beyond
/// 8 bytes.
PayloadFields payload_fields(const Recording& recording, const IdRows& id);

/// As PayloadFields have them; of at most 8 bytes.
uint64_t payload_bits(const CanFrame& frame);
/// Gives these bits of a payload the values of `bits`.
void set_payload_bits(CanFrame& frame, uint64_t which, uint64_t bits);

}  // namespace kdgat::data
