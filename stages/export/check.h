// What an export is held against before it is kept, and what came of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat::exporting {

/// Scores of exact exports differ by no more, and no decision differs.
inline constexpr double kMostDifference = 1e-5;

/// Two ways to compute the scores of the same windows.
struct Check {
  std::string what;   ///< "the C file against the native engine"
  std::string where;  ///< "validation windows of the run", or the name of a log
  int64_t windows = 0;
  double largest_difference = 0;
  int64_t decisions_differ = 0;
  /// Of those, windows whose scores are farther from the threshold than the largest difference.
  int64_t clearly_differ = 0;
  bool is_exact = true;  ///< false: rounded weights, of which it only reports
  std::string more{};    ///< a sentence
  /// Of rounded weights on a log with labels: "auc", "exact_auc", "f1", "exact_f1".
  nlohmann::json kept = nlohmann::json::object();

  void add(double score, double reference, double threshold) {
    add(score, reference, threshold, score > threshold, reference > threshold);
  }
  /// Where each said itself what it flags.
  void add(double score, double reference, double threshold, bool is_flagged, bool should_be) {
    ++windows;
    const bool is_bad = !(std::isfinite(score) && std::isfinite(reference));
    const double difference = is_bad ? INFINITY : std::abs(score - reference);
    largest_difference = std::max(largest_difference, difference);
    if (is_flagged == should_be) return;
    ++decisions_differ;
    margins_.push_back(std::abs(reference - threshold));
  }
  /// Call when all windows were added.
  void finish() {
    clearly_differ = std::count_if(margins_.begin(), margins_.end(),
                                   [this](double margin) { return margin > largest_difference; });
  }
  bool holds() const {
    return !is_exact || (largest_difference <= kMostDifference && clearly_differ == 0);
  }
  nlohmann::json json() const {
    nlohmann::json out = {{"what", what},
                          {"where", where},
                          {"windows", windows},
                          {"largest_difference", largest_difference},
                          {"decisions_differ", decisions_differ},
                          {"holds", holds()}};
    out.update(kept);
    return out;
  }

 private:
  std::vector<double> margins_;  // of decisions that differ
};

/// All that was checked, and what could not be.
struct Checks {
  std::vector<Check> done;
  std::vector<std::string> not_done;  ///< sentences
};

}  // namespace kdgat::exporting
