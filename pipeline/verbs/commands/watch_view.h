// WatchView: what `kdgat watch` shows of the traffic and of alarms: one line that is drawn over
// itself on a terminal, and JSON lines elsewhere. Knows no bus and no sink.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>

#include "kdgat/event.h"
#include "pipeline/alarms/alarm_sink.h"
#include "pipeline/alarms/traffic.h"
#include "pipeline/show/status.h"

namespace kdgat {

/// "▁▂▁▇": scores from the oldest on, those above 0 in the upper half. Nothing of none.
std::string curve_of(const std::deque<float>& scores);

/// "alarm 0 at 12.340 s, 316: 41 frames where 10 are usual", or how long it was once it is over.
std::string alarm_text(const AlarmEvent& alarm);

/// The line of a report, in at most `columns` columns.
std::string traffic_text(const Traffic& traffic, const std::deque<float>& scores,
                         const std::string& name, int columns);

class WatchView {
 public:
  using Write = std::function<void(const AlarmItem& item)>;

  /// `write`: takes lines of JSON; empty where people look on. `err` must outlive it. `err_fd`:
  /// what `err` writes to: nothing is written while nobody takes it there, so that nobody who stops
  /// a terminal, or leaves a pipe unread, stops the watching; -1: it never keeps anybody waiting.
  WatchView(Write write, std::ostream& err, const Terminal& terminal, int err_fd = -1);

  void set_name(const std::string& name) { name_ = name; }
  void alarm(const AlarmEvent& event);
  void traffic(const Traffic& report);
  /// From any thread.
  void message(const std::string& level, const std::string& text);
  /// The last line stays where it is.
  void finish();

 private:
  /// Whether `err` takes a line now; one that it does not take is counted.
  bool is_taken();
  void clear_line();

  Write write_;
  std::ostream& err_;
  Terminal terminal_;
  int err_fd_;
  int64_t untold_ = 0;  // messages that nobody took
  std::mutex mutex_;
  std::string name_, line_;  // line_: what stands there now
  std::deque<float> scores_;
};

}  // namespace kdgat
