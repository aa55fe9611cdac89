// Which windows of training logs are learned from, against how many profiles and next to how many
// injected attacks: what WindowLearner follows, and what is counted beforehand. Reads no frame but
// labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/can/synthetic/attack_options.h"
#include "engine/data/can/vehicles/learning_options.h"
#include "engine/data/can/vehicles/stored_log.h"

namespace kdgat::data {

/// Pieces of so many windows at most are taken of logs that are too long to be learned from as a
/// whole.
inline constexpr int64_t kPieceWindows = 500;
/// Times that windows are seen against each profile that forgot something.
inline constexpr int kForgetful = 2;

/// Windows of a log, and those of them ahead of its first attack.
struct WindowCounts {
  int64_t all = 0, benign = 0;
};
WindowCounts windows_of(const StoredLog& log, int64_t window);

/// What windows of a log are compared with.
struct ProfileSource {
  /// Windows of the log's beginning that teach it, which are themselves compared with nothing; 0:
  /// other logs of the vehicle do.
  int64_t learned = 0;
  int32_t own = 0;  ///< see SeenWindow
};
/// Of fewer windows ahead of its first attack a vehicle's only log teaches nothing.
inline constexpr int64_t kLeastAlone = 60;
std::vector<ProfileSource> profile_sources(const WindowCounts& log, bool has_others);

inline constexpr int64_t kLeastPiece = 20;
struct WindowRange {
  int64_t begin = 0, end = 0;
};
/// Windows of a log that are learned from; where all are, from the first on, and those ahead of
/// `from` are heard only, as are some ahead of each piece. `all`: windows of all
/// training logs, of which `most` are taken at most, evenly spread over every log; of a short one
/// among many its beginning, and kLeastPiece of each in any case.
std::vector<WindowRange> pieces_of(int64_t windows, int64_t from, int64_t all, int64_t most);

/// Most windows of one log, for one profile and kind of attack, that attacks are injected into;
/// `logs`: how many there are.
int64_t injected_windows(int64_t logs, int64_t window);
/// Fewer than these are attacked nowhere.
inline constexpr int64_t kLeastInjected = 20;
/// How they are attacked.
CanInjectOptions injection();

/// What WindowLearner makes of logs, nearly and rather more.
struct LearningSize {
  int64_t windows = 0;  ///< of the logs, learned from
  int64_t rows = 0;     ///< windows that are given
  int64_t held = 0;     ///< benign ones of a profile that forgot nothing
  int64_t attacked_frames = 0,
          added_frames = 0;  ///< of one log and kind, when attacks are injected
};
LearningSize learning_size(std::span<const StoredLog> logs, int64_t window,
                           const LearningOptions& options);

}  // namespace kdgat::data
