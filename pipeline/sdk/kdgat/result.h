// What comes of a step, as it crosses the seam: a stage makes a StageResult, the host reads it, and
// what is shown, compared and recorded of a run are its figures. Both sides read and write it here
// and nowhere else.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/event.h"
#include "kdgat/measure.h"

namespace kdgat {

/// One number of a result, and where it is to be seen. Words and direction are by its name
/// (measure.h) unless the stage knows better.
struct Figure {
  Figure() = default;
  Figure(std::string of, double number)
      : name(std::move(of)),
        value(number),
        label(label_of(name)),
        decimals(decimals_of(name)),
        better(better_of(name)) {}

  std::string model;  ///< the step whose model was evaluated; "" = the step itself
  std::string part;   ///< "val", "test_01", ...; "" = the step as a whole
  std::string name;   ///< "f1", "val_loss", "best_epoch"
  double value = 0;
  std::string label;  ///< the name in words: "F1"
  int decimals = 3;   ///< 0 = a count
  Better better = Better::kNeither;

  bool is_recorded = true;   ///< a number of CSV, TensorBoard and MLflow
  int place = 0;             ///< in lists, among those of its part, from 1 on; 0 = not there
  int headline = 0;          ///< in the line that speaks for a run, from 1 on; 0 = not there
  bool is_tile = false;      ///< stands large at the head of a report
  bool is_decision = false;  ///< a column where decisions of a detector are counted
};

/// Rows of cells: texts and numbers.
struct ResultTable {
  std::vector<std::string> columns;
  std::vector<nlohmann::json> rows;
};

struct StageResult {
  nlohmann::json metrics;              ///< an object, metrics.json of the step; null = none
  std::vector<Figure> figures;         ///< numbers of `metrics`
  std::optional<ResultTable> table;    ///< joined with those of other steps of equal columns
  std::vector<ResultTable> tables;     ///< further ones
  std::optional<std::string> summary;  ///< one line; none = how far the work came
  nlohmann::json facts;                ///< an object: of the outputs, for the steps that read them
  nlohmann::json memory;               ///< {"planned","actual"}; null = not known
};

// ---- as JSON

inline void to_json(nlohmann::json& out, const Figure& f) {
  out = {{"name", f.name}, {"value", f.value}};
  if (!f.model.empty()) out["model"] = f.model;
  if (!f.part.empty()) out["part"] = f.part;
  if (f.label != label_of(f.name)) out["label"] = f.label;
  if (f.decimals != decimals_of(f.name)) out["decimals"] = f.decimals;
  if (f.better != better_of(f.name)) out["better"] = static_cast<int>(f.better);
  if (!f.is_recorded) out["recorded"] = false;
  if (f.place != 0) out["place"] = f.place;
  if (f.headline != 0) out["headline"] = f.headline;
  if (f.is_tile) out["tile"] = true;
  if (f.is_decision) out["decision"] = true;
}

/// A figure without a finite value has NaN.
inline void from_json(const nlohmann::json& in, Figure& f) {
  using detail::value_or;
  f = Figure(value_or(in, "name", std::string()),
             value_or(in, "value", std::numeric_limits<double>::quiet_NaN()));
  f.model = value_or(in, "model", std::string());
  f.part = value_or(in, "part", std::string());
  f.label = value_or(in, "label", f.label);
  f.decimals = value_or(in, "decimals", f.decimals);
  const int better = value_or(in, "better", static_cast<int>(f.better));
  f.better = better == 1 ? Better::kMore : better == 2 ? Better::kLess : Better::kNeither;
  f.is_recorded = value_or(in, "recorded", true);
  f.place = value_or(in, "place", 0);
  f.headline = value_or(in, "headline", 0);
  f.is_tile = value_or(in, "tile", false);
  f.is_decision = value_or(in, "decision", false);
}

inline void to_json(nlohmann::json& out, const ResultTable& table) {
  out = {{"columns", table.columns}, {"rows", table.rows}};
}

inline void to_json(nlohmann::json& out, const StageResult& result) {
  out = nlohmann::json::object();
  if (!result.metrics.is_null()) out["metrics"] = result.metrics;
  if (!result.figures.empty()) out["figures"] = result.figures;
  if (result.table) out["table"] = *result.table;
  if (!result.tables.empty()) out["tables"] = result.tables;
  if (result.summary) out["summary"] = *result.summary;
  if (!result.facts.is_null()) out["facts"] = result.facts;
  if (!result.memory.is_null()) out["memory"] = result.memory;
}

/// What is absent or of another type is not there.
inline void from_json(const nlohmann::json& in, ResultTable& table) {
  table = {};
  for (const nlohmann::json& name : detail::below(in, "columns")) {
    table.columns.push_back(name.is_string() ? name.get<std::string>() : name.dump());
  }
  for (const nlohmann::json& row : detail::below(in, "rows")) table.rows.push_back(row);
}
inline void from_json(const nlohmann::json& in, StageResult& result) {
  result = {};
  result.metrics = detail::below(in, "metrics");
  const nlohmann::json figures = detail::below(in, "figures"), tables = detail::below(in, "tables"),
                       table = detail::below(in, "table");
  if (figures.is_array()) figures.get_to(result.figures);
  if (table.is_object()) result.table = table.get<ResultTable>();
  if (tables.is_array()) tables.get_to(result.tables);
  if (in.is_object() && in.contains("summary") && in.at("summary").is_string()) {
    result.summary = in.at("summary").get<std::string>();
  }
  result.facts = detail::below(in, "facts");
  result.memory = detail::below(in, "memory");
}

inline void to_json(nlohmann::json& out, const Diagnostic& d) {
  out = {{"where", d.where}, {"message", d.message}, {"hint", d.hint}};
}

inline void from_json(const nlohmann::json& in, Diagnostic& d) {
  using detail::value_or;
  d = {value_or(in, "where", std::string()), value_or(in, "message", std::string()),
       value_or(in, "hint", std::string())};
}

/// The list of diagnostics that one side sent; anything else is passed over.
inline std::vector<Diagnostic> read_diagnostics(const nlohmann::json& list) {
  std::vector<Diagnostic> out;
  for (const nlohmann::json& item : list) {
    if (list.is_array() && item.is_object()) out.push_back(item.get<Diagnostic>());
  }
  return out;
}

}  // namespace kdgat
