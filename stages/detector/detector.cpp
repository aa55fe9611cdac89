#include "detector/detector.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "data/graph_domain.h"
#include "detector/judging.h"
#include "detector/learning.h"
#include "graph/graph_store.h"
#include "kdgat/atomic_file.h"
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

void write_windows(const std::vector<JudgedLog>& logs, int64_t size,
                   const std::filesystem::path& file) {
  std::string out = "log,part,first_row,begin,label,score,threshold,flagged,rule\n";
  for (const JudgedLog& log : logs) {
    for (std::size_t w = 0; w < log.labels.size(); ++w) {
      const auto row = (log.own + static_cast<int64_t>(w)) * size;
      const Verdicts& said = log.detector;
      out += log.name + "," + log.part + "," + std::to_string(row) + "," +
             format_number("%.6f", log.begin[w]) + "," + std::to_string(log.labels[w]) + "," +
             format_number("%.4f", said.scores[w]) + "," + format_number("%.4f", said.threshold) +
             "," + (said.scores[w] > said.threshold ? "1," : "0,") +
             format_number("%.4f", log.rule.scores[w]) + "\n";
    }
  }
  write_file(file, out);
}

/// A method by its name in tables and metrics.
struct Method {
  const char* name;
  Verdicts JudgedLog::*said;
};
constexpr Method kMethods[] = {{"detector", &JudgedLog::detector},
                               {"rule", &JudgedLog::rule},
                               {"rule with own profile", &JudgedLog::own_rule}};

class Result {
 public:
  Result(std::string step, const DetectorModel& model, const std::vector<JudgedLog>& logs)
      : step_(std::move(step)) {
    out_.metrics = {{"parameters", model.parameters()},
                    {"threshold", model.known.threshold},
                    {"threshold_adapted", model.adapted.threshold},
                    {"parts", json::object()},
                    {"logs", json::object()}};
    out_.table = {{"part", "method", "windows", "attacks", "F1", "AUC", "false", "outside shadows",
                   "missed", "false/h (95 %)", "attacks found", "time to alarm"},
                  {}};
    std::map<std::string, std::vector<JudgedLog>> parts;
    for (const JudgedLog& log : logs) {
      parts[log.part].push_back(log);
      add_metrics("logs", log.name, std::span(&log, 1));
    }
    for (const auto& [part, list] : parts) add_part(part, list);
    double least = 1;
    for (const auto& [part, list] : parts) {
      least = std::min(least, out_.metrics["parts"][part]["detector"]["f1"].get<double>());
    }
    const std::string size = grouped(model.parameters()) + " parameters";
    out_.summary = parts.empty() ? size
                                 : "F1 " + format_number("%.3f", least) +
                                       (parts.size() > 1 ? " on the hardest part, " : ", ") + size;
  }

  StageResult take() { return std::move(out_); }
  /// Where a rule does better than the detector, a sentence each.
  const std::vector<std::string>& shortfalls() const { return shortfalls_; }

 private:
  static bool has(const std::vector<JudgedLog>& logs, const Method& method) {
    return std::any_of(logs.begin(), logs.end(),
                       [&](const JudgedLog& log) { return !(log.*method.said).scores.empty(); });
  }

  void add_metrics(const char* where, const std::string& name, std::span<const JudgedLog> logs) {
    for (const Method& method : kMethods) {
      if (has({logs.begin(), logs.end()}, method)) {
        out_.metrics[where][name][method.name] = summarise(logs, method.said);
      }
    }
  }

  void add_part(const std::string& part, const std::vector<JudgedLog>& logs) {
    add_metrics("parts", part, logs);
    const json& of = out_.metrics["parts"][part];
    for (const Method& method : kMethods) {
      if (!of.contains(method.name)) continue;
      const json& m = of.at(method.name);
      const json alarm = m.at("time_to_alarm");
      out_.table->rows.push_back(
          {part, method.name, m.at("n_samples"), m.at("attacks"), m.at("f1"), m.at("auc"),
           m.at("false_windows"), m.at("false_outside_shadows"), m.at("missed_windows"),
           format_number("%.0f", m.at("false_per_hour")) + " (" +
               format_number("%.0f", m.at("false_per_hour_low")) + " to " +
               format_number("%.0f", m.at("false_per_hour_high")) + ")",
           std::to_string(m.at("events_found").get<int64_t>()) + " of " +
               std::to_string(m.at("events").get<int64_t>()),
           alarm.is_null() ? "" : format_number("%.2f s", alarm.get<double>())});
    }
    const json& own = of.at("detector");
    for (const Method& method : kMethods) {
      if (method.said == &JudgedLog::detector || !of.contains(method.name)) continue;
      const double rule = of.at(method.name).at("f1"), f1 = own.at("f1");
      if (rule > f1) {
        shortfalls_.push_back(part + ": the " + method.name + " has F1 " +
                              format_number("%.3f", rule) + ", the detector " +
                              format_number("%.3f", f1));
      }
    }
    int place = 0;
    for (const char* name : {"f1", "auc", "pr_auc", "false_windows", "missed_windows"}) {
      Figure figure(name, own.at(name));
      figure.model = step_;
      figure.part = part;
      figure.place = ++place;
      out_.figures.push_back(std::move(figure));
    }
  }

  std::string step_;
  StageResult out_;
  std::vector<std::string> shortfalls_;
};

}  // namespace

StageInfo Detector::info() {
  StageInfo out;
  out.name = "detector";
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
  const std::vector<Log> logs = logs_of(store);
  std::vector<Log> training, tests;
  for (const Log& log : logs) (log.trains() ? training : tests).push_back(log);
  if (training.empty()) throw Error(ExitCode::kData, "the data has no training log");
  for (const Log& log : logs) {
    for (const std::string& sentence : log.problems()) host.log("warning", sentence);
  }
  const DetectorModel model = train(training, options, request, host);
  stop_if_cancelled(host);
  model.write(request.run_dir / kDetectorFile);
  std::vector<JudgedLog> judged;
  for (const Log& log : tests) {
    stop_if_cancelled(host);
    host.progress("test", "log", static_cast<int64_t>(judged.size()),
                  static_cast<int64_t>(tests.size()));
    try {
      judged.push_back(judge(log, model, options.own_windows));
    } catch (const Error& error) {
      if (error.code() != ExitCode::kData) throw;
      host.log("warning", error.diagnostics().front().message);
    }
  }
  write_windows(judged, options.window, request.run_dir / "windows.csv");
  Result result(request.step, model, judged);
  for (const std::string& sentence : result.shortfalls()) host.log("warning", sentence);
  StageResult out = result.take();
  out.facts = {{"model", "detector"}, {"parameters", model.parameters()}};
  return out;
}

}  // namespace kdgat::detector
