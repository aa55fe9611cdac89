// What a learned detector is held against: methods that fit on a page, on the same windows. Each
// learns from training logs alone (the last part of each log gives the thresholds), or from the
// judged log's own first windows; none sees a label of the logs it judges.
//
//   always attack          flags every window
//   published rule         a window is odd by its share of frames with a gap below half of their id's
//                          period in training, and wholly if an id is unknown
//   rule with own profile  see rule.h, with the profile of the log's own first windows
//   id lookup              the largest share of attack rows that an id of the window has in training;
//                          0 of an id never seen: it shows what learning ids by heart gives
//   boosted trees          on plain windows, flagged above odds of 1
//   isolation forest       on plain windows of benign training traffic
//   isolation forest with own profile
//                          the log's own first windows, half of them for profile and forest, half
//                          for the threshold
// The thresholds of the published rule and the forests are what one in a thousand of the benign
// windows exceeds that are held back for them. A method without what it needs is left out: labelled
// attacks in training for look-up and trees, benign windows held back, a benign beginning.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/compare/judged_log.h"
#include "engine/compare/plain_windows.h"
#include "engine/data/can/frames/usual_window.h"
#include "engine/decision/detector/traffic.h"
#include "engine/trees/boosted_trees.h"
#include "engine/trees/isolation_forest.h"

namespace kdgat::compare {

inline constexpr const char* kAlwaysAttack = "always attack";
inline constexpr const char* kPublishedRule = "published rule";
inline constexpr const char* kOwnRule = "rule with own profile";
inline constexpr const char* kIdLookup = "id lookup";
inline constexpr const char* kBoostedTrees = "boosted trees";
inline constexpr const char* kForest = "isolation forest";
inline constexpr const char* kOwnForest = "isolation forest with own profile";

struct BaselineOptions {
  int64_t window = data::kUsualWindow;  ///< frames
  double val_fraction =
      0.2;  ///< share of each training log, at its end, that thresholds follow from
  double own_seconds = decision::kOwnSeconds;  ///< of a log's own beginning
  int64_t own_windows = 0;                     ///< so many of it instead; 0: own_seconds
  int64_t seed = 42;
  int64_t threads = 1;
};

class Baselines {
 public:
  /// `told` is called between steps; it may throw.
  static Baselines fit(std::span<const decision::Log> training, const BaselineOptions& options,
                       const std::function<void()>& told);

  /// What each says of these complete windows of a log, by number, ascending. Methods with a
  /// profile of the log's own beginning leave out the windows that they learned from.
  std::vector<Verdicts> judge(const decision::Log& log, std::span<const int64_t> windows) const;

 private:
  Baselines(const BaselineOptions& options, PlainProfile profile)
      : options_(options), profile_(std::move(profile)) {}
  void fit_lookup(std::span<const decision::Piece> training);
  trees::IsolationForest forest_of(std::span<const float> rows) const;
  void judge_own(const decision::Log& log, std::span<const int64_t> windows,
                 std::vector<Verdicts>& out) const;

  struct Forest {
    trees::IsolationForest forest;
    double threshold;
  };
  BaselineOptions options_;
  PlainProfile profile_;
  std::optional<double> rule_threshold_;
  std::optional<std::unordered_map<uint32_t, float>> shares_;  // of attack rows, by id
  std::optional<trees::BoostedTrees> trees_;
  std::optional<Forest> forest_;
};

/// The score that a share of `values` exceeds, linear between neighbours; NaN of nothing.
double upper_quantile(std::vector<double> values, double share);

}  // namespace kdgat::compare
