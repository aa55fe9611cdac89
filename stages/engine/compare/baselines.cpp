#include "engine/compare/baselines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/compare/rule.h"

namespace kdgat::compare {
namespace {

constexpr double kExceeding = 0.001;  // share of benign windows above a threshold
constexpr int64_t kFewestOwn = 40;    // windows of a log's own beginning, for a forest

/// The published rule: 1 where an id is unknown, else the share of early frames.
float oddness(const PlainWindows& plain, int64_t window) {
  return plain.at(window, Plain::kUnknown) > 0 ? 1 : plain.at(window, Plain::kEarly);
}

/// The scores of the windows asked for that are not below `first`; both ascending.
Verdicts pick(const char* method, double threshold, std::span<const int64_t> windows, int64_t first,
              const std::function<double(int64_t window)>& score) {
  Verdicts out{method, {}, threshold};
  for (const int64_t window : windows) {
    if (window >= first) out.scores.push_back(static_cast<float>(score(window)));
  }
  return out;
}

trees::Table table_of(std::span<const float> rows) {
  return {rows, static_cast<int64_t>(kPlainColumns), {}, {}};
}

/// Plain windows of training logs, those that are learned from and those held back.
struct Fitting {
  std::vector<float> rows, benign_rows;
  std::vector<int64_t> labels;
  std::vector<float> held_rows;  // benign
  std::vector<double> held_odd;

  /// Vectors that grow hold what they held twice for a moment.
  void reserve(std::span<const decision::Log> training, std::span<const int64_t> cuts,
               int64_t window) {
    std::size_t learned = 0, held = 0;
    for (std::size_t i = 0; i < training.size(); ++i) {
      learned += static_cast<std::size_t>(cuts[i]);
      held += static_cast<std::size_t>(training[i].rows() / window - cuts[i]);
    }
    rows.reserve(learned * kPlainColumns);
    benign_rows.reserve(learned * kPlainColumns);
    labels.reserve(learned);
    held_rows.reserve(held * kPlainColumns);
    held_odd.reserve(held);
  }
  void add(const PlainWindows& plain, int64_t cut) {
    for (int64_t w = 0; w < plain.size(); ++w) {
      const std::span<const float> row = plain.rows(w, w + 1);
      const bool attack = plain.labels[static_cast<std::size_t>(w)] == 1;
      if (w < cut) {
        rows.insert(rows.end(), row.begin(), row.end());
        labels.push_back(attack ? 1 : 0);
      }
      if (attack) continue;
      std::vector<float>& benign = w < cut ? benign_rows : held_rows;
      benign.insert(benign.end(), row.begin(), row.end());
      if (w >= cut) held_odd.push_back(oddness(plain, w));
    }
  }
};

trees::BoostedTrees fit_trees(const Fitting& fitting, const BaselineOptions& options) {
  trees::BoostedTreesOptions how;  // those of the published comparison
  how.trees = 200;
  how.l2 = 0;
  how.seed = options.seed;
  how.threads = options.threads;
  return trees::BoostedTrees::fit(
      {fitting.rows, static_cast<int64_t>(kPlainColumns), fitting.labels, {}}, how);
}

}  // namespace

double upper_quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double at = (1 - share) * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

Baselines Baselines::fit(std::span<const decision::Log> training, const BaselineOptions& options,
                         const std::function<void()>& told) {
  std::vector<decision::Piece> pieces;
  std::vector<int64_t> cuts;
  for (const decision::Log& log : training) {
    const int64_t windows = log.rows() / options.window;
    cuts.push_back(static_cast<int64_t>(static_cast<double>(windows) * (1 - options.val_fraction)));
    pieces.push_back({&log, 0, cuts.back() * options.window});
  }
  Baselines out(options, PlainProfile::learn(pieces));
  Fitting fitting;
  fitting.reserve(training, cuts, options.window);
  for (std::size_t i = 0; i < training.size(); ++i) {
    told();
    fitting.add(plain_windows(training[i], out.profile_, options.window), cuts[i]);
  }
  const auto attacks = std::count(fitting.labels.begin(), fitting.labels.end(), 1);
  if (!fitting.held_odd.empty()) out.rule_threshold_ = upper_quantile(fitting.held_odd, kExceeding);
  if (attacks > 0 && attacks < std::ssize(fitting.labels)) {
    out.fit_lookup(pieces);
    told();
    out.trees_ = fit_trees(fitting, options);
  }
  told();
  if (!fitting.held_odd.empty() && fitting.benign_rows.size() > kPlainColumns) {
    trees::IsolationForest forest = out.forest_of(fitting.benign_rows);
    const double threshold =
        upper_quantile(forest.scores(table_of(fitting.held_rows), options.threads), kExceeding);
    out.forest_ = Forest{std::move(forest), threshold};
  }
  return out;
}

void Baselines::fit_lookup(std::span<const decision::Piece> training) {
  std::unordered_map<uint32_t, std::array<int64_t, 2>> counts;  // rows, attack rows
  for (const decision::Piece& piece : training) {
    for (int64_t row = piece.begin; row < piece.end; ++row) {
      std::array<int64_t, 2>& of_id = counts[piece.log->id(row)];
      ++of_id[0];
      of_id[1] += piece.log->is_attack(row) ? 1 : 0;
    }
  }
  shares_.emplace();
  for (const auto& [id, of_id] : counts) {
    (*shares_)[id] = static_cast<float>(of_id[1]) / static_cast<float>(of_id[0]);
  }
}

trees::IsolationForest Baselines::forest_of(std::span<const float> rows) const {
  trees::IsolationForestOptions how;
  how.seed = options_.seed;
  return trees::IsolationForest::fit(table_of(rows), how);
}

std::vector<Verdicts> Baselines::judge(const decision::Log& log,
                                       std::span<const int64_t> windows) const {
  const PlainWindows plain = plain_windows(log, profile_, options_.window);
  std::vector<Verdicts> out;
  out.push_back(pick(kAlwaysAttack, 0, windows, 0, [](int64_t) { return 1; }));
  if (rule_threshold_) {
    out.push_back(pick(kPublishedRule, *rule_threshold_, windows, 0,
                       [&](int64_t w) { return oddness(plain, w); }));
  }
  if (shares_) {
    constexpr double kHalf = 0.5;
    out.push_back(pick(kIdLookup, kHalf, windows, 0, [&](int64_t w) {
      float largest = 0;
      for (int64_t row = w * options_.window; row < (w + 1) * options_.window; ++row) {
        const auto found = shares_->find(log.id(row));
        if (found != shares_->end()) largest = std::max(largest, found->second);
      }
      return largest;
    }));
  }
  if (trees_) {
    out.push_back(pick(kBoostedTrees, 0, windows, 0,
                       [&](int64_t w) { return trees_->score(plain.rows(w, w + 1)); }));
  }
  if (forest_) {
    out.push_back(pick(kForest, forest_->threshold, windows, 0,
                       [&](int64_t w) { return forest_->forest.score(plain.rows(w, w + 1)); }));
  }
  judge_own(log, windows, out);
  return out;
}

void Baselines::judge_own(const decision::Log& log, std::span<const int64_t> windows,
                          std::vector<Verdicts>& out) const {
  const int64_t asked = options_.own_windows;
  const decision::OwnBeginning own = decision::learn_own(
      log, options_.window,
      asked > 0 ? asked : decision::own_windows_in(log, options_.window, options_.own_seconds));
  if (own.profile) {
    const std::vector<float> odd = rule_scores(log, *own.profile, options_.window);
    out.push_back(pick(kOwnRule, RuleWindows::kThreshold, windows, own.windows,
                       [&](int64_t w) { return odd[static_cast<std::size_t>(w)]; }));
  }
  if (own.windows < kFewestOwn) return;
  const int64_t half = own.windows / 2;
  const decision::Piece first{&log, 0, own.windows * options_.window / 2};
  const PlainWindows plain =
      plain_windows(log, PlainProfile::learn(std::array{first}), options_.window);
  const trees::IsolationForest forest = forest_of(plain.rows(0, half));
  const double threshold =
      upper_quantile(forest.scores(table_of(plain.rows(half, own.windows))), kExceeding);
  out.push_back(pick(kOwnForest, threshold, windows, own.windows,
                     [&](int64_t w) { return forest.score(plain.rows(w, w + 1)); }));
}

}  // namespace kdgat::compare
