// The trials of a sweep: which options are tried, and with which values. Pure: knows neither stages
// nor profiles; a value is a text as it would stand on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/error.h"

namespace kdgat {

/// Values between two numbers, both included.
struct ValueRange {
  enum class Scale { kUniform, kLog, kWhole } scale = Scale::kUniform;
  double from = 0, to = 0;
};

/// One option that is tried with several values.
struct Dimension {
  std::string key;                  ///< "lr" or "classifier.lr"
  std::vector<std::string> values;  ///< of a list
  std::optional<ValueRange> range;  ///< or of a range
};

/// Reads "[1,2]", "uniform(0,0.5)", "log(1e-4,1e-2)" or "int(32,256)"; nullopt for a single value.
/// `takes_list`: one value of the option is itself a list, so that only [[..],[..]] is several.
/// Throws Error(kUsage) naming the key for an empty list or what is not a range.
std::optional<Dimension> read_dimension(const std::string& key, const std::string& text,
                                        bool takes_list);

/// One point of the space.
struct TrialSpec {
  std::string name;  ///< unique in the sweep; also its folder
  std::vector<std::pair<std::string, std::string>> values;  ///< key and value
};

/// Every combination of the values; throws Error(kUsage) where a dimension is a range.
std::vector<TrialSpec> grid_trials(const std::vector<Dimension>& dimensions);
/// `count` points drawn independently; a function of the seed. Points drawn twice stand once.
std::vector<TrialSpec> random_trials(const std::vector<Dimension>& dimensions, int64_t count,
                                     int64_t seed);

/// The sweeps that were published for the recommender on MovieLens-100K (see docs/guides.md):
/// "example" (11), "architecture" (30), "loss" (5), "grid" (16); empty for another name.
std::vector<TrialSpec> published_trials(const std::string& mode);

}  // namespace kdgat
