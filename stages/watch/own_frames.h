// OwnFrames: knows again the frames that this program itself wrote to a watched bus for its alarms,
// so that they alone are left out. Knows no socket.
//
// An id proves nothing: anybody on a bus can use it. A frame is left out only if all of this holds:
// the kernel marks it as sent by a program of this computer, it came in on the interface that
// alarms are written to, it has the id, and it has the bytes of an alarm that was raised and whose
// frame has not come yet. Each alarm leaves out one frame at most. Of anything else nothing is left
// out.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "engine/live/frame_queue.h"
#include "kdgat/alarm_frame.h"

namespace kdgat::watch {

class OwnFrames {
 public:
  /// `sent`: "INTERFACE,ID" for each place that frames are written to; ID in hexadecimal, 8 digits
  /// for one of 29 bits. `buses`: names of the watched ones, by channel. Throws Error(kUsage).
  OwnFrames(const std::vector<std::string>& sent, const std::vector<std::string>& buses);

  /// An alarm is about to be handed on.
  void raise(const AlarmEvent& alarm);
  /// Whether the frame is one of those; it is counted.
  bool is_own(const live::LiveFrame& live);
  /// Frames of a bus that were left out.
  int64_t count(std::size_t channel) const { return counts_[channel]; }

 private:
  struct Place {
    std::size_t channel;
    uint32_t id;
    bool is_extended;
    std::deque<AlarmBytes> awaited;  // the oldest first, as if nothing was held back ahead of it
  };

  std::vector<Place> places_;
  std::vector<int64_t> counts_;
};

}  // namespace kdgat::watch
