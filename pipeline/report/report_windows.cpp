// Windows that models and baselines judged (pictures.json of a step; what is in it, the stage
// says): bars, histograms, curves, and scores over time.
#include <algorithm>
#include <cmath>

#include "kdgat/text.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/show/bars_svg.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

using nlohmann::json;
using Points = std::vector<std::pair<double, double>>;

constexpr int kAttackColour = 1, kAlarmColour = 3;

std::vector<double> numbers_of(const json& list) {
  std::vector<double> out;
  if (!list.is_array()) return out;
  for (const json& value : list) {
    out.push_back(value.is_number() ? value.get<double>() : std::nan(""));
  }
  return out;
}

std::optional<double> number_there(const json& from, const char* name) {
  const json value = below(from, name);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// A list of an object, and an empty one where there is none.
json list_of(const json& from, const char* name) {
  const json list = below(from, name);
  return list.is_array() ? list : json::array();
}

std::string bars_figure(const std::string& part, const std::string& measure, const json& methods) {
  BarChart chart;
  chart.title = measure + ", " + part;
  chart.axis = measure;
  bool has_interval = false;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const json& method = methods[i];
    const auto value = number_there(method, "value");
    if (!value) continue;
    Bar bar;
    bar.name = word(method, "name");
    bar.value = *value;
    bar.low = number_there(method, "low");
    bar.high = number_there(method, "high");
    bar.colour = static_cast<int>(i);
    bar.is_pale = below(method, "model") != true;
    has_interval = has_interval || (bar.low && bar.high);
    chart.bars.push_back(std::move(bar));
  }
  return figure(chart.title, bars_svg(chart),
                "Models are filled, what they are held against is pale" +
                    std::string(has_interval ? "; the line is the range of 95 % over files" : "") +
                    ".");
}

/// The outline of a histogram, in percent of all its windows.
Points outline(const std::vector<double>& counts, double from, double to) {
  double all = 0;
  for (const double count : counts) all += count;
  Points out;
  if (all <= 0) return out;
  const double width = (to - from) / static_cast<double>(counts.size());
  out.emplace_back(from, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double begin = from + width * static_cast<double>(i), share = 100 * counts[i] / all;
    out.emplace_back(begin, share);
    out.emplace_back(begin + width, share);
  }
  out.emplace_back(to, 0);
  return out;
}

std::string histogram_figure(const std::string& part, const json& method) {
  const json histogram = below(method, "histogram");
  const auto from = number_there(histogram, "from"), to = number_there(histogram, "to");
  if (!from || !to) return "";
  const std::string name = word(method, "name");
  Chart chart;
  chart.title = "Scores by class, " + name + ", " + part;
  chart.x = {.title = "score above the threshold"};
  chart.y = {.title = "% of the windows of a class", .from = 0};
  chart.has_markers = true;
  chart.lines = {
      {"benign", outline(numbers_of(below(histogram, "benign")), *from, *to), 0},
      {"attack", outline(numbers_of(below(histogram, "attack")), *from, *to), kAttackColour}};
  for (ChartLine& line : chart.lines) line.has_words = false;
  chart.rules = {{0, "threshold"}};
  return figure(chart,
                "Right of the threshold a window is flagged. The outer steps hold all "
                "scores beyond them.");
}

/// ROC and recall over false windows an hour, a line for each method.
std::string curves_figures(const std::string& part, const json& methods) {
  constexpr const char* kFound = "attack windows found";
  Chart roc = chart_of_shares("ROC, " + part, "false alarms among benign windows", kFound);
  Chart budget = chart_of_shares("Recall by false windows an hour, " + part, "", kFound);
  budget.x = {.title = "false windows an hour", .scale = Axis::Scale::kLog};
  double least_rate = 0;  // one false window in all the hours there are
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const json& method = methods[i];
    const std::vector<double> tp = numbers_of(below(method, "tp")),
                              fp = numbers_of(below(method, "fp"));
    const double attacks = number(method, "attacks", 0), benign = number(method, "benign", 0),
                 hours = number(method, "hours", 0);
    if (tp.size() != fp.size() || attacks <= 0 || benign <= 0) continue;
    const std::string name = word(method, "name");
    const int colour = static_cast<int>(i);
    ChartLine up{name, {}, colour}, by_hour{name, {}, colour};
    if (hours > 0) least_rate = 1 / hours;
    for (std::size_t k = 0; k < tp.size(); ++k) {
      up.points.emplace_back(fp[k] / benign, tp[k] / attacks);
      if (hours <= 0) continue;
      // None has no logarithm: it stands at the left edge, half of what one would be.
      const double rate = std::max(fp[k], 0.5) / hours;
      if (k > 0 && fp[k] > 0) by_hour.points.emplace_back(rate, tp[k - 1] / attacks);
      if (k > 0 || fp.size() == 1) by_hour.points.emplace_back(rate, tp[k] / attacks);
    }
    const json at = below(method, "at");
    const double recall = number(at, "tp", 0) / attacks, false_windows = number(at, "fp", 0);
    std::string words = name + " at its threshold: " + format_number("%.3f", recall) +
                        " of the attack windows, " + grouped(std::llround(false_windows)) +
                        " false of " + grouped(std::llround(benign)) + " benign ones";
    roc.marks.push_back({false_windows / benign, recall, colour, words});
    if (hours > 0) {
      const double rate = std::max(false_windows, 0.5) / hours;
      budget.marks.push_back({rate, recall, colour, std::move(words)});
    }
    roc.lines.push_back(std::move(up));
    if (!by_hour.points.empty()) budget.lines.push_back(std::move(by_hour));
  }
  if (roc.lines.empty()) return "";
  roc.lines.push_back({"", {{0, 0}, {1, 1}}, kGrey, true});
  std::string note = "The rings are the thresholds in use.";
  if (least_rate > 0) {
    note += " One false window would be " + format_number("%.2g", least_rate) +
            " an hour; none is drawn at half of that.";
  }
  return figure(roc, "The rings are the thresholds in use.") + figure(budget, note);
}

/// "1 alarm", "2,527 windows"
std::string counted(double count, const std::string& one, const std::string& several = "") {
  const int64_t number = std::llround(count);
  return grouped(number) + " " + (number == 1 ? one : several.empty() ? one + "s" : several);
}

void add_spans(Chart& chart, const json& intervals, const ChartSpan& like, double unit) {
  for (const json& one : intervals) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_number() || !one[1].is_number()) continue;
    ChartSpan span = like;
    span.from = one[0].get<double>() / unit;
    span.to = one[1].get<double>() / unit;
    span.words = like.name + ": " + format_number("%.2f", span.from) + " to " +
                 format_number("%.2f", span.to) + " (" + chart.x.title + ")";
    chart.spans.push_back(std::move(span));
  }
}

/// The scores of one model on one log. Has no lines if there is nothing to draw.
Chart log_chart(const json& log, const json& line) {
  constexpr double kMinute = 60, kLong = 20 * kMinute;
  const std::vector<double> x = numbers_of(below(line, "x")), low = numbers_of(below(line, "low")),
                            high = numbers_of(below(line, "high"));
  Chart chart;
  if (x.empty() || low.size() != x.size() || high.size() != x.size()) return chart;
  const bool has_times = word(log, "axis") == "seconds";
  const double unit = has_times && x.back() > kLong ? kMinute : 1;
  chart.title = word(log, "name");
  chart.x.title = !has_times  ? "windows from the start of the log"
                  : unit == 1 ? "seconds from the start of the log"
                              : "minutes from the start of the log";
  chart.y.title = "score above threshold";
  chart.height = 220;
  ChartLine score{word(line, "name"), {}, 0};
  score.has_words = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    score.points.emplace_back(x[i] / unit, low[i]);
    if (high[i] != low[i]) score.points.emplace_back(x[i] / unit, high[i]);
  }
  chart.lines = {std::move(score),
                 {"threshold", {{x.front() / unit, 0}, {x.back() / unit, 0}}, kGrey, true}};
  chart.lines.back().has_words = false;
  add_spans(chart, list_of(log, "attacks"), {0, 0, "attack", "", kAttackColour, true}, unit);
  add_spans(chart, list_of(line, "alarms"), {0, 0, "alarm", "", kAlarmColour, false}, unit);
  return chart;
}

std::string log_figure(const json& log, const json& line) {
  const Chart chart = log_chart(log, line);
  if (chart.lines.empty()) return "";
  return figure(chart, counted(number(log, "windows", 0), "window") + ", " +
                           counted(static_cast<double>(list_of(log, "attacks").size()),
                                   "stretch of attack", "stretches of attack") +
                           ", " +
                           counted(static_cast<double>(list_of(line, "alarms").size()), "alarm"));
}

/// The first log with an attack is shown, the others on request.
std::string logs_markup(const json& part) {
  std::string first, others;
  std::size_t count = 0;
  for (const json& log : list_of(part, "logs")) {
    std::string drawn;
    for (const json& line : list_of(log, "models")) drawn += log_figure(log, line);
    if (drawn.empty()) continue;
    if (first.empty() && !list_of(log, "attacks").empty()) {
      first = std::move(drawn);
    } else {
      others += drawn;
      ++count;
    }
  }
  const auto more = static_cast<int64_t>(number(part, "more_logs", 0));
  std::string out = grid(first);
  if (count > 0) {
    out += details("Scores over time of " + grouped(static_cast<int64_t>(count)) +
                       (first.empty() ? "" : " more") + (count == 1 ? " log" : " logs"),
                   grid(others));
  }
  if (more > 0) {
    out += element("p", grouped(more) + " more logs are not drawn.", "class=\"muted\"");
  }
  return out;
}

std::string part_markup(const std::string& name, const std::string& measure, const json& part) {
  const json methods = list_of(part, "methods");
  std::string charts = bars_figure(name, measure, methods);
  for (const json& method : methods) charts += histogram_figure(name, method);
  charts += curves_figures(name, methods);
  return element("h3", breakable(name)) + grid(charts) + logs_markup(part);
}

}  // namespace

std::string windows_section(const ReportRun& run, const std::string&) {
  std::string out;
  for (const ReportStep& step : run.steps) {
    const json& pictures = step.files.pictures;
    std::string parts;
    const json all = below(pictures, "parts");
    if (!all.is_object()) continue;
    for (const auto& [name, part] : all.items()) {
      parts += part_markup(name, word(pictures, "measure"), part);
    }
    if (parts.empty()) continue;
    std::string notice;
    for (const json& sentence : list_of(pictures, "shortfalls")) {
      if (sentence.is_string()) notice += element("p", escaped(sentence.get<std::string>()));
    }
    out += notice.empty() ? "" : element("div", notice, "class=\"notice\"");
    out += parts;
  }
  return out;
}

std::vector<LogPicture> log_pictures(const ReportRun& run) {
  std::vector<LogPicture> out;
  for (const ReportStep& step : run.steps) {
    const json parts = below(step.files.pictures, "parts");
    if (!parts.is_object()) continue;
    for (const json& part : parts) {
      for (const json& log : list_of(part, "logs")) {
        const json models = list_of(log, "models");
        Chart chart = models.empty() ? Chart() : log_chart(log, models.front());
        if (chart.lines.empty()) continue;
        chart.width = 720;
        chart.height = 280;
        chart.stands_alone = true;
        out.push_back({chart.title, chart_svg(chart)});
      }
    }
  }
  return out;
}

}  // namespace kdgat
