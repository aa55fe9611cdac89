// What a step gains: over the teacher that it learned from, over the same step without one, over
// itself with something taken away (a variant that was evaluated beside it), and over baselines.
#include <algorithm>
#include <map>
#include <set>

#include "kdgat/text.h"
#include "pipeline/report/report_figures.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/report/window_pictures.h"
#include "pipeline/run/plan.h"
#include "pipeline/show/bars_svg.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kTeacherPort = "teacher";

/// What a step is held against, in one measure.
struct Rival {
  std::string name;                                ///< "teacher classifier big", "rule"
  std::vector<std::optional<double>> own, others;  ///< of each part of the sheet
};

/// The rivals of a step by measure, in the order of the measures.
using Rivals = std::vector<std::pair<std::string, std::vector<Rival>>>;

/// Of a step that learned from a teacher, as its configuration has it; null of any other.
const StepInput* teacher_of_step(const ReportStep& step) {
  return step.files.config.input(kTeacherPort);
}

const ReportStep* named_step(const ReportRun& run, const std::string& name) {
  for (const ReportStep& step : run.steps) {
    if (step.record.step == name) return &step;
  }
  return nullptr;
}

/// Whether two steps were asked the same but for one option: that which has the one learn from a
/// teacher.
bool differs_in_one_option(const ReportStep& a, const ReportStep& b) {
  const json &of_a = a.files.config.options, &of_b = b.files.config.options;
  if (!of_a.is_object() || !of_b.is_object()) return false;
  std::set<std::string> differing;
  for (const auto* from : {&of_a, &of_b}) {
    for (const auto& [name, value] : from->items()) {
      if (below(of_a, name) != below(of_b, name)) differing.insert(name);
    }
  }
  return differing.size() == 1;
}

/// The measures that speak for a step: shares among those of its headline, else its first share.
std::vector<const MeasureRow*> telling_rows(const FigureSheet& sheet, const std::string& step) {
  std::vector<const MeasureRow*> out;
  const MeasureRow* first = nullptr;
  for (const MeasureRow& row : sheet.rows) {
    if (row.model != step || !row.is_share()) continue;
    if (first == nullptr) first = &row;
    if (row.like.headline > 0) out.push_back(&row);
  }
  if (out.empty() && first != nullptr) out.push_back(first);
  return out;
}

class Deltas {
 public:
  explicit Deltas(const ReportRun& run) : run_(run), sheet_(figure_sheet(run.figures)) {
    read_baselines();
  }

  const FigureSheet& sheet() const { return sheet_; }

  Rivals of(const ReportStep& step) const {
    Rivals out;
    const std::string& name = step.record.step;
    for (const MeasureRow* row : telling_rows(sheet_, name)) {
      std::vector<Rival> list;
      const auto add = [&](const std::string& called, const MeasureRow* other) {
        if (other != nullptr) list.push_back({called, row->values, other->values});
      };
      add_teacher(step, *row, list);
      for (const std::string& model : sheet_.models()) {
        if (model != name && named_step(run_, model) == nullptr &&
            step_of(model, run_.steps) == name) {
          add(model, sheet_.find(model, row->label));
        }
      }
      if (!list.empty()) out.emplace_back(row->label, std::move(list));
    }
    if (const auto found = baselines_.find(name); found != baselines_.end()) {
      auto at = std::find_if(out.begin(), out.end(),
                             [&](const auto& one) { return one.first == measure_; });
      if (at == out.end()) at = out.insert(out.end(), {measure_, {}});
      at->second.insert(at->second.end(), found->second.begin(), found->second.end());
    }
    return out;
  }

 private:
  /// The teacher, of this run or of the one that made it, and steps that differ by having none.
  void add_teacher(const ReportStep& step, const MeasureRow& row, std::vector<Rival>& list) const {
    const StepInput* teacher = teacher_of_step(step);
    if (teacher == nullptr) return;
    const std::string& name = teacher->name;
    const fs::path path = teacher->path;
    const ReportStep* own = named_step(run_, name);
    const bool is_here = own != nullptr && own != &step;
    if (is_here) {
      if (const MeasureRow* other = sheet_.find(name, row.label)) {
        list.push_back({"teacher " + name, row.values, other->values});
      }
    } else if (!path.empty()) {
      const FigureSheet elsewhere = figure_sheet(figures_of_step(name, path));
      if (const MeasureRow* other = elsewhere.find(name, row.label)) {
        list.push_back({"teacher of " + short_run(path.parent_path().filename().string()),
                        row.values, on_parts(*other, elsewhere)});
      }
    }
    for (const ReportStep& one : run_.steps) {
      const bool is_twin = &one != &step && &one != own && one.record.stage == step.record.stage &&
                           teacher_of_step(one) == nullptr && differs_in_one_option(one, step);
      const MeasureRow* other = is_twin ? sheet_.find(one.record.step, row.label) : nullptr;
      if (other != nullptr) {
        list.push_back({"no teacher: " + one.record.step, row.values, other->values});
      }
    }
  }

  /// The values of a row of another sheet on the parts of this run.
  std::vector<std::optional<double>> on_parts(const MeasureRow& row, const FigureSheet& of) const {
    std::vector<std::optional<double>> out(sheet_.parts.size());
    for (std::size_t i = 0; i < of.parts.size(); ++i) {
      const auto part = std::find(sheet_.parts.begin(), sheet_.parts.end(), of.parts[i]);
      if (part != sheet_.parts.end()) {
        out[static_cast<std::size_t>(part - sheet_.parts.begin())] = row.at(i);
      }
    }
    return out;
  }

  std::size_t place_of_part(const std::string& name) {
    const auto found = std::find(sheet_.parts.begin(), sheet_.parts.end(), name);
    if (found != sheet_.parts.end()) return static_cast<std::size_t>(found - sheet_.parts.begin());
    sheet_.parts.push_back(name);
    return sheet_.parts.size() - 1;
  }

  /// Where methods were judged on the same windows as the steps.
  void read_baselines() {
    for (const ReportStep& step : run_.steps) {
      const WindowPictures pictures = read_window_pictures(step.files.pictures);
      if (pictures.parts.empty() || pictures.measure.empty()) continue;
      // One measure is told, that of the last step that judged.
      if (measure_ != pictures.measure) baselines_.clear();
      measure_ = pictures.measure;
      for (const JudgedPart& part : pictures.parts) {
        if (!part.methods.empty()) add_methods(place_of_part(part.name), part.methods);
      }
    }
  }

  void add_methods(std::size_t part, const std::vector<JudgedMethod>& methods) {
    for (const JudgedMethod& model : methods) {
      if (!model.is_model || !model.value || named_step(run_, model.name) == nullptr) continue;
      for (const JudgedMethod& other : methods) {
        if (other.is_model || !other.value) continue;
        Rival& rival = baseline(model.name, other.name);
        rival.own.resize(sheet_.parts.size());
        rival.others.resize(sheet_.parts.size());
        rival.own[part] = *model.value;
        rival.others[part] = *other.value;
      }
    }
  }

  Rival& baseline(const std::string& step, const std::string& name) {
    std::vector<Rival>& list = baselines_[step];
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const Rival& one) { return one.name == name; });
    return found != list.end() ? *found : list.emplace_back(Rival{name, {}, {}});
  }

  const ReportRun& run_;
  FigureSheet sheet_;
  std::string measure_;                                  ///< that of baselines_
  std::map<std::string, std::vector<Rival>> baselines_;  ///< by step
};

std::optional<double> value_on(const std::vector<std::optional<double>>& values, std::size_t part) {
  return part < values.size() ? values[part] : std::nullopt;
}

/// Calls each(part, own, other) where both have a value.
template <class Each>
void each_difference(const Rival& rival, const FigureSheet& sheet, const Each& each) {
  for (std::size_t part = 0; part < sheet.parts.size(); ++part) {
    const auto own = value_on(rival.own, part), other = value_on(rival.others, part);
    if (own && other) each(part, *own, *other);
  }
}

std::string delta_figure(const std::string& step, const std::string& measure,
                         const std::vector<Rival>& rivals, const FigureSheet& sheet) {
  BarChart chart;
  chart.title = step + ": difference in " + measure;
  chart.axis = measure + " of " + step + " less that of the other";
  chart.from = chart.to = std::nullopt;
  chart.has_signs = true;
  for (const Rival& rival : rivals) {
    bool is_more = false;
    each_difference(rival, sheet, [&](std::size_t part, double own, double other) {
      if (part >= kColours) return;
      Bar bar;
      bar.name = rival.name;
      bar.value = own - other;
      bar.colour = static_cast<int>(part);
      bar.is_more = is_more;
      bar.words = measure + " against " + rival.name + ", " + part_name(sheet.parts[part]) + ": " +
                  format_number("%.3f", own) + " less " + format_number("%.3f", other);
      chart.bars.push_back(std::move(bar));
      is_more = true;
    });
  }
  chart.legend = bar_legend(chart, sheet);
  return figure(chart.title, bars_svg(chart),
                "Right of zero " + step +
                    " is better. Bars of a name stand in the order of the "
                    "legend.");
}

/// A row for each rival of a step, its differences below the parts.
void add_delta_rows(MarkupTable& table, const std::string& step, const std::string& measure,
                    const std::vector<Rival>& rivals, const FigureSheet& sheet,
                    const std::vector<std::size_t>& parts) {
  for (const Rival& rival : rivals) {
    std::vector<std::string>& cells = table.rows.emplace_back(std::vector{
        &rival == &rivals.front() ? breakable(step) : "", breakable(rival.name), escaped(measure)});
    cells.resize(cells.size() + parts.size());
    each_difference(rival, sheet, [&](std::size_t part, double own, double other) {
      const auto column = std::find(parts.begin(), parts.end(), part) - parts.begin();
      cells.at(3 + static_cast<std::size_t>(column)) =
          element("span", format_number("%+.3f", own - other), "class=\"nowrap\"") + " (" +
          format_number("%.3f", own) + " less " + format_number("%.3f", other) + ")";
    });
  }
}

}  // namespace

std::string deltas_section(const ReportRun& run, const std::string&) {
  const Deltas deltas(run);
  std::vector<std::pair<std::string, Rivals>> all;  // by step
  for (const ReportStep& step : run.steps) all.emplace_back(step.record.step, deltas.of(step));
  std::set<std::size_t> compared;  // parts
  std::string charts;
  for (const auto& [step, measures] : all) {
    for (const auto& [measure, rivals] : measures) {
      charts += delta_figure(step, measure, rivals, deltas.sheet());
      for (const Rival& rival : rivals) {
        each_difference(rival, deltas.sheet(),
                        [&](std::size_t part, double, double) { compared.insert(part); });
      }
    }
  }
  if (charts.empty()) return "";
  const std::vector<std::size_t> parts(compared.begin(), compared.end());
  MarkupTable table;
  table.columns = {"step", "against", "figure"};
  table.caption = "What each step gains over the others, by figure and part.";
  for (const std::size_t part : parts) {
    table.columns.push_back(breakable(part_name(deltas.sheet().parts[part])));
  }
  for (const auto& [step, measures] : all) {
    for (const auto& [measure, rivals] : measures) {
      add_delta_rows(table, step, measure, rivals, deltas.sheet(), parts);
    }
  }
  return grid(charts) + details("The same as a table", table.html());
}

}  // namespace kdgat
