// What a run of replicates came to, in words and as JSON: its replicates, and their figures as mean
// and standard deviation. Pure, from what is on the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/system/record.h"

namespace kdgat {

/// A figure over the seeds of a run.
struct FigureOfSeeds {
  struct Value {
    int64_t seed = 0;
    double value = 0;
    static auto keys() {
      return std::tuple{key("seed", &Value::seed, "its seed"),
                        key("value", &Value::value, "its figure").or_null()};
    }
  };
  std::string step, part, name;
  std::size_t n = 0;
  double mean = 0;
  std::optional<double> deviation;
  std::vector<Value> values;

  static auto keys() {
    using T = FigureOfSeeds;
    return std::tuple{
        key("step", &T::step, "whose figure it is"),
        key("part", &T::part, "of the data; \"\" = the step as a whole"),
        key("name", &T::name, "of the figure"),
        key("n", &T::n, "seeds that have it"),
        key("mean", &T::mean, "over these seeds").or_null(),
        key("deviation", &T::deviation, "standard deviation; null of one seed").or_null(),
        key("values", &T::values, "by seed")};
  }
};

/// "4 of 5 seeds done, 1 failed"
std::string seeds_done(const std::filesystem::path& folder);
/// Of a run of replicates, for each what it came to: kdgat runs show and the end of a run.
nlohmann::json replicates_report(const std::filesystem::path& folder);
/// The same as text: a line for each replicate, then figures as mean and standard deviation; with
/// `is_short` only those that stand in lists.
std::string replicates_text(const std::filesystem::path& folder, bool is_short);

}  // namespace kdgat
