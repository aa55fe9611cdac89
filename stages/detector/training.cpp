#include "detector/training.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "detector/cross_fit.h"
#include "detector/learning.h"
#include "detector/sentences.h"
#include "engine/data/can/windows/payload_laws.h"
#include "kdgat/text.h"

namespace kdgat::detector {
namespace {

trees::BoostedTreesOptions tree_options(const DetectorOptions& options, int64_t seed,
                                        int64_t threads) {
  trees::BoostedTreesOptions out;
  out.trees = options.trees;
  out.max_leaves = options.leaves;
  out.learning_rate = options.learning_rate;
  out.row_fraction = 0.8;
  out.column_fraction = 0.5;
  // Whatever is further from the usual is no less an attack: what attacks were never seen to do
  // cannot teach the opposite.
  out.monotone.assign(data::kRelativeColumns, 1);
  out.seed = seed;
  out.threads = threads;
  return out;
}

void check_rows(const LearningSet& rows) {
  const auto attacks = std::count(rows.labels.begin(), rows.labels.end(), 1);
  if (attacks > 0 && attacks < std::ssize(rows.labels)) return;
  throw Error(
      ExitCode::kData,
      "the training logs are too short to learn from: " + std::to_string(rows.labels.size()) +
          " windows, " + std::to_string(attacks) + " of them attacks",
      "some 100 windows of benign traffic at the beginning of a log are needed");
}

/// The classifier may flag all windows that the budget allows, the tails those that it leaves.
decision::Decision decide(const Listened& listened, const DetectorOptions& options) {
  constexpr double kLeastRare = 3;  // one window in a thousand: nothing more common is odd
  decision::Decision out;
  out.budget =
      decision::budget_of(listened.classifier, options.false_alarms, options.take_supported);
  out.classifier = std::max(std::log(options.least_odds),
                            decision::threshold_for(listened.classifier, out.budget.allowed));
  const decision::Flagged of_it = decision::flagged_in(listened.classifier, out.classifier);
  const decision::Flagged left{std::max<int64_t>(0, out.budget.allowed.windows - of_it.windows),
                               std::max(0.0, out.budget.allowed.under_alarm - of_it.under_alarm)};
  out.tails = std::max(kLeastRare, decision::threshold_for(listened.tails, left));
  return out;
}

std::vector<data::Vehicle> profiles_of(std::span<const data::StoredLog> logs,
                                       const std::vector<std::vector<std::size_t>>& vehicles,
                                       bool with_steps) {
  std::vector<data::Vehicle> out;
  for (const std::vector<std::size_t>& vehicle : vehicles) {
    std::vector<data::Piece> pieces;
    pieces.reserve(vehicle.size());
    for (const std::size_t log : vehicle) pieces.push_back({&logs[log], 0, logs[log].rows()});
    out.push_back({logs[vehicle.front()].name(), data::learn_profile(pieces, with_steps)});
  }
  return out;
}

/// Of vehicles with several logs. Only the final profiles have laws: trees learn nothing of them.
void learn_laws(std::span<const data::StoredLog> logs,
                const std::vector<std::vector<std::size_t>>& vehicles,
                std::vector<data::Vehicle>& known) {
  for (std::size_t v = 0; v < vehicles.size(); ++v) {
    if (vehicles[v].size() < 2) continue;
    data::LawLearner learner(known[v].profile);
    for (int pass = 0; pass < data::LawLearner::kPasses; ++pass) {
      for (std::size_t n = 0; n < vehicles[v].size(); ++n) {
        const data::StoredLog& log = logs[vehicles[v][n]];
        learner.begin_drive(n);
        for (int64_t row = 0; row < log.rows(); ++row) {
          if (log.restarts(row)) learner.begin_drive(n);
          learner.add(log.frame(row));
        }
      }
      learner.end_pass();
    }
    learner.finish(known[v].profile);
  }
}

/// Nothing where some of the logs look attacked: their places and what is said of them come back.
std::optional<TrainedDetector> train_unless_attacked(std::span<const data::StoredLog> logs,
                                                     const DetectorOptions& options, int64_t seed,
                                                     int64_t threads, const TrainingTold& told,
                                                     const NetworkSource& network,
                                                     std::map<std::size_t, std::string>& attacked) {
  const std::vector<std::vector<std::size_t>> vehicles = data::group_by_vehicle(logs);
  std::vector<data::Vehicle> known = profiles_of(logs, vehicles, static_cast<bool>(network));
  for (const std::string& text : sentences_of_logs(logs, vehicles, known)) told.log(text);
  if (const std::string little = sentence_of_little(vehicles, known); !little.empty()) {
    told.log(little);
  }
  const Learning learning = learn(
      logs, vehicles, options, seed, [&](double share) { told.progress("windows", share); },
      network);
  const LearningSet& rows = learning.rows;
  check_rows(rows);
  told.log(sentence_of_choice(learning, options));
  if (network) told.log(sentence_of_network(learning, *network.network));
  const trees::BoostedTreesOptions how = tree_options(options, seed, threads);
  const decision::Floors floors;
  std::vector<uint8_t> left_out(rows.labels.size(), 0);
  const double log_odds = std::log(options.least_odds);
  constexpr double kOfTrees = 0.45;  // of the time of all trees: fitting each fold once
  const auto fit_all = [&](double from, OddsBy by) {
    return cross_fit(
        learning, left_out, options.alarm_rule(), floors, how, log_odds,
        [&](double share) { told.progress("trees", from + kOfTrees * share); }, by);
  };
  const OddsBy by = network ? OddsBy::kNetwork : OddsBy::kTrees;
  const auto all_labelled = [&] {
    return std::all_of(logs.begin(), logs.end(), [](const auto& log) { return log.is_labelled(); });
  };
  if (!network || !all_labelled()) {
    const CrossFit first = fit_all(0, OddsBy::kTrees);
    for (const std::size_t log : attacked_logs(first, logs)) {
      attacked[log] = sentence_of_attacked(logs[log], first.by_log.at(log));
    }
    if (!attacked.empty()) return std::nullopt;
    left_out = odd_benign(rows, first, log_odds);
  }
  CrossFit fit = fit_all(kOfTrees, by);
  std::erase_if(fit.by_own, [](const auto& one) { return one.second.classifier.empty(); });
  if (fit.by_own.empty()) {
    throw Error(ExitCode::kData, "no benign windows are left to choose a threshold by",
                network
                    ? "the network was trained on all of them: some logs of its data are to be "
                      "for validation"
                    : "some 100 windows of benign traffic at the beginning of a log are needed");
  }
  told.progress("trees", 2 * kOfTrees);
  Parts parts = fit_parts(rows, -1, left_out, how, by);
  std::map<int32_t, decision::Decision> decisions;
  for (const auto& [own, listened] : fit.by_own) decisions[own] = decide(listened, options);
  if (options.keep_vehicles) {
    learn_laws(logs, vehicles, known);
    told.log(sentence_of_laws(vehicles, known));
  } else {
    known.clear();
    if (decisions.size() > 1) decisions.erase(0);
  }
  TrainedDetector out{
      {options.window, options.own_seconds, std::move(decisions), std::move(known),
       network ? decision::WindowClassifier(network.network) : std::move(*parts.classifier),
       std::move(parts.tails), floors, options.alarm_rule(), learning.frames.fit(seed, threads)},
      {},
      {}};
  told.log(sentence_of_thresholds(out.model, options));
  out.left_out = left_out_figures(learning, fit, out.model, log_odds);
  if (const std::string reach = sentence_of_reach(out.left_out); !reach.empty()) told.log(reach);
  return out;
}

}  // namespace

TrainedDetector train_detector(std::span<const data::StoredLog> logs,
                               const DetectorOptions& options, int64_t seed, int64_t threads,
                               const TrainingTold& told, const NetworkSource& network) {
  std::vector<data::StoredLog> kept(logs.begin(), logs.end());
  std::vector<std::string> not_learned;
  while (true) {
    std::map<std::size_t, std::string> attacked;
    std::optional<TrainedDetector> out =
        train_unless_attacked(kept, options, seed, threads, told, network, attacked);
    if (out) {
      out->not_learned = std::move(not_learned);
      return std::move(*out);
    }
    for (auto one = attacked.rbegin(); one != attacked.rend(); ++one) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(one->first));
      not_learned.push_back(one->second);
    }
  }
}

}  // namespace kdgat::detector
