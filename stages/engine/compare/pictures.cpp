#include "engine/compare/pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "engine/compare/summary.h"
#include "engine/decision/detector/alarms.h"

namespace kdgat::compare {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLogs = 40;       // of a part
constexpr std::size_t kMostColumns = 6000;  // of all logs and models together
constexpr std::size_t kLeastOfALog = 40, kMostOfALog = 300;
constexpr std::size_t kBins = 40;

/// Seconds to the millisecond: more than a picture shows.
double milliseconds(double seconds) { return std::round(seconds * 1000) / 1000; }

/// A score, on whatever scale, with five digits.
double shortened(double score) {
  if (score == 0 || !std::isfinite(score)) return score;
  const double scale = std::pow(10, 4 - std::floor(std::log10(std::abs(score))));
  return std::round(score * scale) / scale;
}

double above_threshold(const Verdicts& said, std::size_t i) {
  return static_cast<double>(said.scores[i]) - said.threshold;
}

/// What a method said of the windows of a part.
struct Judgement {
  std::vector<std::pair<double, bool>> windows;  ///< score above the threshold, and whether attack
  double hours = 0;
};

Judgement gather(const JudgedLogs& logs, const std::string& method) {
  constexpr double kHour = 3600;
  Judgement out;
  for (const JudgedLog* log : logs) {
    const Verdicts* said = log->find(method);
    if (said == nullptr) continue;
    for (std::size_t i = 0; i < said->scores.size(); ++i) {
      const std::size_t w = i + log->first_of(*said);
      const bool is_attack = log->labels[w] == 1;
      out.windows.emplace_back(above_threshold(*said, i), is_attack);
      if (!is_attack && std::isfinite(log->seconds[w])) out.hours += log->seconds[w] / kHour;
    }
  }
  return out;
}

/// Attacks and benign windows flagged at falling thresholds. Each small count of benign ones is
/// there, larger ones grow by a few percent: a logarithmic axis shows no more.
void add_curve(Judgement& of, json& out) {
  constexpr double kGrowth = 1.05;
  auto& windows = of.windows;
  std::sort(windows.begin(), windows.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  int64_t tp = 0, fp = 0, used_tp = 0, used_fp = 0, wanted = 0;
  std::vector<std::pair<int64_t, int64_t>> points = {{0, 0}};
  for (std::size_t first = 0, end = 0; first < windows.size(); first = end) {
    const int64_t before_tp = tp, before_fp = fp;
    for (; end < windows.size() && windows[end].first == windows[first].first; ++end) {
      ++(windows[end].second ? tp : fp);
    }
    if (windows[first].first > 0) used_tp = tp, used_fp = fp;
    if (fp == before_fp) continue;
    // The last point before more benign windows are flagged is the best one of its count.
    if (before_fp >= wanted && points.back() != std::pair{before_tp, before_fp}) {
      points.emplace_back(before_tp, before_fp);
      wanted =
          std::max(before_fp + 1, static_cast<int64_t>(static_cast<double>(before_fp) * kGrowth));
    }
  }
  if (points.back() != std::pair{tp, fp}) points.emplace_back(tp, fp);
  out["attacks"] = tp;
  out["benign"] = fp;
  out["hours"] = of.hours;
  out["at"] = {{"tp", used_tp}, {"fp", used_fp}};
  for (const auto& [up, along] : points) {
    out["tp"].push_back(up);
    out["fp"].push_back(along);
  }
}

/// Of sorted windows.
json histogram_of(const Judgement& of) {
  const auto& windows = of.windows;
  if (windows.empty()) return {};
  // A few scores far away would leave one bar of all others.
  const std::size_t beyond = windows.size() / 500;
  const double to = windows[beyond].first, from = windows[windows.size() - 1 - beyond].first;
  const double width = to > from ? (to - from) / static_cast<double>(kBins) : 1;
  std::vector<int64_t> benign(kBins), attack(kBins);
  for (const auto& [score, is_attack] : windows) {
    const double place = std::clamp((score - from) / width, 0.0, static_cast<double>(kBins - 1));
    ++(is_attack ? attack : benign)[static_cast<std::size_t>(place)];
  }
  return {{"from", shortened(from)},
          {"to", shortened(from + width * static_cast<double>(kBins))},
          {"benign", benign},
          {"attack", attack}};
}

/// Where the windows of a log stand on its axis of time.
struct TimeAxis {
  explicit TimeAxis(const JudgedLog& log) : log_(log) {
    const auto& begin = log.begin;
    has_times_ = begin.size() == log.labels.size() && log.end.size() == begin.size() &&
                 std::is_sorted(begin.begin(), begin.end()) &&
                 std::all_of(begin.begin(), begin.end(), [](double t) { return std::isfinite(t); });
  }
  const char* name() const { return has_times_ ? "seconds" : "windows"; }
  double from(std::size_t window) const {
    return has_times_ ? milliseconds(log_.begin[window] - log_.begin[0])
                      : static_cast<double>(window);
  }
  double to(std::size_t window) const {
    if (!has_times_) return static_cast<double>(window + 1);
    return milliseconds(std::max(log_.end[window], log_.begin[window]) - log_.begin[0]);
  }

 private:
  const JudgedLog& log_;
  bool has_times_ = false;
};

/// Marked windows as [from, to], neighbours together.
json intervals(const TimeAxis& axis, std::size_t windows,
               const std::function<bool(std::size_t)>& is_marked) {
  json out = json::array();
  std::size_t last = 0;
  for (std::size_t w = 0; w < windows; ++w) {
    if (!is_marked(w)) continue;
    if (!out.empty() && w - last == 1) {
      out.back()[1] = axis.to(w);
    } else {
      out.push_back({axis.from(w), axis.to(w)});
    }
    last = w;
  }
  return out;
}

/// As they are told while a log is scored; those less than a column apart are drawn as one.
json alarms_of(const JudgedLog& log, const Verdicts& said, const TimeAxis& axis,
               std::size_t columns) {
  const std::size_t first = log.first_of(said), windows = log.labels.size();
  const double column = axis.to(windows - 1) / static_cast<double>(columns);
  json out = json::array();
  decision::AlarmStream stream(said.threshold);
  std::map<int64_t, std::size_t> at;  // window of the log -> position
  const auto close = [&] {
    const double begin = axis.from(at.at(stream.alarm().first_window));
    const double end = axis.to(at.at(stream.alarm().last_window));
    if (!out.empty() && begin - out.back()[1].get<double>() < column) {
      out.back()[1] = end;
    } else {
      out.push_back({begin, end});
    }
  };
  for (std::size_t w = first; w < windows; ++w) {
    const int64_t number = log.first_row[w] / log.size;
    at[number] = w;
    const auto change = stream.add(number, said.scores[w - first], log.begin[w], log.end[w]);
    if (change == decision::AlarmStream::Change::kClosed) close();
  }
  if (stream.finish() == decision::AlarmStream::Change::kClosed) close();
  return out;
}

json line_of(const JudgedLog& log, const Verdicts& said, const TimeAxis& axis,
             std::size_t most_columns) {
  const std::size_t first = log.first_of(said), count = said.scores.size();
  const std::size_t columns = std::min(count, most_columns);
  json x = json::array(), low = json::array(), high = json::array();
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t begin = c * count / columns, end = (c + 1) * count / columns;
    double least = above_threshold(said, begin), most = least;
    for (std::size_t i = begin; i < end; ++i) {
      least = std::min(least, above_threshold(said, i));
      most = std::max(most, above_threshold(said, i));
    }
    x.push_back(axis.from(begin + first));
    low.push_back(shortened(least));
    high.push_back(shortened(most));
  }
  return {{"name", said.method},
          {"x", std::move(x)},
          {"low", std::move(low)},
          {"high", std::move(high)},
          {"alarms", alarms_of(log, said, axis, most_columns)}};
}

json log_of(const JudgedLog& log, const Comparison& comparison, std::size_t columns) {
  const TimeAxis axis(log);
  json out = {{"name", log.name},
              {"windows", log.labels.size()},
              {"axis", axis.name()},
              {"attacks", intervals(axis, log.labels.size(),
                                    [&](std::size_t w) { return log.labels[w] == 1; })},
              {"models", json::array()}};
  for (const std::string& model : comparison.models()) {
    const Verdicts* said = log.find(model);
    if (said == nullptr || said->scores.empty()) continue;
    out["models"].push_back(line_of(log, *said, axis, columns));
  }
  return out;
}

json method_of(const JudgedLogs& logs, const std::string& method, bool is_model,
               const json& figures) {
  json out = {{"name", method},
              {"model", is_model},
              {"value", figures.at("f1")},
              {"low", figures.at("f1_low")},
              {"high", figures.at("f1_high")}};
  Judgement all = gather(logs, method);
  add_curve(all, out);
  if (is_model) out["histogram"] = histogram_of(all);
  return out;
}

}  // namespace

json pictures_of(const std::vector<JudgedLog>& logs, const Comparison& comparison) {
  std::map<std::string, JudgedLogs> parts;
  for (const JudgedLog& log : logs) parts[log.part].push_back(&log);
  std::size_t drawn = 0;
  for (const auto& [part, of] : parts) drawn += std::min(of.size(), kMostLogs);
  const std::size_t lines = std::max<std::size_t>(1, drawn * comparison.models().size());
  const std::size_t columns = std::clamp(kMostColumns / lines, kLeastOfALog, kMostOfALog);

  json out = {
      {"shortfalls", comparison.shortfalls()}, {"measure", "F1"}, {"parts", json::object()}};
  for (const auto& [part, of] : parts) {
    json& to = out["parts"][part];
    to = {{"methods", json::array()}, {"logs", json::array()}};
    const json& figures = comparison.metrics().at("parts").at(part);
    for (const std::string& method : comparison.methods()) {
      if (!figures.contains(method)) continue;
      to["methods"].push_back(
          method_of(of, method, comparison.is_model(method), figures.at(method)));
    }
    const std::size_t shown = std::min(of.size(), kMostLogs);
    for (std::size_t i = 0; i < shown; ++i) {
      to["logs"].push_back(log_of(*of[i], comparison, columns));
    }
    to["more_logs"] = of.size() - shown;
  }
  return out;
}

}  // namespace kdgat::compare
