#include "detector/detector.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "data/graph_domain.h"
#include "detector/figures.h"
#include "detector/judging.h"
#include "detector/learning.h"
#include "graph/graph_store.h"
#include "kdgat/text.h"

namespace kdgat::detector {
namespace {

using nlohmann::json;

void stop_if_cancelled(const Host& host) {
  const ExitCode code = host.cancelled();
  if (code != ExitCode::kOk) throw Error(code, "stopped; a detector is trained anew");
}

trees::BoostedTreesOptions tree_options(const DetectorOptions& options, const Request& request) {
  trees::BoostedTreesOptions out;
  out.trees = options.trees;
  out.max_leaves = options.leaves;
  out.learning_rate = options.learning_rate;
  out.row_fraction = 0.8;
  out.column_fraction = 0.5;
  // Whatever is further from the usual is no less an attack: what attacks were never seen to do
  // cannot teach the opposite.
  out.monotone.assign(graph::kRelativeColumns, 1);
  out.seed = request.seed;
  out.threads = request.threads;
  return out;
}

/// Benign windows that were held back, by the windows that the profile was learned from (Held::own).
std::map<int64_t, std::vector<Stretch>> stretches_of(const std::vector<Held>& held,
                                                     const trees::BoostedTrees& classifier) {
  std::map<int64_t, std::vector<Stretch>> out;
  for (const Held& one : held) {
    Stretch& stretch = out[one.own].emplace_back();
    stretch.seconds = one.seconds;
    const trees::Table table{one.values, static_cast<int64_t>(graph::kRelativeColumns), {}, {}};
    for (const double score : classifier.scores(table)) {
      stretch.scores.push_back(static_cast<float>(score));
    }
  }
  return out;
}

struct Thresholds {
  Budget known, adapted;
};

/// Of profiles of several lengths the highest threshold counts.
Thresholds choose(const Learning& learning, const trees::BoostedTrees& classifier,
                  const DetectorOptions& options) {
  std::optional<Budget> known, adapted;
  for (const auto& [own, stretches] : stretches_of(learning.held, classifier)) {
    Budget budget = choose_threshold(stretches, options.false_alarms, options.take_supported);
    // Some minutes of benign traffic do not show all that a car does: what they would let pass is
    // flagged only where the classifier sees anything in it.
    budget.threshold = std::max(budget.threshold, std::log(options.least_odds));
    std::optional<Budget>& of = own == 0 ? known : adapted;
    if (!of || budget.threshold > of->threshold) of = budget;
  }
  if (!known && !adapted) {
    throw Error(ExitCode::kData, "no benign windows are left to choose a threshold by",
                "the last fifth of a training log needs benign traffic");
  }
  return {known ? *known : *adapted, adapted ? *adapted : *known};
}

DetectorModel train(const std::vector<Log>& training, const DetectorOptions& options,
                    const Request& request, Host& host) {
  const std::vector<std::vector<std::size_t>> groups = group_by_vehicle(training);
  const auto told = [&](double share) {
    stop_if_cancelled(host);
    host.progress("windows", "log",
                  static_cast<int64_t>(share * static_cast<double>(training.size())),
                  static_cast<int64_t>(training.size()));
  };
  Learning learning = learn(training, groups, options, request.seed, told);
  const auto attacks = std::count(learning.rows.labels.begin(), learning.rows.labels.end(), 1);
  if (attacks == 0 || attacks == static_cast<std::ptrdiff_t>(learning.rows.labels.size())) {
    throw Error(ExitCode::kData,
                "the training logs are too short to learn from: " +
                    std::to_string(learning.rows.labels.size()) + " windows, " +
                    std::to_string(attacks) + " of them attacks",
                "some 100 windows of benign traffic at the beginning of a log are needed");
  }
  stop_if_cancelled(host);
  host.log("info", "learning from " + grouped(static_cast<int64_t>(learning.rows.labels.size())) +
                       " windows, " + grouped(attacks) + " of them attacks");
  trees::BoostedTrees classifier =
      trees::BoostedTrees::fit(learning.rows.table(), tree_options(options, request));
  const Thresholds thresholds = choose(learning, classifier, options);
  std::vector<Vehicle> vehicles;
  for (const std::vector<std::size_t>& group : groups) {
    std::vector<Piece> pieces;
    for (const std::size_t log : group) {
      const auto rows = static_cast<double>(training[log].rows()) * (1 - options.val_fraction);
      pieces.push_back({&training[log], 0, static_cast<int64_t>(rows)});
    }
    vehicles.push_back({training[group.front()].name(), learn_profile(pieces)});
  }
  return {options.window, thresholds.known, thresholds.adapted, std::move(vehicles),
          std::move(classifier)};
}

std::optional<Baselines> fit_baselines(const std::vector<Log>& training,
                                       const DetectorOptions& options, const Request& request,
                                       const Host& host) {
  if (!options.baselines) return {};
  return Baselines::fit(
      training,
      {options.window, options.val_fraction, options.own_windows, request.seed, request.threads},
      [&] { stop_if_cancelled(host); });
}

}  // namespace

StageInfo Detector::info() {
  StageInfo out;
  out.name = "detector";
  out.version = 2;  // baselines, suspects, figures by kind of attack
  out.summary =
      "Learn what is usual on a vehicle's bus, detect attacks on it, at a budget of false alarms.";
  out.inputs = {graphs_of("can")};
  out.outputs = {{"detector", kind::kDetector}};
  out.speaks = 5;
  return out;
}

json Detector::plan(const Options& options, const Request&) {
  return {{"model", "detector"}, {"size", std::to_string(options.trees) + " trees"}};
}

StageResult Detector::run(const Options& options, const Request& request, Host& host) {
  const graph::GraphStore store = graph::GraphStore::open(
      std::filesystem::path(request.input("graphs").path) / graph::kStoreName);
  std::vector<Log> logs = logs_of(store), training, tests;
  for (Log& log : logs) {
    if (options.monotonic) log.make_monotonic();
    (log.trains() ? training : tests).push_back(log);
  }
  if (training.empty()) throw Error(ExitCode::kData, "the data has no training log");
  const DetectorModel model = train(training, options, request, host);
  stop_if_cancelled(host);
  model.write(request.run_dir / kDetectorFile);
  const std::optional<Baselines> baselines = fit_baselines(training, options, request, host);
  std::vector<JudgedLog> judged;
  for (const Log& log : tests) {
    stop_if_cancelled(host);
    host.progress("test", "log", static_cast<int64_t>(judged.size()),
                  static_cast<int64_t>(tests.size()));
    try {
      judged.push_back(judge(log, model, options.own_windows, baselines ? &*baselines : nullptr));
    } catch (const Error& error) {
      if (error.code() != ExitCode::kData) throw;
      host.log("warning", error.diagnostics().front().message);
    }
  }
  write_windows(judged, request.run_dir / "windows.csv");
  const Comparison comparison(judged, {kDetector}, same_content(logs));
  for (const std::string& sentence : comparison.notes()) host.log("warning", sentence);
  for (const std::string& sentence : comparison.shortfalls()) host.log("warning", sentence);
  return result_of(request.step, model, comparison);
}

}  // namespace kdgat::detector
