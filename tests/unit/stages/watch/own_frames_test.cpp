// Which frames of a watched bus are left out: those alone that this program sent for its alarms.
#include "watch/own_frames.h"

#include <catch2/catch.hpp>

#include "kdgat/error.h"

namespace kdgat::watch {
namespace {

using live::LiveFrame;

AlarmEvent alarm_numbered(int64_t number, bool is_open = true) {
  AlarmEvent out;
  out.alarm = number;
  out.open = is_open;
  out.peak = 1.5F;
  out.windows = 2;
  out.ids = {"2C0"};
  return out;
}

/// As a bus gives the frame that was sent for the alarm.
LiveFrame sent_for(const AlarmEvent& alarm, int64_t suppressed = 0) {
  LiveFrame out;
  const AlarmBytes bytes = alarm_bytes(alarm, suppressed);
  out.frame.id = 0x6F0;
  out.frame.channel = 1;
  out.frame.length = bytes.size();
  std::copy(bytes.begin(), bytes.end(), out.frame.payload.begin());
  out.is_sent_here = true;
  return out;
}

OwnFrames on_can1() { return OwnFrames({"can1,6F0"}, {"can0", "can1"}); }

TEST_CASE("a frame that was sent for an alarm is left out once and counted", "[own_frames]") {
  OwnFrames own = on_can1();
  const LiveFrame frame = sent_for(alarm_numbered(3));
  CHECK_FALSE(own.is_own(frame));  // nothing was raised yet
  own.raise(alarm_numbered(3));
  CHECK(own.is_own(frame));
  CHECK_FALSE(own.is_own(frame));
  CHECK(own.count(0) == 0);
  CHECK(own.count(1) == 1);
}

TEST_CASE("the id of alarm frames hides nothing that this program did not send", "[own_frames]") {
  OwnFrames own = on_can1();
  own.raise(alarm_numbered(3));
  const LiveFrame ours = sent_for(alarm_numbered(3));
  LiveFrame from_the_bus = ours, other_bytes = ours, other_bus = ours, other_id = ours,
            long_id = ours, remote = ours, fd = ours, shorter = ours;
  from_the_bus.is_sent_here = false;  // an attacker who repeats the very bytes
  other_bytes.frame.payload[4] ^= 1;
  other_bus.frame.channel = 0;
  other_id.frame.id = 0x6F1;
  long_id.frame.extended = true;
  remote.frame.remote = true;
  fd.frame.fd = true;
  shorter.frame.length = 7;
  for (const LiveFrame& frame :
       {from_the_bus, other_bytes, other_bus, other_id, long_id, remote, fd, shorter}) {
    CHECK_FALSE(own.is_own(frame));
  }
  CHECK(own.count(0) + own.count(1) == 0);
  CHECK(own.is_own(ours));
}

TEST_CASE("alarms to a bus that is not watched leave nothing out", "[own_frames]") {
  OwnFrames own({"can7,6F0"}, {"can0", "can1"});
  own.raise(alarm_numbered(3));
  CHECK_FALSE(own.is_own(sent_for(alarm_numbered(3))));
  OwnFrames none({}, {"can0", "can1"});
  none.raise(alarm_numbered(3));
  CHECK_FALSE(none.is_own(sent_for(alarm_numbered(3))));
}

TEST_CASE("frames that count what was held back are known again", "[own_frames]") {
  OwnFrames own = on_can1();
  for (int64_t number = 0; number < 5; ++number) own.raise(alarm_numbered(number));
  CHECK(own.is_own(sent_for(alarm_numbered(0))));
  CHECK_FALSE(own.is_own(sent_for(alarm_numbered(3), 3)));  // two events were raised since the last
  CHECK(own.is_own(sent_for(alarm_numbered(3), 2)));
  CHECK_FALSE(own.is_own(sent_for(alarm_numbered(2))));  // it was held back
  CHECK(own.is_own(sent_for(alarm_numbered(4))));
  CHECK(own.count(1) == 3);
}

TEST_CASE("ids of 29 bits have eight digits, and what is no place is refused", "[own_frames]") {
  OwnFrames own({"can1,18FF0001"}, {"can0", "can1"});
  own.raise(alarm_numbered(0));
  LiveFrame frame = sent_for(alarm_numbered(0));
  frame.frame.id = 0x18FF0001;
  CHECK_FALSE(own.is_own(frame));
  frame.frame.extended = true;
  CHECK(own.is_own(frame));
  for (const char* text : {"can1", "can1,", "can1,6G0", ""}) {
    CHECK_THROWS_AS(OwnFrames({text}, {"can1"}), Error);
  }
}

}  // namespace
}  // namespace kdgat::watch
