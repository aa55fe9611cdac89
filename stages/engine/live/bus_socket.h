// BusSocket: one bus as the kernel gives it, through a CAN socket or a UDP port to which each frame
// comes as a datagram of the same bytes. Owns the socket, the buffers of one reading and the bus's
// counters. Knows no thread and no other bus: BusReader waits, and merges several.
#pragma once

#include <linux/can.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/live/bus_address.h"
#include "engine/live/frame_source.h"
#include "kdgat/error.h"

namespace kdgat::live {

/// Reads the bytes of one frame as a CAN socket gives them. `is_error`: it is no frame of the bus
/// but what the controller says of it. false: it is neither. Sets neither time nor channel.
bool read_frame(std::span<const std::byte> bytes, data::CanFrame& frame, bool& is_error);

class BusSocket {
 public:
  /// Opens it. `receive_buffer`: bytes asked of the kernel. Throws Error(kUsage).
  BusSocket(BusAddress address, uint8_t channel, std::vector<can_filter> filters,
            int receive_buffer);
  BusSocket(const BusSocket&) = delete;
  BusSocket& operator=(const BusSocket&) = delete;
  ~BusSocket();

  /// -1: it is gone.
  int fd() const { return fd_; }
  /// "udp:HOST:PORT" with the port that was bound.
  const std::string& name() const { return address_.name; }
  /// It is a UDP port that other computers reach.
  bool is_exposed() const { return is_exposed_; }
  /// From any thread.
  BusCounts counts() const;

  /// Reads what is there, as much as the buffers hold, without waiting. Only when frame() is
  /// nullptr.
  void receive();
  /// The earliest frame that was read and not yet passed; nullptr: none is left.
  const LiveFrame* frame() const { return next_ < count_ ? &frames_[next_] : nullptr; }
  void pass() { ++next_; }
  /// The last receive() filled the buffers: there may be more.
  bool has_more() const { return has_more_; }

  /// Also to be called while nothing comes, and at the end: counts what the kernel dropped since
  /// the last frame.
  void count_drops();
  /// Where it is not up: looks whether it is again, and opens it if it was gone.
  void revive();
  /// What became of a frame that was passed.
  void count_given() { frames_given_.fetch_add(1, std::memory_order_relaxed); }
  void count_queue_drop() { queue_drops_.fetch_add(1, std::memory_order_relaxed); }

 private:
  bool is_up() const { return state_.load(std::memory_order_relaxed) == BusState::kUp; }

  static constexpr std::size_t kBatch = 64;
  struct Message {
    alignas(canfd_frame) std::array<std::byte, sizeof(canfd_frame)> bytes;
    alignas(cmsghdr) std::array<std::byte, 128> control;
  };

  std::optional<Diagnostic> open();
  std::optional<Diagnostic> open_can();
  std::optional<Diagnostic> open_udp();
  void set_options();
  void close();
  struct Clocks {
    int64_t now;     // monotonic_now()
    int64_t behind;  // so far is it behind CLOCK_REALTIME, by which the kernel stamps frames
  };
  static Clocks clocks();
  bool take(const mmsghdr& head, const Message& message, const Clocks& clocks, LiveFrame& to);
  int64_t count_dropped(uint32_t ever);
  void set_state(BusState state);

  BusAddress address_;
  uint8_t channel_;
  std::vector<can_filter> filters_;
  int receive_buffer_;
  int fd_ = -1;
  bool is_exposed_ = false;

  std::vector<Message> messages_;
  std::vector<iovec> parts_;
  std::vector<mmsghdr> heads_;
  std::vector<LiveFrame> frames_;
  std::size_t next_ = 0, count_ = 0;
  bool has_more_ = false;
  int64_t received_ = 0;  // the last frame, or the opening
  uint32_t dropped_ = 0;  // by the kernel, of this socket, as far as counted
  int64_t lost_ = 0;      // ahead of the next frame

  std::atomic<BusState> state_{BusState::kUp};
  std::atomic<int64_t> frames_given_{0}, queue_drops_{0}, error_frames_{0}, malformed_{0},
      kernel_drops_{0}, interruptions_{0};
};

}  // namespace kdgat::live
