// One row of a CAN log, whatever form it was written in.
#pragma once

#include <array>
#include <cstdint>

namespace kdgat::data {

/// Buses that one log may hold.
inline constexpr int kMostChannels = 8;

struct CanFrame {
  double time = 0;                    ///< seconds; NaN where the form has none
  uint32_t id = 0;                    ///< 11 or 29 bits
  uint8_t length = 0;                 ///< payload bytes, 0..64
  int8_t label = -1;                  ///< 1 attack, 0 benign, -1 none
  bool extended = false;              ///< 29-bit id
  bool remote = false;                ///< remote frame, no payload
  bool fd = false;                    ///< CAN FD
  uint8_t fd_flags = 0;               ///< of CAN FD: 1 faster bytes (BRS), 2 error state (ESI)
  uint8_t remote_length = 0;          ///< what a remote frame asks for, 0..8 bytes
  bool tx = false;                    ///< the logger sent it
  uint8_t channel = 0;                ///< which bus of the log, below kMostChannels
  std::array<uint8_t, 64> payload{};  ///< bytes past `length` are 0

  /// Bus and id as one number: the same id on two buses is two senders.
  uint32_t key() const { return uint32_t{channel} << 29 | id; }
};

}  // namespace kdgat::data
