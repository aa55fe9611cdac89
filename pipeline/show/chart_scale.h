// Where values stand on an axis of a chart, and its ticks at round numbers. For pictures of this
// room.
#pragma once

#include <string>
#include <vector>

#include "pipeline/show/chart_svg.h"

namespace kdgat {

class ChartScale {
 public:
  struct Tick {
    double at = 0;  ///< 0 .. 1
    std::string text;
  };

  /// About `wanted` ticks. `is_rounded`: the ends go to round numbers. `values` are finite and not
  /// none. `axis` must outlive this.
  ChartScale(const Axis& axis, const std::vector<double>& values, int wanted, bool is_rounded);

  /// 0 at the low end, 1 at the high one; a little beyond for values that lie outside.
  double at(double value) const;
  /// Whether the value has a place: no logarithm is taken of what is not positive.
  bool has(double value) const;
  /// A value in words.
  std::string words(double value) const;

  std::vector<Tick> ticks;
  std::string title;

 private:
  void evenly(int wanted, bool is_rounded);
  void by_powers();

  const Axis& axis_;
  double low_ = 0, high_ = 1;
  bool is_log_ = false;
};

}  // namespace kdgat
