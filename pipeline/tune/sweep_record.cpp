#include <algorithm>
#include <cmath>

#include "kdgat/measure.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/tune/sweep.h"

namespace kdgat {

using nlohmann::json;

std::string choose_metric(const std::string& wanted, const json& options) {
  if (!wanted.empty()) return wanted;
  if (std::string monitored = word(options, "monitor_metric"); !monitored.empty()) {
    return monitored;
  }
  return std::string(kOfValidation) + std::string(kMeasures[0].name);
}

bool Rungs::is_rung(int64_t epoch) const {
  if (first_ <= 0) return false;
  int64_t rung = first_;
  while (rung < epoch) rung *= eta_;
  return rung == epoch;
}

bool Rungs::goes_on(int64_t trial, int64_t epoch, double value) {
  if (!is_rung(epoch)) return true;
  std::map<int64_t, double>& seen = costs_[epoch];
  const double cost = is_less_better_ ? value : -value;
  seen[trial] = cost;
  const auto place = std::count_if(seen.begin(), seen.end(), [&](const auto& other) {
    return other.first != trial && other.second <= cost;
  });
  const auto count = static_cast<int64_t>(seen.size());
  if (count < eta_) return true;  // too few to compare with
  return place < std::max<int64_t>(1, count / eta_);
}

std::optional<std::size_t> SweepRecord::best() const {
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& one = trials[i];
    if (!one.value || !std::isfinite(*one.value) || one.stopped_at) continue;
    if (!out) {
      out = i;
      continue;
    }
    const double best = *trials[*out].value;
    if (options.is_less_better() ? *one.value < best : *one.value > best) out = i;
  }
  return out;
}

SavedSweep SweepRecord::saved() const {
  const auto chosen = best();
  SavedSweep out{options,
                 chosen ? std::optional(trials[*chosen].name) : std::nullopt,
                 rooms,
                 {trials.begin(), trials.end()}};
  // Test data speak once, for the trial that validation has chosen.
  for (std::size_t i = 0; i < trials.size(); ++i) {
    json& metrics = out.trials[i].metrics = json::object();
    for (const auto& [name, value] : trials[i].metrics.items()) {
      if (!name.starts_with("test") || chosen == i) metrics[name] = value;
    }
  }
  return out;
}

}  // namespace kdgat
