// RelativeWindows: windows of a log in numbers that mean the same on every vehicle, because each is
// relative to what the vehicle's profile says is usual (features v3). Bounded state whatever ids
// come: unknown ids are counted, never kept. What is computed is in
// engine/portable/windows.h, which an exported detector has as well.
//
// A frame is compared with up to four frames of its id before it and four after it, as far as the
// end of the window that follows its own: whether an injected frame or the true one beside it is
// the odd one shows in what comes next. So a window is complete one window later.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/windows/vehicle_profile.h"
#include "engine/data/can/windows/vehicle_tables.h"
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

struct RelativeWindow {
  int64_t first_row = 0;  ///< of the log
  double begin = 0, end = 0;
  double seconds = 0;  ///< listened to: jumps of the clock and pauses count kLongestPause at most
  int32_t frames = 0;
  bool attack = false;  ///< a frame is labelled as one
  std::array<float, kRelativeColumns> x{};
  int32_t broken = 0;  ///< frames that break laws of their payloads, see portable/laws.h
};

/// A frame of a window next to what is usual: what the columns are made of.
struct ComparedFrame : kdgat_compared {
  enum class Kind : uint8_t { kKnown, kUnknown, kExcused };  ///< see kMostExcused

  /// CanFrame::key() of the id of the profile that it was compared with; of any other its own.
  uint32_t key = 0;
  float gap = 0;       ///< seconds since the id's last frame; NaN: none
  float distance = 0;  ///< from when it is due, in periods

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

class RelativeWindows {
 public:
  /// `window`: frames, from 1 to kMostWindow.
  RelativeWindows(const VehicleProfile& profile, int64_t window);

  /// Another capture begins: no frame is compared across. Windows go on.
  void restart();
  /// Returns whether window() is a new complete one.
  bool add(const CanFrame& frame);
  /// The log has ended: the last window, if one is complete but not yet given; false at the end.
  bool finish();
  const RelativeWindow& window() const { return window_; }

  // Of window(), until the next one is given.
  /// In the order of its rows.
  std::span<const ComparedFrame> frames() const { return frames_; }
  /// Of ids whose silence says something, see IdProfile::is_missed().
  std::span<const Silence> silences() const { return kept_[given_slot_].silences; }
  /// window() without frames of these keys, and as if nobody waited for them; it still counts as so
  /// many frames, so that no column is larger than before.
  RelativeWindow without(std::span<const uint32_t> keys) const;
  /// The same without all other keys.
  RelativeWindow only(std::span<const uint32_t> keys) const;

 private:
  /// Of a row, beyond what is compared.
  struct Extra {
    uint32_t key = 0;
    float gap = 0, distance = 0;  // see ComparedFrame
    bool attack = false;
  };
  /// What is kept of a window until it is given, by its number % 3.
  struct Kept {
    double begin = 0, end = 0, seconds = 0;
    std::vector<Silence> silences;
  };

  void complete(int64_t number);
  template <class Stays>
  RelativeWindow with_columns(Stays stays) const;
  void listen_for_silence(std::vector<Silence>& out) const;

  VehicleTables tables_;
  const kdgat_vehicle& vehicle_;  // their view
  int64_t size_;
  std::vector<kdgat_sender> senders_;  // these six are what state_ points at
  std::vector<kdgat_bus> buses_;
  std::vector<kdgat_row> rows_;
  std::vector<int16_t> former_;
  std::vector<uint8_t> payloads_;
  std::vector<kdgat_law_state> laws_;
  kdgat_windows state_{};
  std::vector<Extra> extras_;  // as rows_
  std::array<Kept, 3> kept_;
  std::size_t given_slot_ = 0;         // in kept_, of window_
  std::vector<ComparedFrame> frames_;  // of window_
  int64_t given_ = 0;                  // windows
  RelativeWindow window_;
};

}  // namespace kdgat::data
