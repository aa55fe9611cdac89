#include "pipeline/run/step_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>

#include "kdgat/figures.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// Where figures stand: beside an evaluated model that is called figures, below the second name.
constexpr std::array<const char*, 2> kFigures = {"figures", "figures of the step"};
constexpr const char* kVal = "val";

/// The figures that a stage gave; null where it gave none.
const json& told_figures(const json& metrics) {
  const json& usual = below(metrics, kFigures[0]);
  return usual.is_array() ? usual : below(metrics, kFigures[1]);
}

/// Validation of all models first; then a model and a part after another.
bool is_listed_before(const Figure& a, const Figure& b) {
  const auto rank = [](const Figure& f) { return f.model.empty() || f.part == kVal ? 0 : 1; };
  const int of_a = rank(a), of_b = rank(b);
  return std::tie(of_a, a.model, a.part, a.place) < std::tie(of_b, b.model, b.part, b.place);
}

/// Names of numbers that a stage wrote as integers wherever it wrote them, as it counted them.
struct Counted {
  std::set<std::string> integers, others;
};

void find_counted(const json& metrics, const json& figures, Counted& out) {
  for (const auto& [name, value] : metrics.items()) {
    if (value.is_number_integer()) {
      out.integers.insert(name);
    } else if (value.is_number()) {
      out.others.insert(name);
    } else if (value.is_structured() && &value != &figures) {
      find_counted(value, figures, out);
    }
  }
}

/// A figure has a double for a value, whatever it was: what was counted is written without
/// decimals.
void mark_counts(std::vector<Figure>& figures, const json& metrics) {
  Counted counted;
  find_counted(metrics, told_figures(metrics), counted);
  for (Figure& figure : figures) {
    // A share of 1 may have been written as an integer, too.
    const bool is_count = better_of(figure.name) == Better::kNeither &&
                          counted.integers.contains(figure.name) &&
                          !counted.others.contains(figure.name);
    if (is_count) figure.decimals = 0;
  }
}

}  // namespace

json read_metrics(const std::filesystem::path& step_folder) {
  return read_json(step_folder / "metrics.json");
}

json metrics_document(const StageResult& result) {
  json out = result.metrics;
  if (result.figures.empty() || !(out.is_object() || out.is_null())) return out;
  out[kFigures[out.contains(kFigures[0]) ? 1 : 0]] = result.figures;
  return out;
}

std::vector<Figure> read_figures(const json& metrics) {
  std::vector<Figure> out;
  if (const json& told = told_figures(metrics); told.is_array()) {
    told.get_to(out);
    std::erase_if(out, [](const Figure& figure) { return !std::isfinite(figure.value); });
  } else if (metrics.is_object()) {
    out = step_figures(metrics);
    const std::vector<Figure> judged = evaluation_figures(metrics, std::array<Judged, 0>{});
    out.insert(out.end(), judged.begin(), judged.end());
  }
  mark_counts(out, metrics);
  return out;
}

std::vector<Figure> listed_figures(const json& metrics) {
  std::vector<Figure> out = read_figures(metrics);
  std::erase_if(out, [](const Figure& figure) { return figure.place == 0; });
  std::stable_sort(out.begin(), out.end(), is_listed_before);
  return out;
}

UsualFigures usual_figures() {
  json whole = {{"best_epoch", 1}, {"epochs", 1}, {"graphs_per_second", 1}}, part;
  for (const Measure& measure : kMeasures) {
    whole[std::string(kOfValidation) + std::string(measure.name)] = 1;
    part[std::string(measure.name)] = 1;
  }
  std::vector<Figure> of_parts = part_figures({{kVal, part}});
  UsualFigures out;
  for (const Figure& figure : training_figures(whole)) {
    if (figure.place > 0) out.of_steps.push_back(figure.name);
  }
  for (const Figure& figure : of_parts) {
    const bool is_new =
        std::find(out.of_parts.begin(), out.of_parts.end(), figure.name) == out.of_parts.end();
    if (is_new) out.of_parts.push_back(figure.name);
  }
  return out;
}

double best_epoch_of(const json& metrics) {
  for (const char* name : {"best_epoch", "best_episode"}) {
    if (const double best = number(metrics, name, 0); best > 0) return best;
  }
  return 0;
}

double epochs_of(const json& metrics) { return number(metrics, "epochs", 0); }

std::vector<Decision> read_decisions(const json& metrics) {
  std::vector<Decision> out;
  if (!metrics.is_object()) return out;
  std::vector<Figure> figures = listed_figures(metrics);
  detail::each_part(
      metrics, [&](const std::string& model, const std::string& part, const json& tables) {
        const json& core = below(tables, "core");
        if (!core.is_object()) return;
        Decision& one = out.emplace_back(Decision{
            model, part, number_there(core, "threshold"), word(core, "threshold_from"), {}});
        std::copy_if(figures.begin(), figures.end(), std::back_inserter(one.figures),
                     [&](const Figure& figure) {
                       return figure.is_decision && figure.model == model && figure.part == part;
                     });
      });
  return out;
}

std::optional<DecisionCounts> read_counts(const json& counts) {
  if (!counts.is_object()) return std::nullopt;
  return DecisionCounts{number(counts, "tp", 0), number(counts, "fp", 0), number(counts, "tn", 0),
                        number(counts, "fn", 0)};
}

std::vector<Figure> figures_of_counts(const DecisionCounts& counts) {
  const double precision = counts.tp / std::max(1.0, counts.tp + counts.fp);
  const double recall = counts.tp / std::max(1.0, counts.tp + counts.fn);
  const double sum = precision + recall;
  return {{"precision", precision},
          {"recall", recall},
          {"f1", sum > 0 ? 2 * precision * recall / sum : 0}};
}

std::vector<ClassCounts> read_class_counts(const json& metrics) {
  std::vector<ClassCounts> out;
  const json& parts = below(metrics, "parts");
  if (!parts.is_object()) return out;
  for (const auto& [part, of] : parts.items()) {
    const json& counts = below(of, "confusion");
    if (counts.is_array() && !counts.empty()) out.push_back({part, counts});
  }
  return out;
}

}  // namespace kdgat
