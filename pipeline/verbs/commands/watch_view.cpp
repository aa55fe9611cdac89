#include "pipeline/verbs/commands/watch_view.h"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>
#include <vector>

#include "kdgat/text.h"
#include "pipeline/show/printable_stream.h"
#include "pipeline/show/text.h"

namespace kdgat {

namespace {

using nlohmann::json;

constexpr std::size_t kCurve = 30;  // reports

std::string plural(int64_t n, const std::string& of) {
  return grouped(n) + " " + of + (n == 1 ? "" : "s");
}

/// Of all buses.
int64_t sum_of(const Traffic& traffic, int64_t BusTraffic::*count) {
  int64_t out = 0;
  for (const BusTraffic& bus : traffic.buses) out += bus.*count;
  return out;
}

std::string seconds_text(const json& time) {
  return time.is_number() ? format_number("%.3f", time.get<double>()) + " s" : "";
}

}  // namespace

std::string curve_of(const std::deque<float>& scores) {
  static constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kHalf = 4, kFull = 10;  // log-odds of a full half
  std::string out;
  for (const float score : scores) {
    const double share = std::clamp(score / kFull, -1.0, 1.0);
    const double level =
        share > 0 ? kHalf + std::ceil(share * kHalf) - 1 : kHalf - 1 + std::ceil(share * kHalf);
    out += kBars[static_cast<std::size_t>(std::clamp(level, 0.0, 7.0))];
  }
  return out;
}

std::string alarm_text(const AlarmEvent& alarm) {
  std::string out = "alarm " + std::to_string(alarm.alarm);
  const std::string begin = seconds_text(alarm.begin), end = seconds_text(alarm.end);
  if (alarm.open) {
    out += begin.empty() ? " in window " + std::to_string(alarm.first_window) : " at " + begin;
  } else {
    out += " is over: ";
    out += begin.empty() ? "windows " + std::to_string(alarm.first_window) + " to " +
                               std::to_string(alarm.last_window)
                         : begin + " to " + end;
    out += ", " + plural(alarm.windows, "window") + ", highest score " +
           format_number("%.2f", static_cast<double>(alarm.peak));
  }
  if (!alarm.open) return out;
  for (const std::string& reason : alarm.reasons) out += "\n  " + reason;
  if (alarm.reasons.empty() && !alarm.ids.empty()) {
    for (std::size_t i = 0; i < alarm.ids.size(); ++i) out += (i == 0 ? ": " : ", ") + alarm.ids[i];
  }
  return out;
}

std::string traffic_text(const Traffic& traffic, const std::deque<float>& scores,
                         const std::string& name, int columns) {
  std::vector<std::string> parts = {
      name + "  " + grouped(std::llround(traffic.frames_per_second)) + "/s",
      format_number("%.0f", 100 * traffic.load) + " %"};
  if (traffic.calibrating) {
    parts.emplace_back("calibrating");
  } else if (traffic.learning) {
    parts.emplace_back("listening");
  } else {
    parts.push_back(plural(traffic.alarms, "alarm") + (traffic.alarm_open ? " and one open" : ""));
    if (!traffic.fits) parts.emplace_back("may not fit this bus");
    if (!scores.empty()) parts.push_back(curve_of(scores));
    parts.push_back(plural(traffic.unknown_ids, "unknown id"));
    parts.push_back(grouped(traffic.windows) + " windows");
  }
  if (const int64_t own = sum_of(traffic, &BusTraffic::own_frames); own > 0) {
    parts.insert(parts.begin() + 2, grouped(own) + " of its own");
  }
  const int64_t lost =
      sum_of(traffic, &BusTraffic::kernel_drops) + sum_of(traffic, &BusTraffic::queue_drops);
  if (lost > 0) parts.insert(parts.begin() + 2, grouped(lost) + " lost");
  std::string out;
  for (const std::string& part : parts) {  // the last ones give way
    std::string longer = out;
    longer.append(out.empty() ? "" : "  ").append(part);
    if (text_width(longer) > static_cast<std::size_t>(columns)) break;
    out = std::move(longer);
  }
  return out;
}

WatchView::WatchView(Write write, std::ostream& err, const Terminal& terminal, int err_fd)
    : write_(std::move(write)), err_(err), terminal_(terminal), err_fd_(err_fd) {}

bool WatchView::is_taken() {
  pollfd polled{err_fd_, POLLOUT, 0};
  if (err_fd_ >= 0 && ::poll(&polled, 1, 0) == 0) {
    ++untold_;
    return false;
  }
  if (const int64_t untold = std::exchange(untold_, 0); untold > 0) {
    clear_line();
    err_ << "warning: " << plural(untold, "line") << " could not be shown meanwhile\n";
  }
  return true;
}

void WatchView::clear_line() {
  if (!line_.empty()) write_control(err_, "\r\x1b[K");
}

void WatchView::alarm(const AlarmEvent& event) {
  const std::lock_guard lock(mutex_);
  if (write_) return write_(event);
  if (!is_taken()) return;
  clear_line();
  err_ << printable(alarm_text(event)) << "\n" << line_ << std::flush;
}

void WatchView::traffic(const Traffic& report) {
  const std::lock_guard lock(mutex_);
  if (write_) {
    json event = record::write<json>(report);
    event["event"] = "traffic";
    return write_(event.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  if (report.highest_score) {
    scores_.push_back(static_cast<float>(*report.highest_score));
    if (scores_.size() > kCurve) scores_.pop_front();
  }
  if (!terminal_.moves || !is_taken()) return;
  clear_line();
  line_ = traffic_text(report, scores_, name_, terminal_.columns - 1);
  err_ << line_ << std::flush;
}

void WatchView::message(const std::string& level, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if ((terminal_.verbosity < 0 && level == "info") || !is_taken()) return;
  clear_line();
  err_ << (level == "info" ? "" : level + ": ") << printable(text) << "\n" << line_ << std::flush;
}

void WatchView::finish() {
  const std::lock_guard lock(mutex_);
  if (!line_.empty()) err_ << "\n" << std::flush;
  line_.clear();
}

}  // namespace kdgat
