// Figures of the usual forms of metrics: the numbers of a step that trains, and of parts of its
// data. For stages whose results are such, and for reading results of stages that say no figures.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kdgat/result.h"

namespace kdgat {

namespace detail {

/// Where a name stands in a list, from 1 on; 0 = it does not.
template <std::size_t N>
int place_in(const std::array<std::string_view, N>& list, std::string_view name) {
  const auto found = std::find(list.begin(), list.end(), name);
  return found == list.end() ? 0 : static_cast<int>(found - list.begin()) + 1;
}

inline bool is_finite_number(const nlohmann::json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

}  // namespace detail

/// Where the line that speaks for a run has a measure; 0 = it does not.
inline int usual_headline(std::string_view measure) {
  constexpr std::array<std::string_view, 4> kTold = {"f1", "auc", "rmse", "loss"};
  return detail::place_in(kTold, measure);
}

/// Of a step that trains: every flat number of its metrics is recorded, what validation said and
/// how long it took is listed.
inline std::vector<Figure> training_figures(const nlohmann::json& metrics) {
  constexpr std::array<std::string_view, 9> kListed = {
      "val_loss", "val_auc",    "val_f1", "val_accuracy",     "val_mae",
      "val_rmse", "best_epoch", "epochs", "graphs_per_second"};
  constexpr std::array<std::string_view, 3> kTiles = {"val_loss", "val_auc", "val_f1"};
  std::vector<Figure> out;
  for (const auto& [name, value] : metrics.items()) {
    if (!detail::is_finite_number(value)) continue;
    Figure& figure = out.emplace_back(name, value.get<double>());
    figure.place = detail::place_in(kListed, name);
    if (name.starts_with(kOfValidation)) {
      figure.headline = usual_headline(name.substr(kOfValidation.size()));
    }
    figure.is_tile = detail::place_in(kTiles, name) > 0;
  }
  return out;
}

/// A number of evaluated models that lists show.
struct Judged {
  const char* name;
  const char* label;
  int headline = 0;
  bool is_decision = true;
  Better better = Better::kMore;
};

namespace detail {

/// Visits what an evaluation says of a model on a part, visit(model, part, tables), in its order:
/// {model: {"core", "additional"}, "test": {model: {part: {"core", "additional"}}}}.
template <class Visit>
void each_part(const nlohmann::json& metrics, const Visit& visit) {
  for (const auto& [model, tables] : metrics.items()) {
    if (below(tables, "core").is_object()) {
      visit(model, std::string("val"), tables);
    } else if (model == "test" && tables.is_object()) {
      for (const auto& [name, parts] : tables.items()) {
        if (!parts.is_object()) continue;
        for (const auto& [part, of] : parts.items()) visit(name, part, of);
      }
    }
  }
}

}  // namespace detail

/// Of an evaluation (see detail::each_part): every flat number is recorded, `judged` are listed in
/// their order.
template <std::size_t N>
std::vector<Figure> evaluation_figures(const nlohmann::json& metrics,
                                       const std::array<Judged, N>& judged) {
  std::vector<Figure> out;
  const auto add = [&](const std::string& name, const nlohmann::json& value, bool is_core) {
    Figure& figure = out.emplace_back(name, value.get<double>());
    const auto row = std::find_if(judged.begin(), judged.end(),
                                  [&](const Judged& one) { return one.name == name; });
    if (row == judged.end() || !is_core) return;
    figure.label = row->label;
    figure.better = row->better;
    figure.place = static_cast<int>(row - judged.begin()) + 1;
    figure.headline = row->headline;
    figure.is_tile = row->headline > 0;
    figure.is_decision = row->is_decision;
  };
  detail::each_part(metrics, [&](const std::string& model, const std::string& part,
                                 const nlohmann::json& tables) {
    const std::size_t first = out.size();
    for (const char* table : {"core", "additional"}) {
      const nlohmann::json numbers = detail::below(tables, table);
      if (!numbers.is_object()) continue;
      for (const auto& [name, value] : numbers.items()) {
        if (detail::is_finite_number(value)) add(name, value, table == std::string_view("core"));
      }
    }
    for (std::size_t i = first; i < out.size(); ++i) {
      out[i].model = model;
      out[i].part = part;
    }
  });
  return out;
}

/// Of {part: {"accuracy", "f1", ...}}: listed, not recorded.
inline std::vector<Figure> part_figures(const nlohmann::json& parts) {
  constexpr std::array<std::string_view, 5> kListed = {"accuracy", "f1", "auc", "mae", "rmse"};
  constexpr std::array<std::string_view, 3> kTiles = {"f1", "auc", "rmse"};
  std::vector<Figure> out;
  if (!parts.is_object()) return out;
  for (const auto& [part, numbers] : parts.items()) {
    for (const std::string_view name : kListed) {
      const nlohmann::json value = detail::below(numbers, name.data());
      if (!detail::is_finite_number(value)) continue;
      Figure& figure = out.emplace_back(std::string(name), value.get<double>());
      figure.part = part;
      figure.is_recorded = false;
      figure.place = detail::place_in(kListed, name);
      figure.headline = usual_headline(name);
      figure.is_tile = part != "train" && detail::place_in(kTiles, name) > 0;
    }
  }
  return out;
}

/// Of a step that trains, and of its parts where its metrics have "parts".
inline std::vector<Figure> step_figures(const nlohmann::json& metrics) {
  std::vector<Figure> out = training_figures(metrics);
  const std::vector<Figure> parts = part_figures(detail::below(metrics, "parts"));
  out.insert(out.end(), parts.begin(), parts.end());
  return out;
}

}  // namespace kdgat
