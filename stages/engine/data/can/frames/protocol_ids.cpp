#include "engine/data/can/frames/protocol_ids.h"

#include <algorithm>
#include <set>

namespace kdgat::data {
namespace {

/// Engine controllers, speeds, temperatures, pressures, fluids, hours, fuel, diagnostics and
/// transport: what any vehicle with J1939 sends some of.
constexpr uint32_t kWellKnown[] = {0xF000, 0xF001, 0xF002, 0xF003, 0xF004, 0xF005, 0xFEBF, 0xFECA,
                                   0xFEDF, 0xFEE0, 0xFEE5, 0xFEE9, 0xFEEE, 0xFEEF, 0xFEF0, 0xFEF1,
                                   0xFEF2, 0xFEF5, 0xFEF6, 0xFEF7, 0xFEFC, 0xEB00, 0xEC00, 0xEE00};

}  // namespace

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

}  // namespace kdgat::data
