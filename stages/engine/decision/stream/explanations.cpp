#include "engine/decision/stream/explanations.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kdgat/text.h"

namespace kdgat::decision {
namespace {

using nlohmann::json;

std::string points(double score) { return format_number("%.2f", score); }
std::string seconds_text(double begin, double end) {
  return format_number("%.3f", begin) + " to " + format_number("%.3f", end) + " s";
}

std::string decision_of(const JudgedWindow& window, double threshold) {
  return window.is_own ? "calibration" : window.score > threshold ? "attack" : "benign";
}

std::string vehicle_of(const WindowScorer& watch) {
  const data::Vehicle* vehicle = watch.vehicle();
  return vehicle != nullptr ? vehicle->name : "";
}

}  // namespace

json time_json(double seconds) { return std::isnan(seconds) ? json() : json(seconds); }

bool Explanations::is_wanted(const JudgedWindow& window) const {
  if (options_.explain == "window")
    return static_cast<double>(window.number) == options_.explain_at;
  if (options_.explain != "time") return false;
  const double end = std::isnan(window.until) ? window.relative.end : window.until;
  return window.time <= options_.explain_at &&
         (options_.explain_at < end || options_.explain_at == window.relative.end);
}

void Explanations::add(const std::string& file, const JudgedWindow& window, double threshold,
                       const AlarmStream& alarms, int64_t alarm, const WindowScorer& watch) {
  if (options_.explain == "none" || is_done()) return;
  if (window.number == 0) first_ = window.time;
  last_ = window.relative.end;
  const bool in_alarm = !window.is_own && window.score > threshold && alarms.is_open();
  const bool is_peak = in_alarm && alarms.alarm().peak_window == window.number;
  const bool asks_for_it =
      options_.explain == "alarms" ||
      (options_.explain == "alarm" && static_cast<double>(alarm) == options_.explain_at);
  if (!is_wanted(window) && !(is_peak && asks_for_it)) return;
  Found one{file,      vehicle_of(watch),  window,
            threshold, watch.alarm_rule(), watch.reasons(static_cast<std::size_t>(options_.top)),
            {}};
  if (asks_for_it) {
    one.alarm = {alarm, 0, 0, {}};
    peak_ = std::move(one);
  } else {
    found_.push_back(std::move(one));
  }
}

void Explanations::close(const kdgat_alarm& alarm, double begin, double end) {
  if (!peak_) return;
  Found one = std::move(*peak_);
  peak_.reset();
  one.alarm = {one.alarm->number, begin, end, alarm};
  found_.push_back(std::move(one));
  std::stable_sort(found_.begin(), found_.end(),
                   [](const Found& a, const Found& b) { return a.window.score > b.window.score; });
  if (found_.size() <= kMostAlarms) return;
  found_.pop_back();
  ++left_out_;
}

void Explanations::finish_log(const std::string& file, int64_t windows, int64_t alarms) const {
  if (!options_.explains_one() || is_done()) return;
  const std::string at =
      format_number(options_.explain == "time" ? "%.3f" : "%.0f", options_.explain_at);
  if (options_.explain == "window") {
    throw Error(ExitCode::kUsage, file + " has no window " + at,
                "its windows are 0 to " + std::to_string(windows - 1));
  }
  if (options_.explain == "alarm") {
    throw Error(ExitCode::kUsage, file + " has no alarm " + at,
                alarms == 0   ? "it has none at all; a window of it can be named"
                : alarms == 1 ? "it has one, alarm 0"
                              : "its alarms are 0 to " + std::to_string(alarms - 1));
  }
  if (std::isnan(first_)) {
    throw Error(ExitCode::kUsage, file + " has no times", "name a window by its number");
  }
  throw Error(ExitCode::kUsage, file + " has no window at " + at + " s",
              "its windows go from " + seconds_text(first_, last_));
}

void Explanations::send() const {
  for (const Found& one : found_) {
    StageResult result;
    result.summary = heading(one);
    result.table = table(one);
    result.metrics = numbers(one);
    host_.metrics("reasons", one.window.number, result);
  }
  if (left_out_ > 0) {
    host_.log("info", "the " + std::to_string(kMostAlarms) + " highest of " +
                          grouped(static_cast<int64_t>(kMostAlarms) + left_out_) +
                          " alarms are explained; any other by its number");
  }
  if (found_.empty() && options_.explain == "alarms") {
    host_.log("info", "no alarm, so nothing to explain; a window can be named");
  }
}

std::string Explanations::heading(const Found& one) {
  const JudgedWindow& window = one.window;
  std::string out = one.file + ", window " + std::to_string(window.number);
  if (!std::isnan(window.time)) out += ", " + seconds_text(window.time, window.relative.end);
  out += ": score " + points(window.alone);
  if (!one.alarm_rule.is_single() && !window.is_own) {
    const std::string k = std::to_string(one.alarm_rule.k), n = std::to_string(one.alarm_rule.n);
    out += " alone; " + points(window.score) + " by " + k + " of the last " + n + " windows";
  }
  if (window.is_own) {
    out += "; learned from as what is usual on the vehicle, so it is not judged";
  } else if (window.score > one.threshold) {
    out += ", flagged above " + format_number("%g", one.threshold);
  } else {
    out += ", not flagged: the threshold is " + format_number("%g", one.threshold);
  }
  if (one.alarm) {
    const AlarmSpan& span = *one.alarm;
    out += "\nalarm " + std::to_string(span.number) + ": ";
    out += std::isnan(span.begin) ? "windows " + std::to_string(span.alarm.first_window) + " to " +
                                        std::to_string(span.alarm.last_window)
                                  : seconds_text(span.begin, span.end);
    out += ", " + grouped(span.alarm.windows) + (span.alarm.windows == 1 ? " window" : " windows") +
           " flagged; this is its highest";
  }
  out += one.vehicle.empty() ? "\ncompared with the beginning of the log, a vehicle never seen"
                             : "\ncompared with the vehicle of " + one.vehicle;
  return out;
}

json Explanations::numbers(const Found& one) {
  json alarm, list = json::array();
  if (one.alarm) {
    alarm = {{"number", one.alarm->number},
             {"begin", time_json(one.alarm->begin)},
             {"end", time_json(one.alarm->end)},
             {"first_window", one.alarm->alarm.first_window},
             {"last_window", one.alarm->alarm.last_window},
             {"windows", one.alarm->alarm.windows}};
  }
  for (const Reason& reason : one.reasons.reasons) list.push_back(reason.json());
  return {{"file", one.file},
          {"window", one.window.number},
          {"row", one.window.relative.first_row},
          {"time", time_json(one.window.time)},
          {"end", time_json(one.window.relative.end)},
          {"score", one.alarm_rule.is_single() ? one.reasons.score : double{one.window.score}},
          {"alone", one.reasons.score},
          {"threshold", one.threshold},
          {"decision", decision_of(one.window, one.threshold)},
          {"vehicle", one.vehicle.empty() ? json() : json(one.vehicle)},
          {"alarm", alarm},
          {"reasons", list},
          {"everything_else", one.reasons.rest}};
}

ResultTable Explanations::table(const Found& one) {
  ResultTable out{{"part", "of", "what it did"}, {}};
  const auto part = [](double score) { return format_number("%+.2f", score); };
  for (const Reason& reason : one.reasons.reasons) {
    const bool is_one = reason.ids.size() == 1;
    out.rows.push_back(
        {part(reason.score), (is_one ? "id " : "ids ") + reason.names(), reason.words});
  }
  out.rows.push_back({part(one.reasons.rest), "everything else", ""});
  out.rows.push_back(
      {part(one.reasons.score), one.alarm_rule.is_single() ? "the score" : "the window alone", ""});
  return out;
}

}  // namespace kdgat::decision
