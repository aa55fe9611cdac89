// A log whose windows several methods judged: what each said of each window, and what the labels
// say. Knows no method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/can/frames/usual_window.h"
#include "engine/data/can/vehicles/stored_log.h"

namespace kdgat::compare {

/// Frames of windows that count and that are labelled: injected ones found and missed, and true
/// ones taken for injected.
struct FrameCounts {
  int64_t found = 0, missed = 0, wrong = 0;
};

/// What one method says of windows of a log. It may begin later than others, as where its profile
/// is of the log's own first windows: then these are the last of those that count.
struct Verdicts {
  std::string method;
  std::vector<float> scores;
  double threshold = 0;  ///< flagged is what scores above it
  /// Of a model whose input was changed on purpose: shown beside it, and held against no other.
  bool is_ablated = false;
  std::optional<FrameCounts> frames{};  ///< of a method that says which frames were injected
};

struct JudgedLog {
  std::string name, part;
  std::string profile;  ///< the vehicle whose profile was used; "" = its own first windows
  int64_t own = 0;      ///< windows that its own profile was learned from, which count nowhere
  int64_t size = data::kUsualWindow;  ///< frames of a window

  // Of each window that counts.
  std::vector<int64_t> first_row;  ///< of the log
  std::vector<int64_t> labels;     ///< 1 attack, 0 benign
  std::vector<double> begin, end;  ///< times of the first and the last frame, seconds
  /// Listened to: no pause, and no jump of the clock, is longer than one.
  std::vector<double> seconds;
  std::vector<double> attacked;  ///< time of the first attack frame, seconds; NaN = none
  std::vector<uint8_t> shadow;   ///< benign, right after an attack window
  /// Benign windows near an attack with so many frames of ids that the vehicle's benign traffic
  /// does not have: the label may be wrong. 0 elsewhere.
  std::vector<int32_t> suspect;

  std::vector<Verdicts> said;

  /// Null where the method said nothing of this log.
  const Verdicts* find(const std::string& method) const;
  /// The window, of those that count, that the verdicts begin with.
  std::size_t first_of(const Verdicts& verdicts) const {
    return labels.size() - verdicts.scores.size();
  }
};

/// What kind of attack a log holds, by its name: the kind that `kdgat data inject` has put at its
/// end ("drive-3-fuzzing-known"), or else its first word, as in the published files ("DoS-kia",
/// "rpm-accessory-1").
std::string attack_of(const std::string& name);

/// Fills `shadow`, `attacked` and `suspect` from the rows of the log, by `size`, `first_row` and
/// `labels`, and times and `seconds` where there are none yet. Suspects are benign windows that
/// begin behind the last attack row, or stand right beside an attack window. `benign_ids`: of
/// benign traffic of the vehicle; those of the log's rows ahead of its first attack are added.
/// Where neither says what is usual (a vehicle never seen, kLeastOwn windows) there are no
/// suspects.
void mark_windows(const data::StoredLog& log, std::vector<uint32_t> benign_ids, JudgedLog& out);

}  // namespace kdgat::compare
