// BusReader: the frames of one or several live buses, in the order of the kernel's time. Owns their
// sockets and what wakes the reading thread. Loses frames rather than wait, and says how many.
#pragma once

#include <poll.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/can/logs/can_log.h"
#include "engine/live/bus_socket.h"
#include "engine/live/clock_steps.h"
#include "engine/live/frame_source.h"

namespace kdgat::live {

struct BusOptions {
  std::vector<std::string> filters;  ///< each as id_filter() reads it; none: every id
  int receive_buffer = 4 << 20;      ///< bytes of each socket; the kernel may give less
  std::size_t queue_frames = kQueueFrames;
};

class BusReader final : public FrameSource {
 public:
  /// Opens them all; the channel of one is its place in the list. Each as bus_address() reads it.
  /// Throws Error(kUsage).
  explicit BusReader(const std::vector<std::string>& buses, const BusOptions& options = {});
  ~BusReader() override;

  std::string name() const override;
  /// Buses that take frames from other computers, which nothing proves to be of the bus.
  std::vector<std::string> exposed() const;
  std::vector<BusCounts> counts() const override;

 private:
  void run() override;
  void wake() override;

  void wait();
  void pause(int64_t until);
  void read_all();
  void fetch(BusSocket& bus);
  BusSocket* earliest() const;
  void give(BusSocket& bus);
  void look_after();

  std::vector<std::unique_ptr<BusSocket>> buses_;
  int woken_;                   // an eventfd
  std::vector<pollfd> polled_;  // the first is woken_
  LiveFrame next_;
  double last_time_ = -std::numeric_limits<double>::infinity();
  ClockSteps steps_{data::kClockRestart};
  std::vector<int64_t> lost_;  // of each channel, for want of room, ahead of its next frame
  int64_t read_at_ = 0;        // moments
  int64_t looked_at_ = 0;
};

}  // namespace kdgat::live
