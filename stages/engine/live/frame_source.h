// FrameSource: frames of a live bus or of a log that is played again, which one thread reads and
// another takes. Owns the queue between them and the reading thread. Knows neither sockets nor
// logs: BusReader and Replay do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/live/frame_queue.h"

namespace kdgat::live {

enum class BusState {
  kUp,
  kDown,  ///< the interface is there and was taken down
  kGone,  ///< the interface is not there, or cannot be read
};

/// What became of all that came in, of one bus or log, since it was opened.
struct BusCounts {
  std::string name;  ///< as it was asked for; of UDP with the port that was bound
  BusState state = BusState::kUp;
  int64_t frames = 0;         ///< put into the queue
  int64_t error_frames = 0;   ///< what the controller says of the bus; not among `frames`
  int64_t malformed = 0;      ///< datagrams that are no frame; rows of a log that are none
  int64_t kernel_drops = 0;   ///< lost because the receive buffer was full
  int64_t queue_drops = 0;    ///< lost because the consumer was too slow
  int64_t interruptions = 0;  ///< how often `state` left kUp
  int64_t own_frames = 0;     ///< of `frames`, those that the consumer left out as its own alarms
};

class FrameSource {
 public:
  FrameSource(const FrameSource&) = delete;
  FrameSource& operator=(const FrameSource&) = delete;
  virtual ~FrameSource() = default;

  /// For messages: "can0, can1", a file, "standard input".
  virtual std::string name() const = 0;
  /// From any thread, at any time; a row for each channel of a bus, one of a log.
  virtual std::vector<BusCounts> counts() const = 0;

  /// Begins to read, at most once.
  void start();
  /// By one thread, the consumer: the next frames in the order in which they came, as many as there
  /// are, up to some hundred; valid until the next call. Empty: none came within `time_out`, or
  /// is_ended(). Where reading failed, throws what it failed with after the frames ahead of it.
  std::span<const LiveFrame> next(std::chrono::nanoseconds time_out);
  /// The consumer's: nothing follows what next() gave.
  bool is_ended() const { return queue_.is_ended(); }
  /// From any thread: reads no further. What was read is still given, then it is ended.
  void stop();

 protected:
  explicit FrameSource(std::size_t queue_frames);

  /// The reading thread: pushes frames until there are no more or is_stopped(). What it throws is
  /// the consumer's, but not once it is stopped.
  virtual void run() = 0;
  /// From any thread, after is_stopped() became true: run() is not to wait any longer.
  virtual void wake() = 0;
  /// Stops and waits for run() to end; the first line of each destructor, as run() uses what that
  /// destroys.
  void finish();

  bool is_stopped() const { return is_stopped_.load(std::memory_order_acquire); }
  FrameQueue& queue() { return queue_; }

 private:
  FrameQueue queue_;
  std::vector<LiveFrame> batch_;
  std::atomic<bool> is_stopped_{false};
  std::exception_ptr failure_;  // written before the queue is closed
  std::thread reader_;
};

}  // namespace kdgat::live
