// Between the run and one sink: a thread of its own and a bounded queue, so that a sink that hangs
// or refuses keeps nobody waiting. Owns the sink, tries again what it did not take, holds back what
// comes too often, and counts. Knows no kind of sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/alarms/alarm_sink.h"

namespace kdgat {

/// A level, "info" or "warning", and a message. Must not wait and is called from any thread.
using AlarmTell = std::function<void(const std::string& level, const std::string& message)>;

struct AlarmCounts {
  std::string name;        ///< the words of the sink, without secrets
  int64_t sent = 0;        ///< taken
  int64_t dropped = 0;     ///< the queue was full, or the sink had ended or did not take it in time
  int64_t suppressed = 0;  ///< held back by the rate, newer ones went instead
  int64_t failed = 0;      ///< refused, or a command that did not end well
};

struct QueueLimits {
  std::size_t most_items = 1024;
  std::size_t most_bytes = std::size_t{4} << 20;
  double first_pause = 0.1, longest_pause = 30;  ///< seconds between two attempts
};

class AlarmQueue {
 public:
  AlarmQueue(ChosenSink chosen, AlarmTell tell, const QueueLimits& limits = {});
  AlarmQueue(const AlarmQueue&) = delete;
  AlarmQueue& operator=(const AlarmQueue&) = delete;
  /// Like finish() at once.
  ~AlarmQueue();

  /// Never waits. When it is full the oldest one goes.
  void send(AlarmItem item);

  /// No more come: what is there is written without further pauses, whatever the rate.
  void begin_end();
  /// Waits for that until the deadline; what is left then is dropped, and said. A sink that the
  /// system does not let go of keeps its thread, which ends with the process. May be called again.
  void finish(Deadline until);

  AlarmCounts counts() const;
  const std::optional<BusFrames>& bus_frames() const { return bus_frames_; }

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::optional<BusFrames> bus_frames_;
  bool is_joined_ = false;
};

}  // namespace kdgat
