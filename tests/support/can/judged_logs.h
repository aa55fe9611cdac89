// Judged windows, made by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/compare/judged_log.h"

namespace kdgat::test {

inline constexpr double kSecondsOfWindow = 360;  // ten benign windows are an hour

/// Windows one after another; an attack frame comes 10 s into its window.
inline compare::JudgedLog judged_log(const std::string& name, const std::vector<int64_t>& labels,
                                     const std::vector<float>& scores, double threshold = 0.5) {
  compare::JudgedLog out;
  out.name = out.part = name;
  out.part.erase(std::min(out.part.find('/'), out.part.size()));
  out.labels = labels;
  for (std::size_t w = 0; w < labels.size(); ++w) {
    const double begin = kSecondsOfWindow * static_cast<double>(w);
    out.first_row.push_back(100 * static_cast<int64_t>(w));
    out.begin.push_back(begin);
    out.end.push_back(begin + kSecondsOfWindow);
    out.seconds.push_back(kSecondsOfWindow);
    out.attacked.push_back(labels[w] == 1 ? begin + 10 : std::numeric_limits<double>::quiet_NaN());
    out.shadow.push_back(w > 0 && labels[w] == 0 && labels[w - 1] == 1 ? 1 : 0);
    out.suspect.push_back(0);
  }
  out.said.push_back({"model", scores, threshold, false});
  return out;
}

}  // namespace kdgat::test
