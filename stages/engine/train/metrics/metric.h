// What is told of a metric, and where: of a detector (metrics.h), and of classes (class_metrics.h).
#pragma once

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kdgat/figures.h"
#include "kdgat/text.h"

namespace kdgat::train {

struct MetricForm {
  std::string_view name;
  Better better = Better::kNeither;
  int place = 0;             ///< in tables and lists, from 1 on; 0 = in metrics.json alone
  int headline = 0;          ///< in the line that speaks for a run, from 1 on; 0 = not there
  bool is_decision = false;  ///< a column where decisions are counted
  std::string_view words{};  ///< none = as label_of() has the name
  int decimals = 3;

  std::string label() const {
    return words.empty() ? label_of(std::string(name)) : std::string(words);
  }
  std::string text(double value) const {
    return format_number(("%." + std::to_string(decimals) + "f").c_str(), value);
  }
  /// To a figure of this name.
  void describe(Figure& figure) const {
    figure.label = label();
    figure.better = better;
    figure.decimals = decimals;
    figure.place = place;
    figure.headline = headline;
    figure.is_tile = headline > 0;
    figure.is_decision = is_decision;
  }
};

/// Those that tables have, in their order.
template <class Metric>
std::vector<const Metric*> in_tables(std::span<const Metric> metrics) {
  std::vector<const Metric*> out;
  for (const Metric& one : metrics) {
    if (one.place > 0) out.push_back(&one);
  }
  std::sort(out.begin(), out.end(),
            [](const Metric* a, const Metric* b) { return a->place < b->place; });
  return out;
}

/// Of an evaluation (detail::each_part): every flat number, as its metric is told.
template <class Metric>
std::vector<Figure> evaluated_figures(const nlohmann::json& evaluation,
                                      std::span<const Metric> metrics) {
  std::vector<Figure> out = evaluation_figures(evaluation, std::array<Judged, 0>{});
  for (Figure& figure : out) {
    for (const Metric& one : metrics) {
      if (one.name == figure.name) one.describe(figure);
    }
  }
  return out;
}

}  // namespace kdgat::train
