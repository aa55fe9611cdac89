// One row of a CAN log, whatever form it was written in.
#pragma once

#include <array>
#include <cstdint>

namespace kdgat::graph {

struct CanFrame {
  double time = 0;                    ///< seconds; NaN where the form has none
  uint32_t id = 0;                    ///< 11 or 29 bits
  uint8_t length = 0;                 ///< payload bytes, 0..64
  int8_t label = -1;                  ///< 1 attack, 0 benign, -1 none
  bool extended = false;              ///< 29-bit id
  bool remote = false;                ///< remote frame, no payload
  bool fd = false;                    ///< CAN FD
  std::array<uint8_t, 64> payload{};  ///< bytes past `length` are 0
};

}  // namespace kdgat::graph
