// WatchView: what `kdgat watch` shows of the traffic and of alarms: one line that is drawn over itself on
// a terminal, and JSON lines elsewhere. Knows no bus and no sink.
#pragma once

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "kdgat/event.h"
#include "pipeline/show/status.h"

namespace kdgat {

/// "▁▂▁▇": scores from the oldest on, those above 0 in the upper half. Nothing of none.
std::string curve_of(const std::deque<float>& scores);

/// "alarm 0 at 12.340 s, 316: 41 frames where 10 are usual", or how long it was once it is over.
std::string alarm_text(const AlarmEvent& alarm);

/// The line of a report of traffic (stage watch), in at most `columns` columns.
std::string traffic_text(const nlohmann::json& traffic, const std::deque<float>& scores,
                         const std::string& name, int columns);

class WatchView {
 public:
  /// `lines`: where JSON lines go; nullptr where people look on. Both must outlive it.
  WatchView(std::ostream* lines, std::ostream& err, const Terminal& terminal);

  void set_name(const std::string& name) { name_ = name; }
  void alarm(const nlohmann::json& event);
  void traffic(const nlohmann::json& values);
  /// From any thread.
  void message(const std::string& level, const std::string& text);
  /// The last line stays where it is.
  void finish();
  /// Whoever read the lines has gone.
  bool is_closed() const { return is_closed_; }

 private:
  void clear_line();
  void write_line(const nlohmann::json& event);

  std::ostream* lines_;
  std::ostream& err_;
  Terminal terminal_;
  std::mutex mutex_;
  std::string name_, line_;  // line_: what stands there now
  std::deque<float> scores_;
  bool is_closed_ = false;
};

}  // namespace kdgat
