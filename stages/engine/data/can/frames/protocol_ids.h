// Ids that standards give a meaning: diagnostics of cars, and those of SAE J1939.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::data {

/// Requests and answers of diagnostics (ISO 15765-4): 7DF to all, 7E0 to 7E7 to one control unit,
/// 7E8 to 7EF from it; with 29 bits 18DB33F1, 18DA..F1 and 18DAF1..
bool is_diagnostic(uint32_t id);

/// An id of J1939-21: priority (3 bits), page (2), PDU format (8), PDU specific (8), source (8).
/// The priority is the sender's choice. Below the format 240 the specific byte is the destination
/// and no part of the PGN.
///
/// PGN and source address of an id, as one number.
uint32_t j1939_message(uint32_t id);
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
/// A claim of an address (PGN 60928): from the address that is claimed, with a NAME of 8 bytes.
bool is_address_claim(uint32_t id);
/// Its NAME; 0 where it has none.
uint64_t j1939_name(const CanFrame& claim);
/// A request for PGN 60928, which is how a control unit asks before it has an address (254).
bool is_claim_request(uint32_t id);

/// Whether a bus with these ids speaks J1939: nearly all have 29 bits, and at least three are those
/// of well-known messages of engines and vehicles.
bool speaks_j1939(std::span<const uint32_t> ids);

/// Which control unit has which address (J1939-81): a unit that gave up its address for another is
/// known by its NAME.
class AddressClaims {
 public:
  static constexpr int kUnclaimed = -1, kNewcomer = -2;

  AddressClaims() { former_.fill(kUnclaimed); }
  /// From a profile: the unit of that name has this address there.
  void know(uint8_t address, uint64_t name);
  /// A claim on the bus.
  void claim(uint8_t address, uint64_t name);
  /// The address that whoever claimed this one has in the profile; kNewcomer: none there;
  /// kUnclaimed.
  int former(uint8_t address) const { return former_[address]; }

 private:
  std::array<int16_t, 256> former_;
  std::unordered_map<uint64_t, uint8_t> homes_;
};

}  // namespace kdgat::data
