// What a step measured: its figures (kdgat/result.h) in figures.json, of which all is made that is
// listed, compared, recorded or drawn of a run; and metrics.json, what else its stage says. Only
// here are they read. A stage that says no figures has those of the usual forms (kdgat/figures.h).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/result.h"

namespace kdgat {

/// metrics.json of a step's folder; null if there is none.
nlohmann::json read_metrics(const std::filesystem::path& step_folder);

inline constexpr const char* kFiguresFile = "figures.json";
inline constexpr const char* kMetricsFile = "metrics.json";

/// Every figure of a result, in the order in which they are recorded. One that its metrics have as
/// an integer is a count (Figure::decimals).
std::vector<Figure> figures_of(const StageResult& result);
nlohmann::json figures_document(const std::vector<Figure>& figures);
/// The same of a step's folder; of an older one without figures.json, by its metrics.json.
std::vector<Figure> read_figures(const std::filesystem::path& step_folder);
/// Those that lists have, in the order in which they have them.
std::vector<Figure> listed_figures(std::vector<Figure> figures);

/// Names of figures of the usual forms (kdgat/figures.h): of a step as a whole, and of a part.
struct UsualFigures {
  std::vector<std::string> of_steps, of_parts;
};
UsualFigures usual_figures();

/// The epoch or episode whose weights were kept; 0 if it does not say.
double best_epoch_of(const nlohmann::json& metrics);
/// Epochs that were trained; 0 if it does not say.
double epochs_of(const nlohmann::json& metrics);

/// How a model decided on a part.
struct Decision {
  std::string model, part;
  std::optional<double> threshold;
  std::string from;             ///< what chose the threshold
  std::vector<Figure> figures;  ///< those that stand beside counted decisions
};
/// Of a step that evaluated models; empty for any other.
std::vector<Decision> read_decisions(const nlohmann::json& metrics,
                                     const std::vector<Figure>& figures);
/// Counted decisions on a part.
struct DecisionCounts {
  double tp = 0, fp = 0, tn = 0, fn = 0;
};
/// Of {"tp","fp","tn","fn"}; none of anything that is no object.
std::optional<DecisionCounts> read_counts(const nlohmann::json& counts);
/// Figures of other decisions on the part.
std::vector<Figure> figures_of_counts(const DecisionCounts& counts);

/// counts[true class][predicted class] of a part.
struct ClassCounts {
  std::string part;
  nlohmann::json counts;
};
std::vector<ClassCounts> read_class_counts(const nlohmann::json& metrics);

}  // namespace kdgat
