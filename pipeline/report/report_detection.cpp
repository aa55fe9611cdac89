// How models decide: curves over all thresholds, counts at the one in use, confusion of classes.
#include <algorithm>
#include <cmath>

#include "kdgat/kinds.h"
#include "kdgat/text.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// "142 (78.9 %)" of `all`
std::string share_text(double some, double all) {
  return grouped(std::llround(some)) +
         (all > 0 ? " (" + format_number("%.1f", 100 * some / all) + " %)" : "");
}

std::string figure_cell(const std::vector<Figure>& figures, const std::string& name) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const Figure& figure) { return figure.name == name; });
  return found == figures.end() ? "" : format_number("%.3f", found->value);
}

/// Those that any of the models has, in the order of the first one.
std::vector<Figure> columns_of(const std::vector<Detection>& part) {
  std::vector<Figure> out;
  for (const Detection& d : part) {
    for (const Figure& figure : d.figures) {
      const bool is_known = std::any_of(
          out.begin(), out.end(), [&](const Figure& column) { return column.name == figure.name; });
      if (!is_known) out.push_back(figure);
    }
  }
  return out;
}

/// Where the threshold in use stands on both pictures.
struct Working {
  double recall = 0, false_alarms = 0, precision = 0;
};

Working working_point(const DecisionCounts& counts) {
  const auto [tp, fp, tn, fn] = counts;
  return {tp / std::max(1.0, tp + fn), fp / std::max(1.0, fp + tn), tp / std::max(1.0, tp + fp)};
}

std::vector<std::string> count_cells(const std::optional<DecisionCounts>& counts) {
  if (!counts) return {"", "", "", ""};
  const auto [tp, fp, tn, fn] = *counts;
  return {share_text(tp, tp + fn), grouped(std::llround(fn)), share_text(fp, fp + tn),
          grouped(std::llround(tn))};
}

std::string decisions_table(const std::vector<Detection>& part) {
  MarkupTable table;
  table.columns = {"model",  "threshold",    "from",         "attacks found",
                   "missed", "false alarms", "benign passed"};
  table.caption = "Decisions counted, by model.";
  const std::vector<Figure> columns = columns_of(part);
  for (const Figure& column : columns) table.columns.push_back(escaped(column.label));
  const auto add = [&](std::vector<std::string> cells, const std::optional<DecisionCounts>& counts,
                       const std::vector<Figure>& figures) {
    for (std::string& cell : count_cells(counts)) cells.push_back(std::move(cell));
    for (const Figure& column : columns) cells.push_back(figure_cell(figures, column.name));
    table.rows.push_back(std::move(cells));
  };
  for (const Detection& d : part) {
    add({escaped(d.model), d.threshold ? format_number("%.4g", *d.threshold) : "", escaped(d.from)},
        d.counts, d.figures);
    if (!d.calibrated) continue;
    add({escaped(d.model), "", "start of each file"}, d.calibrated,
        figures_of_counts(*d.calibrated));
  }
  return table.html();
}

/// Names of the classes that a step's labels count; "" where they have none.
std::vector<std::string> class_names(const ReportStep& step, std::size_t classes) {
  std::vector<std::string> out;
  if (const StepInput* graphs = step.files.config.input(kind::kGraphs)) {
    const json names = below(below(graphs->facts, "spatial"), "classes");
    for (const json& name : names) {
      if (name.is_string()) out.push_back(name);
    }
  }
  for (std::size_t i = out.size(); i < classes; ++i) out.push_back(std::to_string(i));
  return out;
}

/// True classes down, predicted ones across; the darker, the larger the share of the true class.
std::string confusion_table(const std::string& part, const json& confusion,
                            const std::vector<std::string>& names) {
  std::string head = element("th", "true class", "scope=\"col\""), body;
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    head += element("th", escaped(names.at(i)), "scope=\"col\" class=\"n\"");
  }
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    double all = 0;
    for (const json& count : confusion[i]) all += count.is_number() ? count.get<double>() : 0;
    std::string line = element("th", escaped(names.at(i)), "scope=\"row\"");
    for (const json& count : confusion[i]) {
      const double some = count.is_number() ? count.get<double>() : 0;
      const double share = all > 0 ? some / all : 0;
      line += element("td", grouped(std::llround(some)),
                      "class=\"n\" style=\"background:rgba(11,102,176," +
                          format_number("%.2f", 0.5 * share) + ")\"");
    }
    body += element("tr", line);
  }
  return "<div class=\"scroll\" tabindex=\"0\"><table class=\"heat\">" +
         element("caption", escaped(part) + ": predicted classes across") +
         element("thead", element("tr", head)) + element("tbody", body) + "</table></div>\n";
}

std::string confusions(const ReportStep& step) {
  std::string tables;
  for (const ClassCounts& one : read_class_counts(step.files.metrics)) {
    tables += confusion_table(one.part, one.counts, class_names(step, one.counts.size()));
  }
  return tables.empty()
             ? ""
             : element("h3", escaped(step.record.step)) + element("div", tables, "class=\"cells\"");
}

}  // namespace

Chart chart_of_shares(const std::string& title, const std::string& x, const std::string& y) {
  Chart chart;
  chart.title = title;
  chart.x = {.title = x, .from = 0, .to = 1};
  chart.y = {.title = y, .from = 0, .to = 1};
  chart.height = 330;
  chart.has_markers = true;
  return chart;
}

std::string detection_figures(const std::string& part, const std::vector<Detection>& shown,
                              const std::vector<std::string>& names) {
  Chart roc = chart_of_shares("ROC, " + part, "false alarms among benign windows", "attacks found");
  Chart precision =
      chart_of_shares("Precision and recall, " + part, "recall: attacks found", "precision");
  double base = 0;  // precision of always attack
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Detection& d = shown[i];
    if (d.attacks() <= 0 || d.benign() <= 0) continue;
    const int colour = static_cast<int>(i);
    ChartLine up{names.at(i), {}, colour}, along{names.at(i), {}, colour};
    for (std::size_t k = 0; k < d.tp.size(); ++k) {
      up.points.emplace_back(d.fp[k] / d.benign(), d.tp[k] / d.attacks());
      if (k > 0) along.points.emplace_back(d.tp[k] / d.attacks(), d.tp[k] / (d.tp[k] + d.fp[k]));
    }
    roc.lines.push_back(std::move(up));
    precision.lines.push_back(std::move(along));
    base = std::max(base, d.attacks() / (d.attacks() + d.benign()));
    if (!d.counts) continue;
    const Working at = working_point(*d.counts);
    const std::string words = names.at(i) + " at its threshold " +
                              format_number("%.4g", d.threshold.value_or(0)) + ": recall " +
                              format_number("%.3f", at.recall) + ", precision " +
                              format_number("%.3f", at.precision) + ", false alarms " +
                              format_number("%.4f", at.false_alarms);
    roc.marks.push_back({at.false_alarms, at.recall, colour, words});
    precision.marks.push_back({at.recall, at.precision, colour, words});
  }
  if (roc.lines.empty()) return "";
  roc.lines.push_back({"", {{0, 0}, {1, 1}}, kGrey, true});
  precision.lines.push_back({"", {{0, base}, {1, base}}, kGrey, true});
  return figure(roc, "The rings are the thresholds in use; dashed: chance.") +
         figure(precision, "The rings are the thresholds in use; dashed: always attack.");
}

std::string detection_section(const ReportRun& run, const std::string&) {
  std::string out;
  const std::vector<Detection> all = detections(run);
  bool is_recorded = all.empty();
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    while (end < all.size() && all[end].part == all[first].part) ++end;
    const std::vector<Detection> part(all.begin() + static_cast<std::ptrdiff_t>(first),
                                      all.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<std::string> names;
    for (const Detection& d : part) {
      names.push_back(d.model);
      is_recorded = is_recorded || d.counts.has_value();
    }
    out += element("h3", escaped(part.front().part)) + decisions_table(part) +
           grid(detection_figures(part.front().part, part, names));
  }
  if (!is_recorded) {
    out =
        element("p",
                "This run recorded neither curves nor counts: it was evaluated by an older kdgat. "
                "Running its evaluate step again adds them.",
                "class=\"muted\"") +
        out;
  }
  for (const ReportStep& step : run.steps) out += confusions(step);
  return out;
}

}  // namespace kdgat
