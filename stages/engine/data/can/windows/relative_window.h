// What is said of a window relative to what is usual: its columns, and each of its frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/portable/windows.h"

namespace kdgat::data {

/// Columns of a window, at most 20 each. All grow with oddness and are about 0 where all is as
/// usual, but for silence and tight, which are about 1. With "crowd": how much earlier a frame, or
/// the one after it, comes than gaps of its id usually allow, as a share of the period, unless a
/// change explains it, see kdgat_is_explained(); "off": distance from when its id is due (0 to 1,
/// see SendingTimes); "new": the smallest surprise of the payload against its neighbours, in units
/// of the id's usual largest; "back": surprise against the frames before and after it, less that
/// between those two, in the same units.
enum class Relative : uint8_t {
  /// How improbable so many frames are whose id the profile does not have, see kMostExcused
  kUnknown = KDGAT_COL_UNKNOWN,
  kLength = KDGAT_COL_LENGTH,         ///< share of frames of a length never seen
  kCrowd = KDGAT_COL_CROWD,           ///< largest
  kSurplus = KDGAT_COL_SURPLUS,       ///< share of frames beyond twice as many as are usual
  kCrowdOff = KDGAT_COL_CROWD_OFF,    ///< largest min(crowd, off)
  kCrowdOff2 = KDGAT_COL_CROWD_OFF2,  ///< the second largest
  kOffShare = KDGAT_COL_OFF_SHARE,    ///< share of frames with off > 0.1
  kCrowdBack = KDGAT_COL_CROWD_BACK,  ///< largest min(crowd, back)
  kCrowdNew = KDGAT_COL_CROWD_NEW,    ///< largest min(crowd, new)
  kOffNew = KDGAT_COL_OFF_NEW,        ///< largest min(off, new)
  kOffBack = KDGAT_COL_OFF_BACK,      ///< largest min(off, back)
  kNew = KDGAT_COL_NEW,               ///< largest
  kBack = KDGAT_COL_BACK,             ///< largest
  /// longest silence of a regular id that a frame ends or that lasts at the window's end, in the
  /// longest silence of the profile
  kSilence = KDGAT_COL_SILENCE,
  kTight = KDGAT_COL_TIGHT  ///< largest: the shortest usual gap of an id over a gap, as crowd
};
inline constexpr std::size_t kRelativeColumns = KDGAT_COLUMNS;
std::vector<std::string> relative_names();

struct RelativeGraph;

struct RelativeWindow {
  int64_t first_row = 0;  ///< of the log
  double begin = 0, end = 0;
  double seconds = 0;  ///< listened to: jumps of the clock and pauses count kLongestPause at most
  int32_t frames = 0;
  bool attack = false;       ///< a frame is labelled as one
  bool is_labelled = false;  ///< all frames say whether they are one
  std::array<float, kRelativeColumns> x{};
  int32_t broken = 0;  ///< frames that break laws of their payloads, see portable/laws.h
  std::shared_ptr<const RelativeGraph> graph;  ///< where it was asked for
};

/// A frame of a window next to what is usual: what the columns are made of.
struct ComparedFrame : kdgat_compared {
  enum class Kind : uint8_t { kKnown, kUnknown, kExcused };  ///< see kMostExcused

  /// CanFrame::key() of the id of the profile that it was compared with; of any other its own.
  uint32_t key = 0;
  float gap = 0;          ///< seconds since the id's last frame; NaN: none
  float distance = 0;     ///< from when it is due, in periods
  double time = 0;        ///< seconds, of a clock that never steps back
  bool restarts = false;  ///< begins another capture: it is no step from the frame ahead of it
  bool attack = false;    ///< labelled as one

  Kind kind() const {
    return (flags & KDGAT_ROW_KNOWN) != 0     ? Kind::kKnown
           : (flags & KDGAT_ROW_EXCUSED) != 0 ? Kind::kExcused
                                              : Kind::kUnknown;
  }
  bool wrong_length() const { return (flags & KDGAT_ROW_WRONG_LENGTH) != 0; }
};

/// How long an id had been silent at the end of a window.
struct Silence {
  uint32_t key = 0;
  float ratio = 0;  ///< in the longest silences of the profile
  float seconds = 0;
};

}  // namespace kdgat::data
