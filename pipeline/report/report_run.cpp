// What one run was, did and left: the sections of a report that every run has.
#include <algorithm>
#include <cmath>

#include "kdgat/text.h"
#include "pipeline/data/data.h"
#include "pipeline/memory/memory_svg.h"
#include "pipeline/memory/memory_table.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/report/store_summary.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/requirements.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/markup.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::string text_of(const json& value) {
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value_text(value);
}

std::string count_text(const json& value) {
  return value.is_number_integer() && value >= 0 ? grouped(value.get<int64_t>()) : text_of(value);
}

std::string fact(const std::string& name, const std::string& markup) {
  return markup.empty() ? "" : element("dt", name) + element("dd", markup) + "\n";
}

std::string tile(const std::string& value, const std::string& what) {
  return "<div class=\"tile\">" + element("b", escaped(value)) + element("span", breakable(what)) +
         "</div>\n";
}

/// The figures that speak for the run, its time and its memory.
std::string tiles(const ReportRun& run) {
  constexpr int kMost = 4;
  std::string out;
  int shown = 0;
  const auto is_tile = [](const Figure& figure) { return figure.is_tile; };
  for (const Figure& figure : marked_figures(run.figures, run.spokesman, is_tile)) {
    if (++shown > kMost) break;
    out +=
        tile(figure_text(figure, figure.value),
             figure.label + ", " + run.spokesman + (figure.part.empty() ? "" : ", " + figure.part));
  }
  if (run.record.seconds() >= 0)
    out += tile(format_seconds(run.record.seconds()), "from start to end");
  double peak = -1;
  for (const ReportStep& step : run.steps) {
    peak = std::max(peak, step.record.peak_bytes.value_or(-1));
  }
  if (peak >= 0) out += tile(format_bytes(static_cast<uint64_t>(peak)), "largest process");
  return out.empty() ? "" : "<div class=\"tiles\">\n" + out + "</div>\n";
}

/// How long a step took, as a bar against the longest one.
std::string time_cell(const StepRecord& step, double longest) {
  if (!step.seconds) return "";
  const int share = static_cast<int>(std::lround(100 * *step.seconds / std::max(longest, 1e-9)));
  return "<span class=\"time\"><svg class=\"bar\" viewBox=\"0 0 100 9\" "
         "preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"" +
         fill_class(step.is_kept() ? kGrey : 0) + "\" width=\"" +
         std::to_string(std::max(1, share)) + "\" height=\"9\"/></svg>" +
         format_seconds(*step.seconds) + "</span>";
}

std::string table_of(const ResultTable& table) {
  MarkupTable out;
  const auto marked = [](std::vector<std::string> cells) {
    for (std::string& text : cells) {
      const bool is_indented = text.rfind("  ", 0) == 0;  // which HTML would not show
      text = (is_indented ? "\u2003" : "") + breakable(text);
    }
    return cells;
  };
  if (!table.columns.empty()) {
    out.columns = marked(table.columns);
    out.caption = "Results by " + out.columns.front() + ".";
  }
  json before;  // what the first cell of the row above says is not said again
  for (std::vector<std::string>& cells : cells_in_words(table.rows)) {
    const json& row = table.rows.at(out.rows.size());
    const json first = row.is_array() && !row.empty() ? row.front() : json();
    out.rows.push_back(marked(std::move(cells)));
    if (first.is_string() && first == before) out.rows.back().front().clear();
    before = first;
  }
  return out.html();
}

/// Files and parts of a graph store: graphs by label, or by class.
std::string counts_table(const std::vector<GraphCounts>& items, const std::string& what,
                         bool with_rows) {
  MarkupTable table;
  table.columns = {what, "graphs", "attack", "benign", "unlabelled"};
  table.caption = "Graphs by " + what + " and label.";
  if (with_rows) {
    table.columns.insert(table.columns.end(), {"rows", "malformed", "form"});
  }
  for (const GraphCounts& item : items) {
    std::vector<std::string> cells{breakable(item.name)};
    for (const json* count : {&item.graphs, &item.attack, &item.benign, &item.unlabelled}) {
      cells.push_back(count_text(*count));
    }
    if (with_rows) {
      for (const json* told : {&item.rows, &item.malformed, &item.format}) {
        cells.push_back(escaped(count_text(*told)));
      }
    }
    table.rows.push_back(std::move(cells));
  }
  return table.html();
}

std::string spread_text(const SizeSpread& of) {
  return "median " + count_text(of.p50) + ", 99 % have at most " + count_text(of.p99) +
         ", largest " + count_text(of.max);
}

std::string store_markup(const json& data) {
  constexpr std::size_t kFewFiles = 12;
  const StoreSummary store = read_store_summary(data);
  std::string out = fact("graphs", escaped(data_headline(store.facts)));
  out += fact("store", element("code", escaped(text_of(store.path))));
  out += fact("content hash", element("code", escaped(text_of(store.content_hash))));
  out += fact("nodes of a graph", spread_text(store.nodes));
  out += fact("edges of a graph", spread_text(store.edges));
  std::string made;
  for (const auto& [name, value] : store.options.items()) {
    made += (made.empty() ? "" : ", ") + name + "=" + text_of(value);
  }
  out += fact("import", element("code", escaped(made)));
  out = element("dl", out);
  out += element("h3", "Parts of the split") + counts_table(store.parts, "part", false);
  const std::string table = counts_table(store.files, "file", true);
  const std::size_t files = store.files.size();
  return out + (files > kFewFiles ? details(std::to_string(files) + " files", table)
                                  : element("h3", "Files") + table);
}

}  // namespace

std::string time_text(const std::string& iso) {
  if (iso.size() < 20 || iso[10] != 'T') return escaped(iso);
  return escaped(iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC");
}

std::string breakable(const std::string& text) {
  std::string out;
  for (const char c : escaped(text)) out += c == '_' ? "_<wbr/>" : std::string(1, c);
  return out;
}

std::string badge(const std::string& state) {
  return element("span", escaped(state), "class=\"state " + escaped(state) + "\"");
}

std::string figure(const Chart& chart, const std::string& caption) {
  return figure(chart.title, chart_svg(chart), caption);
}

std::string figure(const std::string& title, const std::string& svg, const std::string& caption) {
  if (svg.empty()) return "";
  return "<figure>" + element("figcaption", element("b", escaped(title)) + " " + escaped(caption)) +
         svg + "</figure>\n";
}

std::string grid(const std::string& figures) {
  return figures.empty() ? "" : "<div class=\"grid\">\n" + figures + "</div>\n";
}

std::string details(const std::string& title, const std::string& inner) {
  return inner.empty() ? "" : "<details>" + element("summary", title) + inner + "</details>\n";
}

std::string run_facts(const ReportRun& run) {
  const RunRecord& r = run.record;
  std::string machine = escaped(r.host);
  if (!r.device.empty()) machine += ", " + escaped(r.device);
  if (r.threads > 0)
    machine += ", " + std::to_string(r.threads) + (r.threads == 1 ? " thread" : " threads");
  const RunData data = r.data.value_or(RunData());
  std::string out = fact("run", element("code", escaped(r.id)) + ", " + escaped(r.progress()));
  out += fact("started", time_text(r.started) +
                             (r.finished.empty() ? "" : ", ended " + time_text(r.finished)));
  out += fact("data", escaped(data.summary.empty() ? r.dataset : data.summary) +
                          (data.path.empty() ? "" : " " + element("code", escaped(data.path))));
  out += fact("machine", machine + (machine.empty() ? "" : ", ") + "kdgat " + escaped(r.version));
  out += fact("command", r.command.empty() ? "" : element("code", escaped(r.command)));
  for (const std::string& text : requirements_text(r.requirements)) {
    out += fact("required", escaped(text));
  }
  out += fact("folder", element("code", escaped(r.folder.string())));
  return tiles(run) + element("dl", out) + "\n";
}

std::string failures_section(const ReportRun& run, const std::string&) {
  std::string out;
  for (const ReportStep& step : run.steps) {
    const std::string& status = step.record.status;
    if (status == "failed" || status == "interrupted") {
      std::string inner = element("h3", escaped(step.record.step) + " " + badge(status));
      if (!step.record.error.empty()) inner += element("pre", escaped(step.record.error));
      if (status == "interrupted") {
        inner += element("p", "It was stopped before its end; the same command continues it.");
      }
      if (!step.files.oom_report.empty()) {
        inner += details("Memory when it ran out", element("pre", escaped(step.files.oom_report)));
      }
      if (!step.files.log_tail.empty()) {
        inner += details("The end of its log", element("pre", escaped(step.files.log_tail)));
      }
      out += element("div", inner, "class=\"fault\"") + "\n";
    }
  }
  return out;
}

std::string warnings_section(const ReportRun& run, const std::string&) {
  std::string out;
  for (const ReportStep& step : run.steps) {
    std::vector<std::pair<std::string, int>> said;  // a continued step says the same again
    for (const std::string& warning : step.journal.warnings) {
      const auto found = std::find_if(said.begin(), said.end(),
                                      [&](const auto& one) { return one.first == warning; });
      if (found == said.end()) {
        said.emplace_back(warning, 1);
      } else {
        ++found->second;
      }
    }
    std::string text;
    for (const auto& [warning, times] : said) {
      text += warning + (times > 1 ? " (" + std::to_string(times) + " times)" : "") + "\n";
    }
    if (text.empty()) continue;
    out += element("h3", escaped(step.record.step)) + element("pre", escaped(text));
  }
  return out;
}

std::string results_section(const ReportRun& run, const std::string&) {
  std::vector<NamedResult> results;
  for (const ReportStep& step : run.steps) {
    results.push_back({step.record.step, step.files.result});
  }
  std::string out;
  for (const ResultTable& table : joined_tables(results)) out += table_of(table);
  return out;
}

std::string steps_section(const ReportRun& run, const std::string&) {
  double longest = 0;
  for (const ReportStep& step : run.steps) {
    longest = std::max(longest, step.record.seconds.value_or(-1));
  }
  MarkupTable table;
  table.columns = {"step", "stage", "", "time", "memory", "why"};
  table.caption = "What ran, how it ended, and why it ran.";
  bool has_kept = false;
  for (const ReportStep& step : run.steps) {
    const StepRecord& r = step.record;
    std::string state = badge(r.status);
    if (r.is_kept()) {
      state += " of " + escaped(short_run(r.made_by));
      state = element("span", state, "class=\"nowrap\"");
    }
    has_kept = has_kept || r.is_kept();
    const int more = static_cast<int>(step.journal.attempts.size()) - 1;
    const std::string why =
        r.reason + (more > 0 ? (r.reason.empty() ? "" : "; ") + std::string("continued ") +
                                   (more == 1 ? "once" : std::to_string(more) + " times")
                             : "");
    table.rows.push_back({escaped(r.step), escaped(r.stage), state, time_cell(r, longest),
                          r.peak_bytes ? format_bytes(static_cast<uint64_t>(*r.peak_bytes)) : "",
                          "<div class=\"why\">" + escaped(why) + "</div>"});
  }
  const std::string note =
      has_kept
          ? element("p",
                    "Kept steps were not run again: their figures, curves and memory are those "
                    "of the run that made them; their time is grey.",
                    "class=\"muted\"")
          : "";
  return table.rows.empty() ? "" : table.html() + note;
}

std::string memory_section(const ReportRun& run, const std::string&) {
  if (run.memory.empty()) return "";
  MarkupTable table;
  table.caption = "Memory that was planned, beside what was measured.";
  std::vector<PlannedMemory> plans;
  for (auto& row : memory_report_rows(run.memory)) {
    for (std::string& cell : row) cell = escaped(cell);
    (table.columns.empty() ? table.columns : table.rows.emplace_back()) = std::move(row);
  }
  for (const StepMemory& step : run.memory) plans.push_back({step.step, step.planned});
  Chart chart = memory_chart("Memory over time", run.memory);
  chart.width = 860;
  chart.height = 320;
  std::string picture = figure(chart,
                               "Tensors, the process and the plan while the steps ran one after "
                               "another, without the time between them.");
  if (!picture.empty()) picture = "<div class=\"scroll wide\" tabindex=\"0\">" + picture + "</div>";
  const std::string parts = memory_table(plans);
  return table.html() + picture +
         (parts.empty() ? "" : details("What was planned", element("pre", escaped(parts))));
}

std::string options_section(const ReportRun& run, const std::string&) {
  MarkupTable set;
  set.columns = {"step", "option", "value", "set by"};
  set.caption = "What differs from the defaults, and who set it.";
  std::string all;
  for (const ReportStep& step : run.steps) {
    const StepConfig& config = step.files.config;
    std::string line;
    bool is_first = true;
    for (const auto& [name, value] : config.options.items()) {
      line += (line.empty() ? "" : ", ") + name + "=" + text_of(value);
      const std::string by = text_of(below(config.origin, name));
      if (by == "default" || by.empty()) continue;
      set.rows.push_back({is_first ? escaped(step.record.step) : "", escaped(name),
                          escaped(text_of(value)), escaped(by)});
      is_first = false;
    }
    if (!line.empty()) {
      all += element("h3", escaped(step.record.step)) + element("p", escaped(line));
    }
  }
  if (all.empty()) return "";
  return (set.rows.empty() ? element("p", "Every option has its default.") : set.html()) +
         details("Every option of every step", all);
}

std::string data_section(const ReportRun& run, const std::string&) {
  const json options = run.record.data.value_or(RunData()).options;
  std::string asked;
  for (const char* name : {"split", "val_fraction", "test_fraction", "seed", "folds", "fold"}) {
    const json value = below(options, name);
    if (!value.is_null()) asked += (asked.empty() ? "" : ", ") + (name + ("=" + text_of(value)));
  }
  std::string out;
  for (const json& store : run.data) out += store_markup(store);
  if (!asked.empty() && !out.empty()) {
    out += element("p", "The split was asked for as " + element("code", escaped(asked)) + ".",
                   "class=\"muted\"");
  }
  for (const std::string& missing : run.missing) {
    out += element("p", "The data it read are gone, or of another version: " +
                            element("code", escaped(missing)));
  }
  return out;
}

}  // namespace kdgat
