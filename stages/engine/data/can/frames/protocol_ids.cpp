#include "engine/data/can/frames/protocol_ids.h"

#include <algorithm>
#include <set>

namespace kdgat::data {
namespace {

constexpr uint32_t kTester = 0xF1, kToAll = 0x18DB33F1, kToOne = 0x18DA;
constexpr uint32_t kFirstDestination = 240;  // PDU formats below it name one
constexpr uint32_t kClaim = 0xEE00, kRequest = 0xEA00;
constexpr uint32_t kNoAddress = 254;

/// Engine controllers, speeds, temperatures, pressures, fluids, hours, fuel, diagnostics and
/// transport: what any vehicle with J1939 sends some of.
constexpr uint32_t kWellKnown[] = {0xF000, 0xF001, 0xF002, 0xF003, 0xF004, 0xF005, 0xFEBF, 0xFECA,
                                   0xFEDF, 0xFEE0, 0xFEE5, 0xFEE9, 0xFEEE, 0xFEEF, 0xFEF0, 0xFEF1,
                                   0xFEF2, 0xFEF5, 0xFEF6, 0xFEF7, 0xFEFC, 0xEB00, 0xEC00, 0xEE00};

}  // namespace

bool is_diagnostic(uint32_t id) {
  if (id < 0x800) return id == 0x7DF || (id >= 0x7E0 && id <= 0x7EF);
  return id == kToAll ||
         (id >> 16 == kToOne && ((id & 0xFF) == kTester || (id >> 8 & 0xFF) == kTester));
}

uint32_t j1939_message(uint32_t id) {
  constexpr uint32_t kNoPriority = 0x03FFFFFF, kNoDestination = ~uint32_t{0xFF00};
  const uint32_t message = id & kNoPriority;
  return (id >> 16 & 0xFF) < kFirstDestination ? message & kNoDestination : message;
}

bool is_address_claim(uint32_t id) { return id > 0x7FF && j1939_pgn(id) == kClaim; }

uint64_t j1939_name(const CanFrame& claim) {
  constexpr int kBytes = 8;
  uint64_t name = 0;
  for (int i = kBytes; claim.length == kBytes && i-- > 0;) {
    name = name << 8 | claim.payload[static_cast<std::size_t>(i)];
  }
  return name;
}

bool is_claim_request(uint32_t id) {
  return id > 0x7FF && j1939_pgn(id) == kRequest && j1939_source(id) == kNoAddress;
}

bool speaks_j1939(std::span<const uint32_t> ids) {
  constexpr std::size_t kLeast = 3;
  std::set<uint32_t> known;
  std::size_t wide = 0;
  for (const uint32_t id : ids) {
    if (id <= 0x7FF) continue;
    ++wide;
    const uint32_t pgn = j1939_pgn(id);
    if (std::find(std::begin(kWellKnown), std::end(kWellKnown), pgn) != std::end(kWellKnown)) {
      known.insert(pgn);
    }
  }
  return 10 * wide >= 9 * ids.size() && known.size() >= kLeast;
}

void AddressClaims::know(uint8_t address, uint64_t name) { homes_[name] = address; }

void AddressClaims::claim(uint8_t address, uint64_t name) {
  const auto home = homes_.find(name);
  former_[address] = static_cast<int16_t>(home == homes_.end() ? kNewcomer : home->second);
}

}  // namespace kdgat::data
