// Parallel coordinates as SVG: an upright axis for each quantity, a line for each item. Colours are
// the classes of chart_style(). Knows no sweep.
#pragma once

#include <string>
#include <vector>

namespace kdgat {

struct ParallelAxis {
  std::string title;
  bool is_bytes = false;  ///< values are shown as sizes
};

struct ParallelItem {
  std::string words;                ///< said where the pointer rests
  std::vector<std::string> values;  ///< one for each axis: a number or a word; "" = none
  bool is_chosen = false;           ///< drawn last, in colour
  bool is_dashed = false;
};

/// Axes whose values are all numbers are scaled (logarithmically where they are positive and span
/// much), others have their words at equal distances in order of appearance. "" where there are
/// fewer than two axes or no items.
std::string parallel_svg(const std::string& title, const std::vector<ParallelAxis>& axes,
                         const std::vector<ParallelItem>& items);

}  // namespace kdgat
