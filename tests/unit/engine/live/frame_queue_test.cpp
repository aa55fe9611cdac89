#include "engine/live/frame_queue.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace kdgat::live {
namespace {

LiveFrame numbered(uint32_t number) {
  LiveFrame out;
  out.frame.id = number;
  out.frame.time = number * 0.5;
  return out;
}

std::vector<uint32_t> ids_of(std::span<const LiveFrame> frames) {
  std::vector<uint32_t> out;
  for (const LiveFrame& live : frames) out.push_back(live.frame.id);
  return out;
}

TEST_CASE("a frame leaves the queue as it came in", "[frame_queue]") {
  FrameQueue queue(2);
  LiveFrame fd;
  fd.frame.time = 1700000000.123456;
  fd.frame.id = 0x1ABCDEF0;
  fd.frame.length = 64;
  fd.frame.label = 1;
  fd.frame.extended = fd.frame.fd = true;
  fd.frame.channel = 7;
  for (uint8_t i = 0; i < 64; ++i) fd.frame.payload[i] = static_cast<uint8_t>(i + 1);
  fd.received = 1234567890123;
  fd.lost = 4000000000;
  fd.restarts = true;
  fd.is_sent_here = true;
  LiveFrame classic = numbered(0x123);
  classic.frame.length = 8;
  classic.frame.remote = true;
  classic.frame.payload[0] = 9;
  classic.frame.payload[7] = 8;
  std::vector<LiveFrame> out(1);
  // The second time round the short one lies where the long one was.
  for (const LiveFrame& in : {fd, numbered(1), classic, fd}) {
    REQUIRE(queue.push(in));
    REQUIRE(queue.pop(out) == 1);
    const data::CanFrame &left = out[0].frame, &right = in.frame;
    CHECK(left.time == right.time);
    CHECK(left.key() == right.key());
    CHECK(left.length == right.length);
    CHECK(left.label == right.label);
    CHECK(left.extended == right.extended);
    CHECK(left.remote == right.remote);
    CHECK(left.fd == right.fd);
    CHECK(left.channel == right.channel);
    CHECK(left.payload == right.payload);
    CHECK(out[0].received == in.received);
    CHECK(out[0].lost == in.lost);
    CHECK(out[0].restarts == in.restarts);
    CHECK(out[0].is_sent_here == in.is_sent_here);
  }
}

TEST_CASE("a full queue takes nothing until something was taken from it", "[frame_queue]") {
  FrameQueue queue(3);
  REQUIRE(queue.capacity() == 4);
  std::vector<LiveFrame> out(3);
  CHECK(queue.pop(out) == 0);
  for (uint32_t number = 0; number < 4; ++number) CHECK(queue.push(numbered(number)));
  CHECK_FALSE(queue.push(numbered(4)));
  REQUIRE(queue.pop(out) == 3);
  CHECK(ids_of(out) == std::vector<uint32_t>{0, 1, 2});
  for (uint32_t number = 5; number < 8; ++number) CHECK(queue.push(numbered(number)));
  CHECK_FALSE(queue.push(numbered(8)));
  REQUIRE(queue.pop(out) == 3);
  CHECK(ids_of(out) == std::vector<uint32_t>{3, 5, 6});
  REQUIRE(queue.pop(out) == 1);
  CHECK(out[0].frame.id == 7);
}

TEST_CASE("a closed queue ends after its last frame", "[frame_queue]") {
  FrameQueue queue(4);
  std::vector<LiveFrame> out(4);
  CHECK(queue.pop_wait(out, 1) == 0);  // a moment long past
  CHECK_FALSE(queue.is_ended());
  REQUIRE(queue.push(numbered(1)));
  queue.close();
  CHECK_FALSE(queue.is_ended());
  CHECK(queue.pop_wait(out, kNever) == 1);
  CHECK(queue.is_ended());
  CHECK(queue.pop_wait(out, kNever) == 0);
}

TEST_CASE("two threads lose no frame and wake each other, whichever is faster", "[frame_queue]") {
  constexpr uint32_t kFrames = 100000;
  const std::size_t most = GENERATE(1, 5, 64);
  FrameQueue queue(16);
  std::thread producer([&] {
    for (uint32_t number = 0; number < kFrames; ++number) {
      queue.push_wait(numbered(number));
      if (number % 7 == 0) queue.flush();
    }
    queue.close();
  });
  std::vector<LiveFrame> out(most);
  uint32_t wanted = 0, wrong = 0;
  while (!queue.is_ended()) {
    const std::size_t count = queue.pop_wait(out, kNever);
    for (std::size_t i = 0; i < count; ++i, ++wanted) {
      wrong += out[i].frame.id != wanted || out[i].frame.time != wanted * 0.5;
    }
  }
  producer.join();
  CHECK(wanted == kFrames);
  CHECK(wrong == 0);
}

TEST_CASE("a producer that waits for room is let go", "[frame_queue]") {
  FrameQueue queue(2);
  REQUIRE(queue.push(numbered(0)));
  REQUIRE(queue.push(numbered(1)));
  std::atomic<bool> was_taken{true};
  std::thread producer([&] { was_taken = queue.push_wait(numbered(2)); });
  queue.give_up();
  producer.join();
  CHECK_FALSE(was_taken);
  std::vector<LiveFrame> out(4);
  CHECK(queue.pop(out) == 2);
  CHECK(queue.push_wait(numbered(3)));  // there is room: nothing to wait for
}

}  // namespace
}  // namespace kdgat::live
