#include "engine/data/can/vehicles/learn_profile.h"

#include <algorithm>
#include <array>

namespace kdgat::data {

VehicleProfile learn_profile(std::span<const Piece> pieces, bool with_steps) {
  ProfileBuilder builder(with_steps);
  for (const Piece& piece : pieces) {
    builder.restart();
    for (int64_t row = piece.begin; row < piece.end; ++row) {
      learn_row(piece.log->frame(row), piece.log->restarts(row), builder);
    }
  }
  return builder.profile();
}

int64_t own_windows_in(const StoredLog& log, int64_t window, double seconds) {
  HeardTime heard;
  int64_t rows = 0;
  while (rows < log.rows() && rows < kMostOwnFrames && heard.seconds() < seconds) {
    heard.add(log.time(rows++));
  }
  return std::min(own_windows_of((rows + window - 1) / window, window), log.rows() / window);
}

OwnBeginning learn_own(const StoredLog& log, int64_t window, int64_t windows, bool with_steps) {
  OwnBeginning out;
  out.windows = std::min(own_windows_of(windows, window), log.first_attack() / window);
  if (out.windows >= kLeastOwn) {
    out.profile = learn_profile(std::array{Piece{&log, 0, out.windows * window}}, with_steps);
  }
  return out;
}

VehicleProfile forget_moves(VehicleProfile profile, double share, arrays::Random& random) {
  constexpr int64_t kFewFrames = 4;
  constexpr double kOfRareIds = 0.5;
  constexpr double kOfBytes = 0.6;  // a signal rests as a whole, counters beside it do not
  // A beginning of some seconds does not know ids that are sent more rarely.
  std::erase_if(profile.ids, [&](const IdProfile& id) {
    return id.frames <= kFewFrames && random.uniform() < kOfRareIds;
  });
  for (IdProfile& id : profile.ids) {
    if (random.uniform() >= share) continue;
    for (ByteMoves& byte : id.bytes) {
      if (random.uniform() >= kOfBytes) continue;
      byte.set_counts({byte.total()});
      byte.settle();
    }
    id.change = IdProfile::kLeastChange;
  }
  return profile;
}

}  // namespace kdgat::data
