// Bars beside one another as SVG, each with its name, its number and how sure that is. Knows nothing
// of runs.
#pragma once

#include <optional>
#include <string>
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
};

struct BarChart {
  std::string title;  ///< said to those who do not see the picture
  std::string axis;   ///< what is measured, below the ticks
  double from = 0, to = 1;
  std::vector<Bar> bars{};
  double width = 420;
};

/// As high as its bars need. "" where no bar has a finite value.
std::string bars_svg(const BarChart& chart);

}  // namespace kdgat
