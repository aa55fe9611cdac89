// A part of a window's score in words and numbers: what its ids did beside what is usual on the
// vehicle. Only what the part's columns saw is said. Knows no model and no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/logs/dbc.h"
#include "engine/data/can/windows/relative_windows.h"
#include "engine/data/can/windows/vehicle_profile.h"
#include "engine/decision/detector/blame.h"

namespace kdgat::decision {

/// A row of a log while it streams; `restarts`: another capture begins with it.
struct LogRow {
  data::CanFrame frame;
  bool restarts = false;
};

/// A window that was just judged, and rows of its log, to say what its ids did.
struct Evidence {
  const data::VehicleProfile& profile;
  const data::RelativeWindows& windows;   ///< its window() is the one in question
  std::span<const LogRow> rows;           ///< of the log: ahead of the window, its own, any behind
  std::size_t first;                      ///< of `rows` the window's first one
  const data::DbcNames* names = nullptr;  ///< of ids and bytes, for people; nullptr: none
};

/// What one id did in a window. Milliseconds; absent where there is nothing to say.
struct IdFacts {
  std::string id;        ///< id_text()
  bool is_known = true;  ///< the profile has it
  int64_t frames = 0;    ///< in the window
  std::optional<double> usual_frames;
  std::optional<double> shortest_gap, longest_gap, usual_gap;
  std::optional<double> off;     ///< farthest from when it is due
  std::optional<double> silent;  ///< at the window's end, where that is part of the reason
  bool next_is_early = false;    ///< the frame after one of these comes early, in the next window
  std::vector<int> wrong_lengths, usual_lengths;
  std::vector<int> constant_moved;  ///< bytes that moved and never did before, from 0
  std::vector<int> jumped;          ///< bytes that moved farther than they do
  std::vector<int> stood;           ///< bytes that stayed in most frames, and change in nearly all
  std::string name;                 ///< of the message; "" where none is known
  std::map<int, std::vector<std::string>> signals;  ///< names of those of the bytes above
};

struct Reason {
  double score = 0;          ///< BlamedIds::score
  std::vector<IdFacts> ids;  ///< of several the first kToldIds
  int64_t more = 0;          ///< further ones
  int64_t frames = 0;        ///< of all of them in the window
  std::string words;         ///< without the ids, no comma: "41 frames where 10 are usual; ..."

  /// "316", "316 (EngineData) and 2C0", "316 2C0 01A and 9 more".
  std::string names() const;
  /// "316: 41 frames where 10 are usual; gap 0.5 ms where 10 ms is"; no commas.
  std::string text() const { return names() + ": " + words; }
  nlohmann::json json() const;
};
inline constexpr std::size_t kToldIds = 3;

Reason reason_of(const BlamedIds& part, const Evidence& evidence);

}  // namespace kdgat::decision
