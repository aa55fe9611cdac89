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
    if (!one.value || !std::isfinite(*one.value) || one.stopped_at > 0) continue;
    if (!out) {
      out = i;
      continue;
    }
    const double best = *trials[*out].value;
    if (options.is_less_better ? *one.value < best : *one.value > best) out = i;
  }
  return out;
}

json SweepRecord::json() const {
  nlohmann::json list = nlohmann::json::array();
  const auto chosen = best();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& one = trials[i];
    nlohmann::json values = nlohmann::json::object();
    for (const auto& [key, value] : one.spec.values) values[key] = value;
    nlohmann::json metrics = nlohmann::json::object();
    for (const auto& [name, value] : one.metrics.items()) {
      // Test data speak once, for the trial that validation has chosen.
      if (name.rfind("test", 0) != 0 || chosen == i) metrics[name] = value;
    }
    nlohmann::json item = {{"name", one.spec.name},
                           {"values", values},
                           {"state", one.state},
                           {"planned", one.planned},
                           {"reserved", one.reserved},
                           {"needed", one.needed},
                           {"attempts", one.attempts},
                           {"seconds", one.seconds},
                           {"cpu_seconds", one.cpu_seconds},
                           {"metrics", std::move(metrics)}};
    if (one.value) item["value"] = *one.value;
    if (one.best_epoch > 0) item[kTrialBestEpoch] = one.best_epoch;
    if (one.stopped_at > 0) item["stopped_at"] = one.stopped_at;
    if (!one.error.empty()) item["error"] = one.error;
    list.push_back(std::move(item));
  }
  nlohmann::json devices = nlohmann::json::array();
  for (const DeviceRoom& room : rooms) {
    devices.push_back({{"device", room.name}, {"room", room.bytes}});
  }
  nlohmann::json out = {{"mode", options.mode},
                        {"metric", options.metric},
                        {"goal", options.is_less_better ? "min" : "max"},
                        {"memory", options.memory},
                        {"buffer", options.buffer},
                        {"context", context},
                        {"devices", std::move(devices)},
                        {"at_once", options.at_once},
                        {"threads", threads},
                        {"cores", cores},
                        {"seconds", seconds},
                        {"best", nullptr},
                        {"trials", std::move(list)}};
  if (chosen) out["best"] = trials[*chosen].spec.name;
  return out;
}

}  // namespace kdgat
