// The figures by which runs are compared, of one run: for each model and measure what it came to on
// each part of the data, and the colours in which charts draw the parts. Makes no markup.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/report/report_model.h"
#include "pipeline/show/bars_svg.h"

namespace kdgat {

/// The part by which models are chosen.
inline constexpr const char* kValPart = "val";

/// One measure of a model.
struct MeasureRow {
  std::string model;  ///< a step, or one with what was done to it: "classifier rewired"
  std::string label;  ///< "F1"
  Figure like;        ///< how its values are written, and which way they are better
  std::vector<std::optional<double>> values;  ///< of each part of the sheet

  std::optional<double> at(std::size_t part) const;
  /// A share of one, of which more is better.
  bool is_share() const;
};

struct FigureSheet {
  /// "val" first, then in the order in which they are told; "" = the step as a whole, the last.
  std::vector<std::string> parts;
  std::vector<MeasureRow> rows;

  /// Of a model the row of a measure; nullptr if it has none.
  const MeasureRow* find(const std::string& model, const std::string& label) const;
  /// The models, each once.
  std::vector<std::string> models() const;
};

/// Figures of validation that a step tells as its own ("val_f1") are those of its part "val".
FigureSheet figure_sheet(const std::vector<Figure>& figures);

/// What the colours of bars mean: the parts of a sheet that a chart has bars of.
std::vector<std::pair<std::string, int>> bar_legend(const BarChart& chart,
                                                    const FigureSheet& sheet);

/// How a part is called in a legend or as the heading of a column.
std::string part_name(const std::string& part);

}  // namespace kdgat
