#include "pipeline/tune/saved_sweep.h"

#include "pipeline/show/json_lookup.h"
#include "pipeline/tune/sweep.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::optional<int64_t> whole_there(const json& from, const std::string& key) {
  const json& value = below(from, key);
  return value.is_number() ? std::optional(value.get<int64_t>()) : std::nullopt;
}

}  // namespace

std::optional<double> SavedTrial::metric(const std::string& of) const {
  return number_there(metrics, of);
}

void from_json(const json& in, SavedTrial& trial) {
  trial.name = word(in, "name");
  trial.state = word(in, "state");
  for (const auto& [key, value] : below(in, "values").items()) {
    trial.values[key] = value.is_string() ? value.get<std::string>() : "";
  }
  trial.value = number_there(in, "value");
  trial.metrics = below(in, "metrics");
  trial.reserved = number(in, "reserved", 0);
  trial.needed = number(in, "needed", 0);
  trial.seconds = number(in, "seconds", 0);
  trial.cpu_seconds = number(in, "cpu_seconds", 0);
  trial.best_epoch = whole_there(in, kTrialBestEpoch);
  trial.stopped_at = whole_there(in, "stopped_at");
}

void from_json(const json& in, SavedSweep& sweep) {
  sweep.metric = word(in, "metric");
  sweep.best = word(in, "best");
  sweep.is_less_better = word(in, "goal") == "min";
  sweep.seconds = number(in, "seconds", 0);
  sweep.cores = number(in, "cores", 1);
  if (const json& trials = below(in, "trials"); trials.is_array()) trials.get_to(sweep.trials);
}

}  // namespace kdgat
