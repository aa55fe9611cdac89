#include "pipeline/tune/sweep_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kdgat/measure.h"
#include "kdgat/text.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/tune/sweep.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::string bytes_text(double bytes) {
  return bytes > 0 ? format_bytes(static_cast<uint64_t>(bytes)) : "-";
}

/// Names of numbers of validation that trials have: the metric, then the usual ones, as many as
/// fit.
std::vector<std::string> shown_metrics(const json& trials, const std::string& metric) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> out = {metric};
  for (const Measure& usual : kMeasures) {
    const std::string name = std::string(kOfValidation) + std::string(usual.name);
    const bool is_there = std::any_of(trials.begin(), trials.end(), [&](const json& trial) {
      return below(below(trial, "metrics"), name).is_number();
    });
    if (is_there && name != metric && out.size() < kMost) out.push_back(name);
  }
  return out;
}

/// The name of the trial that is best by a number; "" if none has it.
std::string best_by(const json& trials, const std::string& metric) {
  std::string out;
  double best = 0;
  for (const json& trial : trials) {
    const json value = below(below(trial, "metrics"), metric);
    if (!value.is_number() || trial.contains("stopped_at")) continue;
    const double cost =
        better_of(metric) == Better::kLess ? value.get<double>() : -value.get<double>();
    if (!out.empty() && cost >= best) continue;
    best = cost;
    out = word(trial, "name");
  }
  return out;
}

/// What test data say, a few to a line.
std::string test_lines(const json& metrics) {
  constexpr std::size_t kInRow = 3;
  Table table;
  std::vector<std::string> row;
  for (const auto& [name, value] : metrics.items()) {
    if (name.rfind("test", 0) != 0 || !value.is_number()) continue;
    row.push_back("  " + name);
    row.push_back(value.is_number_integer() ? value.dump()
                                            : format_number("%.4f", value.get<double>()));
    if (row.size() == 2 * kInRow) table.add(std::exchange(row, {}));
  }
  if (!row.empty()) table.add(std::move(row));
  return table.text();
}

}  // namespace

std::vector<std::string> tried_keys(const json& record) {
  std::vector<std::string> out;
  for (const json& trial : record.at("trials")) {
    for (const auto& [key, value] : trial.at("values").items()) {
      if (std::find(out.begin(), out.end(), key) == out.end()) out.push_back(key);
    }
  }
  return out;
}

std::string trials_table(const json& record) {
  const std::string metric = word(record, "metric");
  const bool is_less_better = word(record, "goal") == "min";
  std::vector<json> trials = record.at("trials").get<std::vector<json>>();
  std::stable_sort(trials.begin(), trials.end(), [&](const json& a, const json& b) {
    const bool has_a = a.contains("value"), has_b = b.contains("value");
    if (!has_a || !has_b) return has_a && !has_b;
    const double x = a.at("value"), y = b.at("value");
    return is_less_better ? x < y : x > y;
  });
  const std::vector<std::string> metrics = shown_metrics(record.at("trials"), metric);
  const std::vector<std::string> keys = tried_keys(record);
  const bool has_epochs = std::any_of(trials.begin(), trials.end(), [](const json& trial) {
    return trial.contains(kTrialBestEpoch);
  });
  Table table;
  std::vector<std::string> head = {"trial"};
  head.insert(head.end(), keys.begin(), keys.end());
  head.insert(head.end(), metrics.begin(), metrics.end());
  if (has_epochs) head.push_back("of epoch");
  head.insert(head.end(), {"reserved", "needed", "time", "state"});
  table.add(std::move(head));
  for (const json& trial : trials) {
    std::vector<std::string> row = {word(trial, "name")};
    for (const std::string& key : keys) row.push_back(word(below(trial, "values"), key));
    for (const std::string& name : metrics) {
      const json value = below(below(trial, "metrics"), name);
      row.push_back(value.is_number() ? format_number("%.4f", value.get<double>()) : "-");
    }
    if (has_epochs) {
      row.push_back(trial.contains(kTrialBestEpoch) ? trial.at(kTrialBestEpoch).dump() : "-");
    }
    row.push_back(bytes_text(number(trial, "reserved", 0)));
    row.push_back(bytes_text(number(trial, "needed", 0)));
    const double seconds = number(trial, "seconds", 0);
    row.push_back(seconds > 0 ? format_seconds(seconds) : "-");
    std::string state = word(trial, "state");
    if (trial.contains("stopped_at")) state += " at epoch " + trial.at("stopped_at").dump();
    row.push_back(state);
    table.add(std::move(row));
  }
  return table.text();
}

std::string best_lines(const json& record) {
  std::string out;
  const std::string best = word(record, "best");
  for (const json& trial : record.at("trials")) {
    if (word(trial, "name") != best || best.empty()) continue;
    out += "\nbest by " + word(record, "metric") + ": " + best + "\n";
    std::string others;
    for (const std::string& name : shown_metrics(record.at("trials"), word(record, "metric"))) {
      const std::string other = best_by(record.at("trials"), name);
      if (name != word(record, "metric") && !other.empty()) {
        others.append("  ").append(name).append(": ").append(other);
      }
    }
    if (!others.empty()) out += "by others:" + others + "\n";
    const std::string test = test_lines(trial.at("metrics"));
    if (!test.empty()) out.append("test data, once, of ").append(best).append(":\n").append(test);
  }
  double seconds = 0;
  int64_t ran = 0;
  for (const json& trial : record.at("trials")) {
    if (word(trial, "state") != "done") continue;
    seconds += number(trial, "cpu_seconds", 0);
    ++ran;
  }
  const double wall = number(record, "seconds", 0), cores = number(record, "cores", 1);
  if (ran > 0 && seconds > 0) {
    out += std::to_string(ran) + " trials in " + format_seconds(wall) + ": " +
           format_number("%.2f", wall * cores / seconds) + " times their processor time over " +
           format_number("%.0f", cores) + " cores\n";
  }
  return out;
}

json simulation_json(const json& record, double total, double buffer, double model,
                     int64_t copies) {
  const std::vector<MeasuredTrial> trials = measured_trials(record, copies);
  if (trials.empty()) {
    throw Error(ExitCode::kData, "no trial of this sweep was measured",
                "trials that ran tell what they needed");
  }
  const auto room = static_cast<int64_t>(std::max(1.0, total - buffer));
  const auto largest = std::max_element(
      trials.begin(), trials.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  if (largest->bytes > room) {
    throw Error(ExitCode::kDoesNotFit,
                "the largest trial reserves " + bytes_text(static_cast<double>(largest->bytes)) +
                    ", and there is " + bytes_text(static_cast<double>(room)),
                "a larger device, or a smaller --gpu-buffer");
  }
  const std::vector<DeviceRoom> devices = {{"simulated", room}};
  const Simulation measured = simulate(trials, devices, 0);
  std::vector<MeasuredTrial> fixed = trials;
  for (MeasuredTrial& one : fixed) one.bytes = static_cast<int64_t>(model);
  const std::size_t workers = published_workers(total, buffer, model);
  const Simulation published = simulate(fixed, devices, workers);
  const auto to_json = [](const Simulation& of) {
    return json{{"seconds", of.seconds},
                {"mean_admitted", of.mean_admitted},
                {"most_admitted", of.most_admitted},
                {"peak_reserved", of.peak_reserved},
                {"exceeded", of.exceeded}};
  };
  json out = {{"total", total},
              {"room", room},
              {"trials", trials.size()},
              {"measured", to_json(measured)},
              {"published", to_json(published)}};
  out["published"]["workers"] = workers;
  return out;
}

std::string simulation_text(const json& simulation) {
  Table table;
  table.add({"rule", "trials at once", "most", "reserved", "exceeded", "time"});
  for (const char* rule : {"measured", "published"}) {
    const json& one = simulation.at(rule);
    table.add({rule, format_number("%.1f", number(one, "mean_admitted")),
               one.at("most_admitted").dump(), bytes_text(number(one, "peak_reserved")),
               one.at("exceeded").dump(), format_seconds(number(one, "seconds"))});
  }
  return simulation.at("trials").dump() + " trials on a device of " +
         bytes_text(number(simulation, "total")) + ", " + bytes_text(number(simulation, "room")) +
         " for trials; each takes the time it took here\n" + table.text();
}

}  // namespace kdgat
