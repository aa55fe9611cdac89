// ChannelChoice: which buses of a log are read: all, or one of them, by its number or its name.
// Knows no form of logs.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/channel_names.h"
#include "kdgat/options.h"

namespace kdgat::data {

inline constexpr const char* kAllChannels = "all";
inline constexpr const char* kEachChannel = "each";

/// One bus of a log that is read bus by bus (log_streams.h): what ChannelChoice takes for it.
std::string channel_of_each(std::size_t number);

class ChannelChoice {
 public:
  /// kAllChannels, the number of a bus (see ChannelNames), its name, or channel_of_each().
  explicit ChannelChoice(const std::string& channel = kAllChannels);

  /// Whether the frame is of a bus that is read. One of the only bus that is read is on bus 0 from
  /// then on, as in a log that has no other.
  bool take(CanFrame& frame, const ChannelNames& names) {
    if (is_all_) return true;
    seen_.set(frame.channel);
    if (frame.channel != number_ && !is_named(frame.channel, names)) {
      ++passed_over_;
      return false;
    }
    frame.channel = 0;
    return true;
  }

  int64_t passed_over() const { return passed_over_; }  ///< frames of other buses so far
  /// What is to be said of those; "" of none, or where the other buses are read too.
  std::string note(const ChannelNames& names) const;
  /// Throws Error(kData) naming the buses that there are, where no frame was of the one to be read.
  void require_frames(const std::string& log, const ChannelNames& names) const;

 private:
  bool is_named(uint8_t channel, const ChannelNames& names);
  std::string others(const ChannelNames& names) const;

  static constexpr int kUnknown = -1;

  std::string channel_;
  bool is_all_, is_one_of_each_ = false;
  int number_ = kUnknown;  // of a name: once a frame of it has come
  std::bitset<kMostChannels> seen_;
  int64_t passed_over_ = 0;
};

/// What is wrong with an option `channel`. `not_each`: why it cannot be kEachChannel, "" if it can.
std::vector<Diagnostic> channel_problems(const std::string& channel,
                                         const std::string& not_each = "");

/// The rows of an option `channel` that may be kEachChannel, and of one that may not.
template <class Options>
auto channel_row(std::string Options::*member) {
  return field("channel", member,
               "Of a log of several buses: all, the number of one (from 0) or its name (can1), or "
               "each: every bus is a log of its own.")
      .later();
}
template <class Options>
auto one_channel_row(std::string Options::*member) {
  return field("channel", member,
               "Of a log of several buses: all, or the number of one (from 0) or its name (can1).")
      .later();
}

}  // namespace kdgat::data
