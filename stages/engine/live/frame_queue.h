// FrameQueue: frames on their way from the one thread that reads them to the one that judges them.
// Owns a ring that is allocated whole before the first frame. Knows no sockets and no logs.
//
// Frames are seen as soon as they are pushed; a consumer that sleeps is woken by flush(), so that
// many frames cost one call of the system, and none while the consumer is busy.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/live/bell.h"

namespace kdgat::live {

/// Frames that wait, where nothing else is said: more than a second of a full classic bus.
inline constexpr std::size_t kQueueFrames = 16384;

struct LiveFrame {
  data::CanFrame frame;
  int64_t received = 0;       ///< when the machine had it, as monotonic_now()
  uint32_t lost = 0;          ///< frames of its channel known to be lost just ahead of it
  bool restarts = false;      ///< begins another capture, as graph::CanLog::restarted()
  bool is_sent_here = false;  ///< the kernel says that a program of this computer sent it
};

// What two threads write lies in lines of the cache of its own.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
class FrameQueue {
 public:
  /// Room for at least `frames`, a power of two.
  explicit FrameQueue(std::size_t frames = kQueueFrames);
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  std::size_t capacity() const { return mask_ + 1; }

  // The producer's.

  /// false: there is no room, the frame was not taken.
  bool push(const LiveFrame& frame);
  /// Waits for room. false: there is none and give_up() was called.
  bool push_wait(const LiveFrame& frame);
  /// Wakes the consumer for what was pushed. Call before anything that may take long.
  void flush() { filled_.ring(); }
  /// Nothing follows.
  void close();

  // The consumer's.

  /// The next frames, at most to.size(), which is not 0; 0: there are none now.
  std::size_t pop(std::span<LiveFrame> to);
  /// The same, but waits for the first one until `deadline`. 0: it is past, or is_ended().
  std::size_t pop_wait(std::span<LiveFrame> to, int64_t deadline);
  /// Closed, and all frames were taken.
  bool is_ended() const;

  /// From any thread: the producer no longer waits for room.
  void give_up();

 private:
  /// A frame without the room that most payloads do not need next to each other: what is written
  /// and read of a classic one lies in its first 40 bytes.
  struct Entry {
    double time;
    int64_t received;
    uint32_t id, lost;
    uint8_t length;
    int8_t label;
    uint8_t flags, channel;
    std::array<uint8_t, 64> payload;
  };
  static void pack(const LiveFrame& from, Entry& to);
  static void unpack(const Entry& from, LiveFrame& to);

  static constexpr std::size_t kLine = 64;

  std::vector<Entry> ring_;
  std::size_t mask_;
  alignas(kLine) std::atomic<uint64_t> pushed_{0};
  uint64_t popped_seen_ = 0;  // the producer's copy of popped_, read again where it looks full
  std::atomic<bool> is_closed_{false};
  alignas(kLine) std::atomic<uint64_t> popped_{0};
  uint64_t pushed_seen_ = 0;    // likewise the consumer's, where it looks less than wanted
  alignas(kLine) Bell filled_;  // both are rung seldom
  Bell emptied_;
  std::atomic<bool> gives_up_{false};
};

}  // namespace kdgat::live
