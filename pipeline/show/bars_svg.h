// Bars beside one another as SVG, each with its name, its number and how sure that is. Knows
// nothing of runs.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/show/chart_svg.h"

namespace kdgat {

struct Bar {
  std::string name;
  double value = 0;
  std::optional<double> low, high;  ///< of its interval
  int colour = 0;
  bool is_pale = false;  ///< outlined rather than filled
  std::string words;     ///< where the pointer rests
  std::string number;    ///< at its right; "" = the value with three decimals
  /// Stands right below the one before, as another bar of the same name. The legend says what the
  /// bars of a name are.
  bool is_more = false;
};

struct BarChart {
  std::string title;  ///< said to those who do not see the picture
  std::string axis;   ///< what is measured, below the ticks
  /// Ends of the axis; none = round numbers around zero and what is drawn. Bars begin at zero,
  /// where that is on it.
  std::optional<double> from = 0, to = 1;
  std::vector<Bar> bars{};
  std::vector<std::pair<std::string, int>> legend{};  ///< words, colour
  bool has_signs = false;                             ///< numbers have their sign: "+0.012"
  double width = 420;
};

/// As high as its bars need. "" where no bar has a finite value.
std::string bars_svg(const BarChart& chart);

}  // namespace kdgat
