// RelativeWindows: windows of a log in numbers that mean the same on every vehicle, because each is
// relative to what the vehicle's profile says is usual (features v3). Bounded state whatever ids
// come: unknown ids are counted, never kept.
//
// A frame is compared with up to four frames of its id before it and four after it, as far as the
// end of the window that follows its own: whether an injected frame or the true one beside it is
// the odd one shows in what comes next. So a window is complete one window later.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/data/can/frames/bus_clock.h"
#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/protocol_ids.h"
#include "engine/data/can/windows/vehicle_profile.h"

namespace kdgat::data {

/// Columns of a window, at most 20 each. All grow with oddness and are about 0 where all is as
/// usual, but for late and silence, which are about 1. With "crowd": how much earlier a frame, or
/// the one after it, comes than gaps of its id usually allow, as a share of the period, unless the
/// sender tells a change by it; "off": distance from when its id is due (0 to 1, see SendingTimes);
/// "new": the smallest surprise of the payload against its neighbours, in units of the id's usual
/// largest; "back": surprise against the frames before and after it, less that between those two,
/// in the same units.
enum class Relative : uint8_t {
  /// -log10 of the probability of so many frames whose id the profile does not have, see
  /// kMostExcused
  kUnknown,
  kLength,      ///< share of frames of a length never seen
  kCrowd,       ///< largest
  kCrowdShare,  ///< share of frames that come early by 0.4 periods or more
  kCrowdOff,    ///< largest min(crowd, off)
  kCrowdOff2,   ///< the second largest
  kOffShare,    ///< share of frames with off > 0.1
  kCrowdBack,   ///< largest min(crowd, back)
  kCrowdNew,    ///< largest min(crowd, new)
  kOffNew,      ///< largest min(off, new)
  kOffBack,     ///< largest min(off, back)
  kNew,         ///< largest
  kBack,        ///< largest
  kLate,        ///< largest gap, in the id's long usual ones
  kSilence,     ///< longest silence at the window's end, in the longest silences of the profile
  kCount
};
inline constexpr std::size_t kRelativeColumns = static_cast<std::size_t>(Relative::kCount);
std::vector<std::string> relative_names();

/// Frames of testers and of claimed addresses are compared with nothing, as long as they are no
/// more than this share of a window; beyond it all of them are unknown. A tester waits for one
/// answer before it asks again: some 100 times a second at most, 200 frames of the 1,000 and more
/// that a bus carries.
inline constexpr float kMostExcused = 0.25F;

struct RelativeWindow {
  int64_t first_row = 0;  ///< of the log
  double begin = 0, end = 0;
  double seconds = 0;  ///< listened to: jumps of the clock and pauses count kLongestPause at most
  int32_t frames = 0;
  bool attack = false;  ///< a frame is labelled as one
  std::array<float, kRelativeColumns> x{};
};

/// A frame of a window beside what is usual: what the columns are made of.
struct ComparedFrame {
  enum class Kind : uint8_t { kKnown, kUnknown, kExcused };  ///< see kMostExcused

  /// CanFrame::key() of the id of the profile that it was compared with; of any other its own.
  uint32_t key = 0;
  Kind kind = Kind::kUnknown;
  bool wrong_length = false;
  float gap = std::numeric_limits<float>::quiet_NaN();  ///< seconds since the id's last frame
  float distance = 0;                                   ///< from when it is due, in periods
  // As in Relative, of this frame; `early` without the frame after it.
  float early = 0, crowd = 0, off = 0, fresh = 0, back = 0, late = 0;
};

/// How long an id had been silent at the end of a window.
struct Silence {
  uint32_t key = 0;
  float ratio = 0;  ///< in the longest silences of the profile
  float seconds = 0;
};

// What of a profile windows are relative to.

/// The usual times of an id.
struct UsualTimes {
  double longest;   ///< seconds: the longest usual silence
  double pause;     ///< seconds: after longer ones an id that slept with its bus begins anew
  float early;      ///< gaps below this share of the period come early
  float late;       ///< usually the longest gap, in periods
  float tolerance;  ///< of SendingTimes
  float trust;      ///< in them, 0 to 1
};
UsualTimes usual_times(const IdProfile& id);
/// Relative::kUnknown of a window with 0, 1, .. `window` unknown frames.
std::vector<float> unknown_columns(const VehicleProfile& profile, int64_t window);
/// More excused frames than this in a window are unknown, see kMostExcused.
int64_t most_excused(int64_t window);
/// j1939_message() to the place in VehicleProfile::ids of the one id that counts for it: of several
/// priorities, and several receivers, the one that is sent most often.
using J1939Senders = std::unordered_map<uint32_t, int32_t>;
/// Of each bus that speaks J1939, by its channel.
std::map<uint8_t, J1939Senders> j1939_senders(const VehicleProfile& profile);

class RelativeWindows {
 public:
  /// `profile` must outlive this; its rules say what is told apart. `window`: frames.
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
  /// Of regular ids; without those that seem switched off.
  std::span<const Silence> silences() const { return silences_[silences_at_]; }
  /// window() without frames of these keys, and as if nobody waited for them; it still counts as so
  /// many frames, so that no column is larger than before.
  RelativeWindow without(std::span<const uint32_t> keys) const;
  /// The same without all other keys.
  RelativeWindow only(std::span<const uint32_t> keys) const;

 private:
  static constexpr int kNear = 4;  // frames of the id on either side
  static constexpr int32_t kUnknownId = -1, kExcused = -2;

  struct Row {
    int32_t sender = kUnknownId;  // place in senders_, or one of the two above
    uint32_t key = 0;             // CanFrame::key(): of a sender that of its profile
    bool wrong_length = false, attack = false;
    bool changed = false;      // a byte moved that rarely does
    bool lone_change = false;  // one such change in the last four frames of the id
    float gap = std::numeric_limits<float>::quiet_NaN(), distance = 0;  // see ComparedFrame
    float early = 0, off = 0, late = 0;
    float last_change = 0;  // surprise against the frame before
    float back = 0;
    float least_change = 0;  // against any neighbour
    int compared = 0;        // with how many
    int64_t next = -1;       // row of the next frame of the id, once seen
  };
  struct Past {
    int64_t row = -1;
    double time = 0;
    std::size_t length = 0;
    bool changed = false;
    std::array<uint8_t, kMostPayload> payload{};
  };
  struct Sender {
    const IdProfile* usual = nullptr;
    SendingTimes times;
    bool keeps_times = false;
    UsualTimes usual_times{};
    int64_t frames = 0;
    int64_t bus_frames = 0;        // of its bus, when the last one came
    double asleep = 0;             // BusActivity::asleep() of its bus then
    std::array<Past, kNear> past;  // by frames % kNear

    /// Of frames > 0.
    const Past& last() const { return past[static_cast<std::size_t>((frames - 1) % kNear)]; }
    void begin_anew() {
      frames = 0;
      if (keeps_times) times.start(usual->period, usual_times.tolerance);
    }
  };
  /// A bus that speaks J1939.
  struct Network {
    J1939Senders messages;
    AddressClaims claims;
  };

  Row& row(int64_t number) { return rows_[static_cast<std::size_t>(number) % rows_.size()]; }
  void find_networks();
  int32_t sender_of(const CanFrame& frame);
  int32_t j1939_sender(Network& network, const CanFrame& frame);
  void begin_anew();
  void add_times(Sender& sender, Row& row, double time) const;
  void add_payload(Sender& sender, Row& row, int64_t number, const CanFrame& frame);
  bool explained(const Row& row);
  void complete(int64_t number);
  ComparedFrame compared(const Row& row);
  template <class Stays>
  std::array<float, kRelativeColumns> columns(Stays stays) const;
  void listen_for_silence(std::vector<Silence>& out) const;

  const VehicleProfile& profile_;
  int64_t size_;
  std::vector<float> unknown_;                   // unknown_columns()
  std::vector<Sender> senders_;                  // as profile_.ids
  std::array<int32_t, 2048> place_small_;        // of 11-bit ids of the first bus
  std::unordered_map<uint32_t, int32_t> place_;  // of others, by key
  std::array<std::unique_ptr<Network>, kMostChannels> networks_;
  std::vector<Row> rows_;                        // of the last three windows
  std::vector<double> begins_, ends_, seconds_;  // of windows, by number % 3
  std::vector<std::vector<Silence>> silences_;   // the same
  std::size_t silences_at_ = 0;                  // those of window_
  std::vector<ComparedFrame> frames_;            // of window_
  LogClock clock_;
  BusActivity activity_;
  int64_t count_ = 0, given_ = 0;  // rows added, windows given
  RelativeWindow window_;
};

}  // namespace kdgat::data
