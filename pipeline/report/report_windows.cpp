// Windows that models and baselines judged: bars, histograms, curves, and scores over time.
#include <algorithm>
#include <cmath>

#include "kdgat/text.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/report/window_pictures.h"
#include "pipeline/show/bars_svg.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

using Points = std::vector<std::pair<double, double>>;

constexpr int kAttackColour = 1, kAlarmColour = 3;

std::string bars_figure(const std::string& part, const std::string& measure,
                        const std::vector<JudgedMethod>& methods) {
  BarChart chart;
  chart.title = measure + ", " + part;
  chart.axis = measure;
  bool has_interval = false;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const JudgedMethod& method = methods[i];
    if (!method.value) continue;
    Bar bar;
    bar.name = method.name;
    bar.value = *method.value;
    bar.low = method.low;
    bar.high = method.high;
    bar.colour = static_cast<int>(i);
    bar.is_pale = !method.is_model;
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

std::string histogram_figure(const std::string& part, const JudgedMethod& method) {
  if (!method.histogram) return "";
  const ScoreHistogram& counts = *method.histogram;
  Chart chart;
  chart.title = "Scores by class, " + method.name + ", " + part;
  chart.x = {.title = "score above the threshold"};
  chart.y = {.title = "% of the windows of a class", .from = 0};
  chart.has_markers = true;
  chart.lines = {{"benign", outline(counts.benign, counts.from, counts.to), 0},
                 {"attack", outline(counts.attack, counts.from, counts.to), kAttackColour}};
  for (ChartLine& line : chart.lines) line.has_words = false;
  chart.rules = {{0, "threshold"}};
  return figure(chart,
                "Right of the threshold a window is flagged. The outer steps hold all "
                "scores beyond them.");
}

/// ROC and recall over false windows an hour, a line for each method.
std::string curves_figures(const std::string& part, const std::vector<JudgedMethod>& methods) {
  constexpr const char* kFound = "attack windows found";
  Chart roc = chart_of_shares("ROC, " + part, "false alarms among benign windows", kFound);
  Chart budget = chart_of_shares("Recall by false windows an hour, " + part, "", kFound);
  budget.x = {.title = "false windows an hour", .scale = Axis::Scale::kLog};
  double least_rate = 0;  // one false window in all the hours there are
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const JudgedMethod& method = methods[i];
    const std::vector<double>&tp = method.tp, &fp = method.fp;
    const double attacks = method.attacks, benign = method.benign, hours = method.hours;
    if (tp.size() != fp.size() || attacks <= 0 || benign <= 0) continue;
    const std::string& name = method.name;
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
    const double recall = method.tp_in_use / attacks, false_windows = method.fp_in_use;
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

void add_spans(Chart& chart, const Intervals& intervals, const ChartSpan& like, double unit) {
  for (const auto& [from, to] : intervals) {
    ChartSpan span = like;
    span.from = from / unit;
    span.to = to / unit;
    span.words = like.name + ": " + format_number("%.2f", span.from) + " to " +
                 format_number("%.2f", span.to) + " (" + chart.x.title + ")";
    chart.spans.push_back(std::move(span));
  }
}

/// The scores of one model on one log. Has no lines if there is nothing to draw.
Chart log_chart(const JudgedLogPicture& log, const LogScores& line) {
  constexpr double kMinute = 60, kLong = 20 * kMinute;
  const std::vector<double>&x = line.x, &low = line.low, &high = line.high;
  Chart chart;
  if (x.empty() || low.size() != x.size() || high.size() != x.size()) return chart;
  const double unit = log.has_times && x.back() > kLong ? kMinute : 1;
  chart.title = log.name;
  chart.x.title = !log.has_times ? "windows from the start of the log"
                  : unit == 1    ? "seconds from the start of the log"
                                 : "minutes from the start of the log";
  chart.y.title = "score above threshold";
  chart.height = 220;
  ChartLine score{line.name, {}, 0};
  score.has_words = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    score.points.emplace_back(x[i] / unit, low[i]);
    if (high[i] != low[i]) score.points.emplace_back(x[i] / unit, high[i]);
  }
  chart.lines = {std::move(score),
                 {"threshold", {{x.front() / unit, 0}, {x.back() / unit, 0}}, kGrey, true}};
  chart.lines.back().has_words = false;
  add_spans(chart, log.attacks, {0, 0, "attack", "", kAttackColour, true}, unit);
  add_spans(chart, line.alarms, {0, 0, "alarm", "", kAlarmColour, false}, unit);
  return chart;
}

std::string log_figure(const JudgedLogPicture& log, const LogScores& line) {
  const Chart chart = log_chart(log, line);
  if (chart.lines.empty()) return "";
  return figure(chart, counted(log.windows, "window") + ", " +
                           counted(static_cast<double>(log.attacks.size()), "stretch of attack",
                                   "stretches of attack") +
                           ", " + counted(static_cast<double>(line.alarms.size()), "alarm"));
}

/// The first log with an attack is shown, the others on request.
std::string logs_markup(const JudgedPart& part) {
  std::string first, others;
  std::size_t count = 0;
  for (const JudgedLogPicture& log : part.logs) {
    std::string drawn;
    for (const LogScores& line : log.models) drawn += log_figure(log, line);
    if (drawn.empty()) continue;
    if (first.empty() && !log.attacks.empty()) {
      first = std::move(drawn);
    } else {
      others += drawn;
      ++count;
    }
  }
  const auto more = static_cast<int64_t>(part.more_logs);
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

std::string part_markup(const std::string& measure, const JudgedPart& part) {
  std::string charts = bars_figure(part.name, measure, part.methods);
  for (const JudgedMethod& method : part.methods) charts += histogram_figure(part.name, method);
  charts += curves_figures(part.name, part.methods);
  return element("h3", breakable(part.name)) + grid(charts) + logs_markup(part);
}

}  // namespace

std::string windows_section(const ReportRun& run, const std::string&) {
  std::string out;
  for (const ReportStep& step : run.steps) {
    const WindowPictures pictures = read_window_pictures(step.files.pictures);
    std::string parts;
    for (const JudgedPart& part : pictures.parts) parts += part_markup(pictures.measure, part);
    if (parts.empty()) continue;
    std::string notice;
    for (const std::string& one : pictures.shortfalls) notice += element("p", escaped(one));
    out += notice.empty() ? "" : element("div", notice, "class=\"notice\"");
    out += parts;
  }
  return out;
}

std::vector<LogPicture> log_pictures(const ReportRun& run) {
  std::vector<LogPicture> out;
  for (const ReportStep& step : run.steps) {
    for (const JudgedPart& part : read_window_pictures(step.files.pictures).parts) {
      for (const JudgedLogPicture& log : part.logs) {
        Chart chart = log.models.empty() ? Chart() : log_chart(log, log.models.front());
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
