// What a learned detector is held against: methods that fit on a page, on the same windows. Each
// learns from training logs alone (the last part of each log gives the thresholds), or from the
// judged log's own first windows; none sees a label of the logs it judges.
// The methods are the rows of a table in baselines.cpp. One without what it needs is left out:
// labelled attacks in training, benign windows held back, a benign beginning.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/compare/judged_log.h"
#include "engine/compare/plain_windows.h"
#include "engine/data/can/frames/usual_window.h"
#include "engine/data/can/vehicles/learn_profile.h"
#include "engine/data/can/vehicles/stored_log.h"

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
  double own_seconds = data::kOwnSeconds;  ///< of a log's own beginning
  int64_t own_windows = 0;                 ///< so many of it instead; 0: own_seconds
  int64_t seed = 42;
  int64_t threads = 1;
};

/// A log that is judged.
struct PlainLog {
  const data::StoredLog& log;
  const PlainWindows& plain;  ///< by the profile of all training logs
  const data::OwnBeginning& own;
  const BaselineOptions& options;
};

/// What a method says of the windows from `first` on, by number.
struct Verdict {
  double threshold = 0;
  std::function<double(int64_t window)> score{};
  int64_t first = 0;
};

/// A method that has learned; nullopt: the log has not what it needs.
using Judge = std::function<std::optional<Verdict>(const PlainLog& log)>;

class Baselines {
 public:
  /// `told` is called between steps; it may throw.
  static Baselines fit(std::span<const data::StoredLog> training, const BaselineOptions& options,
                       const std::function<void()>& told);

  /// What each says of these complete windows of a log, by number, ascending. Methods with a
  /// profile of the log's own beginning leave out the windows that they learned from.
  std::vector<Verdicts> judge(const data::StoredLog& log, std::span<const int64_t> windows) const;

 private:
  Baselines(const BaselineOptions& options, PlainProfile profile)
      : options_(options), profile_(std::move(profile)) {}

  BaselineOptions options_;
  PlainProfile profile_;
  std::vector<std::pair<const char*, Judge>> methods_;  // that training had enough for
};

/// How many methods there are.
int64_t baseline_count();

/// The score that a share of `values` exceeds, linear between neighbours; NaN of nothing.
double upper_quantile(std::vector<double> values, double share);

}  // namespace kdgat::compare
