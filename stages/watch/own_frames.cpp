#include "watch/own_frames.h"

#include <algorithm>
#include <charconv>

#include "kdgat/error.h"

namespace kdgat::watch {
namespace {

/// Alarms whose frames may still come: more than a sink keeps waiting.
constexpr std::size_t kMostAwaited = 4096;

/// Whether a frame with these bytes may be that of the alarm, of which as many events as are ahead
/// of it were not sent: the sink held back so many at most.
bool is_frame_of(const AlarmBytes& awaited, std::size_t ahead, const data::CanFrame& frame) {
  return std::equal(awaited.begin(), awaited.begin() + kSuppressedByte, frame.payload.begin()) &&
         frame.payload[kSuppressedByte] <= ahead;
}

}  // namespace

OwnFrames::OwnFrames(const std::vector<std::string>& sent, const std::vector<std::string>& buses)
    : counts_(buses.size()) {
  constexpr std::size_t kExtendedDigits = 8;
  constexpr int kHexadecimal = 16;
  for (const std::string& text : sent) {
    const std::size_t comma = std::min(text.rfind(','), text.size());
    const std::string id = comma < text.size() ? text.substr(comma + 1) : "";
    Place place{0, 0, id.size() == kExtendedDigits, {}};
    const char* end = id.data() + id.size();
    const auto [at, fault] = std::from_chars(id.data(), end, place.id, kHexadecimal);
    if (fault != std::errc() || at != end) {
      throw Error(ExitCode::kUsage, "own_frames: \"" + text + "\" is not INTERFACE,ID");
    }
    const auto bus = std::find(buses.begin(), buses.end(), text.substr(0, comma));
    if (bus == buses.end()) continue;  // it is not watched
    place.channel = static_cast<std::size_t>(bus - buses.begin());
    places_.push_back(std::move(place));
  }
}

void OwnFrames::raise(const AlarmEvent& alarm) {
  for (Place& place : places_) {
    if (place.awaited.size() == kMostAwaited) place.awaited.pop_front();
    place.awaited.push_back(alarm_bytes(alarm, 0));
  }
}

bool OwnFrames::is_own(const live::LiveFrame& live) {
  const data::CanFrame& frame = live.frame;
  if (!live.is_sent_here || frame.fd || frame.remote || frame.length != sizeof(AlarmBytes)) {
    return false;
  }
  for (Place& place : places_) {
    if (place.channel != frame.channel || place.id != frame.id ||
        place.is_extended != frame.extended) {
      continue;
    }
    for (std::size_t i = 0; i < place.awaited.size(); ++i) {
      if (!is_frame_of(place.awaited[i], i, frame)) continue;
      // Frames come in the order of their alarms: those ahead were held back or lost.
      place.awaited.erase(place.awaited.begin(),
                          place.awaited.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      ++counts_[place.channel];
      return true;
    }
  }
  return false;
}

}  // namespace kdgat::watch
