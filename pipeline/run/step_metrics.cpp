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

constexpr const char* kFigures = "figures";
constexpr const char* kVal = "val";

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

void find_counted(const json& metrics, Counted& out) {
  for (const auto& [name, value] : metrics.items()) {
    if (value.is_number_integer()) {
      out.integers.insert(name);
    } else if (value.is_number()) {
      out.others.insert(name);
    } else if (value.is_structured()) {
      find_counted(value, out);
    }
  }
}

/// A figure has a double for a value, whatever it was: what was counted is written without
/// decimals.
void mark_counts(std::vector<Figure>& figures, const json& metrics) {
  Counted counted;
  find_counted(metrics, counted);
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
  return read_json(step_folder / kMetricsFile);
}

std::vector<Figure> figures_of(const StageResult& result) {
  std::vector<Figure> out = result.figures;
  std::erase_if(out, [](const Figure& figure) { return !std::isfinite(figure.value); });
  if (result.figures.empty() && result.metrics.is_object()) {
    out = step_figures(result.metrics);
    const std::vector<Figure> of_models =
        evaluation_figures(result.metrics, std::array<Judged, 0>{});
    out.insert(out.end(), of_models.begin(), of_models.end());
  }
  mark_counts(out, result.metrics);
  return out;
}

json figures_document(const std::vector<Figure>& figures) { return {{kFigures, figures}}; }

std::vector<Figure> read_figures(const std::filesystem::path& step_folder) {
  const json document = read_json(step_folder / kFiguresFile);
  const json& known = below(document, kFigures);
  if (known.is_array()) return known.get<std::vector<Figure>>();
  StageResult result;
  result.metrics = read_metrics(step_folder);
  // Programs before figures.json wrote them there.
  if (const json& told = below(result.metrics, kFigures); told.is_array()) {
    told.get_to(result.figures);
    result.metrics.erase(kFigures);
  }
  return figures_of(result);
}

std::vector<Figure> listed_figures(std::vector<Figure> figures) {
  std::erase_if(figures, [](const Figure& figure) { return figure.place == 0; });
  std::stable_sort(figures.begin(), figures.end(), is_listed_before);
  return figures;
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

std::vector<Decision> read_decisions(const json& metrics, const std::vector<Figure>& figures) {
  std::vector<Decision> out;
  if (!metrics.is_object()) return out;
  const std::vector<Figure> listed = listed_figures(figures);
  detail::each_part(
      metrics, [&](const std::string& model, const std::string& part, const json& tables) {
        const json& core = below(tables, "core");
        if (!core.is_object()) return;
        Decision& one = out.emplace_back(Decision{
            model, part, number_there(core, "threshold"), word(core, "threshold_from"), {}});
        std::copy_if(listed.begin(), listed.end(), std::back_inserter(one.figures),
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
