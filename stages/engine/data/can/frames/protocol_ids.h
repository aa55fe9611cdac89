// Ids that standards give a meaning; see engine/portable/ids.h for those of a single frame.
#pragma once

#include <cstdint>
#include <span>

#include "engine/portable/ids.h"

namespace kdgat::data {

inline bool is_diagnostic(uint32_t id) { return kdgat_is_diagnostic(id) != 0; }

/// PGN and source address of an id of J1939-21, as one number. The id is priority (3 bits), page
/// (2), PDU format (8), PDU specific (8), source (8). The priority is the sender's choice; below the
/// format 240 the specific byte is the destination and no part of the PGN.
inline uint32_t j1939_message(uint32_t id) { return kdgat_message_of(id); }
inline uint32_t j1939_pgn(uint32_t id) { return j1939_message(id) >> 8; }
inline uint8_t j1939_source(uint32_t id) { return static_cast<uint8_t>(id); }
inline uint32_t from_source(uint32_t message, uint8_t source) {
  return (message & ~uint32_t{0xFF}) | source;
}
/// CanFrame::key() without the priority of a 29-bit id: by this logs of one vehicle are matched.
inline uint32_t without_priority(uint32_t key) {
  constexpr uint32_t kPriority = 7U << 26, kId = (1U << 29) - 1;
  return (key & kId) > 0x7FF ? key & ~kPriority : key;
}
/// Whether a bus with these ids speaks J1939: nearly all have 29 bits, and at least three are those
/// of well-known messages of engines and vehicles.
bool speaks_j1939(std::span<const uint32_t> ids);

}  // namespace kdgat::data
