#include "pipeline/tune/sweep_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kdgat/measure.h"
#include "kdgat/text.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/tune/sweep.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// Of each trial that was measured, for simulate(). `copies` of each.
std::vector<MeasuredTrial> measured_trials(const SavedSweep& sweep, int64_t copies) {
  std::vector<MeasuredTrial> out;
  for (const SavedTrial& one : sweep.trials) {
    if (one.needed < 1 || one.seconds <= 0) continue;
    for (int64_t i = 0; i < copies; ++i) {
      out.push_back({one.reserved, one.needed, one.seconds});
    }
  }
  return out;
}

std::string bytes_text(int64_t bytes) {
  return bytes > 0 ? format_bytes(static_cast<uint64_t>(bytes)) : "-";
}

/// Names of numbers of validation that trials have: the metric, then the usual ones, as many as
/// fit.
std::vector<std::string> shown_metrics(const SavedSweep& sweep) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> out = {sweep.metric};
  for (const Measure& usual : kMeasures) {
    const std::string name = std::string(kOfValidation) + std::string(usual.name);
    const bool is_there =
        std::any_of(sweep.trials.begin(), sweep.trials.end(),
                    [&](const SavedTrial& trial) { return trial.metric(name).has_value(); });
    if (is_there && name != sweep.metric && out.size() < kMost) out.push_back(name);
  }
  return out;
}

/// The name of the trial that is best by a number; "" if none has it.
std::string best_by(const std::vector<SavedTrial>& trials, const std::string& metric) {
  std::string out;
  double best = 0;
  for (const SavedTrial& trial : trials) {
    const auto value = trial.metric(metric);
    if (!value || trial.stopped_at) continue;
    const double cost = better_of(metric) == Better::kLess ? *value : -*value;
    if (!out.empty() && cost >= best) continue;
    best = cost;
    out = trial.name;
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

std::vector<std::string> tried_keys(const SavedSweep& sweep) {
  std::vector<std::string> out;
  for (const SavedTrial& trial : sweep.trials) {
    for (const auto& [key, value] : trial.values) {
      if (std::find(out.begin(), out.end(), key) == out.end()) out.push_back(key);
    }
  }
  return out;
}

std::string trials_table(const SavedSweep& sweep) {
  std::vector<SavedTrial> trials = sweep.trials;
  std::stable_sort(trials.begin(), trials.end(), [&](const SavedTrial& a, const SavedTrial& b) {
    if (!a.value || !b.value) return a.value && !b.value;
    return sweep.is_less_better() ? *a.value < *b.value : *a.value > *b.value;
  });
  const std::vector<std::string> metrics = shown_metrics(sweep), keys = tried_keys(sweep);
  const bool has_epochs = std::any_of(trials.begin(), trials.end(), [](const SavedTrial& trial) {
    return trial.best_epoch.has_value();
  });
  Table table;
  std::vector<std::string> head = {"trial"};
  head.insert(head.end(), keys.begin(), keys.end());
  head.insert(head.end(), metrics.begin(), metrics.end());
  if (has_epochs) head.push_back("of epoch");
  head.insert(head.end(), {"reserved", "needed", "time", "state"});
  table.add(std::move(head));
  for (const SavedTrial& trial : trials) {
    std::vector<std::string> row = {trial.name};
    for (const std::string& key : keys) {
      const auto value = trial.values.find(key);
      row.push_back(value == trial.values.end() ? "" : value->second);
    }
    for (const std::string& name : metrics) {
      const auto value = trial.metric(name);
      row.push_back(value ? format_number("%.4f", *value) : "-");
    }
    if (has_epochs) row.push_back(trial.best_epoch ? std::to_string(*trial.best_epoch) : "-");
    row.push_back(bytes_text(trial.reserved));
    row.push_back(bytes_text(trial.needed));
    row.push_back(trial.seconds > 0 ? format_seconds(trial.seconds) : "-");
    row.push_back(trial.state + (trial.stopped_at ? " at epoch " + std::to_string(*trial.stopped_at)
                                                  : std::string()));
    table.add(std::move(row));
  }
  return table.text();
}

std::string best_lines(const SavedSweep& sweep) {
  std::string out;
  for (const SavedTrial& trial : sweep.trials) {
    if (!sweep.is_best(trial)) continue;
    out += "\nbest by " + sweep.metric + ": " + trial.name + "\n";
    std::string others;
    for (const std::string& name : shown_metrics(sweep)) {
      const std::string other = best_by(sweep.trials, name);
      if (name != sweep.metric && !other.empty()) {
        others.append("  ").append(name).append(": ").append(other);
      }
    }
    if (!others.empty()) out += "by others:" + others + "\n";
    const std::string test = test_lines(trial.metrics);
    if (!test.empty()) {
      out.append("test data, once, of ").append(trial.name).append(":\n").append(test);
    }
  }
  double seconds = 0;
  int64_t ran = 0;
  for (const SavedTrial& trial : sweep.trials) {
    if (trial.state != "done") continue;
    seconds += trial.cpu_seconds;
    ++ran;
  }
  if (ran > 0 && seconds > 0) {
    out += std::to_string(ran) + " trials in " + format_seconds(sweep.seconds) + ": " +
           format_number("%.2f", sweep.seconds * sweep.cores / seconds) +
           " times their processor time over " + std::to_string(sweep.cores) + " cores\n";
  }
  return out;
}

SweepSimulation simulate_sweep(const SavedSweep& sweep, double total, double buffer, double model,
                               int64_t copies) {
  const std::vector<MeasuredTrial> trials = measured_trials(sweep, copies);
  if (trials.empty()) {
    throw Error(ExitCode::kData, "no trial of this sweep was measured",
                "trials that ran tell what they needed");
  }
  const auto room = static_cast<int64_t>(std::max(1.0, total - buffer));
  const auto largest = std::max_element(
      trials.begin(), trials.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  if (largest->bytes > room) {
    throw Error(ExitCode::kDoesNotFit,
                "the largest trial reserves " + bytes_text(largest->bytes) + ", and there is " +
                    bytes_text(room),
                "a larger device, or a smaller --gpu-buffer");
  }
  const std::vector<DeviceRoom> devices = {{"simulated", room}};
  SweepSimulation out{total, room, trials.size(), simulate(trials, devices, 0)};
  std::vector<MeasuredTrial> fixed = trials;
  for (MeasuredTrial& one : fixed) one.bytes = static_cast<int64_t>(model);
  const std::size_t workers = published_workers(total, buffer, model);
  out.published = {simulate(fixed, devices, workers), workers};
  return out;
}

std::string simulation_text(const SweepSimulation& simulation) {
  Table table;
  table.add({"rule", "trials at once", "most", "reserved", "exceeded", "time"});
  const auto add = [&table](const std::string& rule, const Simulation& of) {
    table.add({rule, format_number("%.1f", of.mean_admitted), std::to_string(of.most_admitted),
               bytes_text(of.peak_reserved), std::to_string(of.exceeded),
               format_seconds(of.seconds)});
  };
  add("measured", simulation.measured);
  add("published", simulation.published);
  return std::to_string(simulation.trials) + " trials on a device of " +
         bytes_text(static_cast<int64_t>(simulation.total)) + ", " + bytes_text(simulation.room) +
         " for trials; each takes the time it took here\n" + table.text();
}

}  // namespace kdgat
