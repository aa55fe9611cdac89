// A sweep as tune.json holds it (SweepRecord::json()). Only here is it read.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kdgat {

struct SavedTrial {
  std::string name, state;
  std::map<std::string, std::string> values;  ///< by option
  std::optional<double> value;                ///< of the metric
  nlohmann::json metrics;
  double reserved = 0, needed = 0;  ///< bytes; 0 = not known
  double seconds = 0, cpu_seconds = 0;
  std::optional<int64_t> best_epoch, stopped_at;

  /// A number of `metrics`; none if there is no such.
  std::optional<double> metric(const std::string& of) const;
};

struct SavedSweep {
  std::string metric, best;  ///< best: the name of a trial; "" = none
  bool is_less_better = false;
  double seconds = 0, cores = 1;
  std::vector<SavedTrial> trials;
};

void from_json(const nlohmann::json& in, SavedTrial& trial);
void from_json(const nlohmann::json& in, SavedSweep& sweep);

}  // namespace kdgat
