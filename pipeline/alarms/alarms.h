// All sinks of a run: what `--alarm` names, each behind a queue of its own, and what is to be said
// of them. Owns the queues and the thread that says it. Knows no bus and no model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/alarms/alarm_queue.h"

namespace kdgat {

struct AlarmSinkOptions {
  /// What people should know of a sink; called on a thread of its own, one message at a time. What
  /// it needs must last until finish() or the end of the sinks.
  std::function<void(const std::string& level, const std::string& message)> tell;
  QueueLimits limits{};
};

class AlarmSinks {
 public:
  using Counts = AlarmCounts;

  /// Throws Error(kUsage) for words that are wrong or that this system cannot serve, and nothing is
  /// started then.
  AlarmSinks(const std::vector<std::string>& words, AlarmSinkOptions options);
  AlarmSinks(const AlarmSinks&) = delete;
  AlarmSinks& operator=(const AlarmSinks&) = delete;
  /// Like finish(0).
  ~AlarmSinks();

  /// To every sink; never waits for one.
  void send(const AlarmItem& item);

  /// Writes all that is queued, for so many seconds at most and little more; what is left is
  /// counted and said. Nothing is sent afterwards. May be called again.
  void finish(double seconds);

  /// In the order of the words.
  std::vector<Counts> counts() const;

  /// What these sinks write to interfaces of SocketCAN: whoever watches one reads it there.
  std::vector<BusFrames> bus_frames() const;

 private:
  class Notices;
  std::shared_ptr<Notices> notices_;
  std::vector<std::unique_ptr<AlarmQueue>> queues_;
};

}  // namespace kdgat
