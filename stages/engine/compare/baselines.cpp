#include "engine/compare/baselines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "engine/compare/rule.h"
#include "engine/trees/boosted_trees.h"
#include "engine/trees/isolation_forest.h"

namespace kdgat::compare {
namespace {

constexpr double kExceeding = 0.001;  // share of benign windows above a threshold
constexpr int64_t kFewestOwn = 40;    // windows of a log's own beginning, for a forest

/// The published rule: 1 where an id is unknown, else the share of early frames.
float oddness(const PlainWindows& plain, int64_t window) {
  return plain.at(window, Plain::kUnknown) > 0 ? 1 : plain.at(window, Plain::kEarly);
}

trees::Table table_of(std::span<const float> rows) {
  return {rows, static_cast<int64_t>(kPlainColumns), {}, {}};
}

/// Plain windows of training logs, those that are learned from and those held back.
struct Fitting {
  const BaselineOptions& options;
  std::vector<data::Piece> pieces{};  // that are learned from
  std::vector<float> rows{}, benign_rows{};
  std::vector<int64_t> labels{};
  std::vector<float> held_rows{};  // benign
  std::vector<double> held_odd{};

  bool has_both_classes() const {
    const auto attacks = std::count(labels.begin(), labels.end(), 1);
    return attacks > 0 && attacks < std::ssize(labels);
  }
  /// Vectors that grow hold what they held twice for a moment.
  void reserve(std::span<const data::StoredLog> training, std::span<const int64_t> cuts) {
    std::size_t learned = 0, held = 0;
    for (std::size_t i = 0; i < training.size(); ++i) {
      learned += static_cast<std::size_t>(cuts[i]);
      held += static_cast<std::size_t>(training[i].rows() / options.window - cuts[i]);
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

trees::IsolationForest forest_of(std::span<const float> rows, const BaselineOptions& options) {
  trees::IsolationForestOptions how;
  how.seed = options.seed;
  return trees::IsolationForest::fit(table_of(rows), how);
}

Judge fit_always(const Fitting&) {
  return [](const PlainLog&) { return Verdict{0, [](int64_t) { return 1; }}; };
}

Judge fit_published(const Fitting& fitting) {
  if (fitting.held_odd.empty()) return {};
  const double threshold = upper_quantile(fitting.held_odd, kExceeding);
  return [threshold](const PlainLog& log) {
    return Verdict{threshold, [&log](int64_t w) { return oddness(log.plain, w); }};
  };
}

/// The share of attack rows of each id.
std::unordered_map<uint32_t, float> attack_shares(std::span<const data::Piece> training) {
  std::unordered_map<uint32_t, std::array<int64_t, 2>> counts;  // rows, attack rows
  for (const data::Piece& piece : training) {
    for (int64_t row = piece.begin; row < piece.end; ++row) {
      std::array<int64_t, 2>& of_id = counts[piece.log->id(row)];
      ++of_id[0];
      of_id[1] += piece.log->is_attack(row) ? 1 : 0;
    }
  }
  std::unordered_map<uint32_t, float> out;
  for (const auto& [id, of_id] : counts) {
    out[id] = static_cast<float>(of_id[1]) / static_cast<float>(of_id[0]);
  }
  return out;
}

Judge fit_lookup(const Fitting& fitting) {
  constexpr double kHalf = 0.5;
  if (!fitting.has_both_classes()) return {};
  return [shares = attack_shares(fitting.pieces)](const PlainLog& log) {
    return Verdict{kHalf, [&](int64_t w) {
                     const int64_t size = log.options.window;
                     float largest = 0;
                     for (int64_t row = w * size; row < (w + 1) * size; ++row) {
                       const auto found = shares.find(log.log.id(row));
                       if (found != shares.end()) largest = std::max(largest, found->second);
                     }
                     return largest;
                   }};
  };
}

Judge fit_trees(const Fitting& fitting) {
  if (!fitting.has_both_classes()) return {};
  trees::BoostedTreesOptions how;  // those of the published comparison
  how.trees = 200;
  how.l2 = 0;
  how.seed = fitting.options.seed;
  how.threads = fitting.options.threads;
  return [trees = trees::BoostedTrees::fit(
              {fitting.rows, static_cast<int64_t>(kPlainColumns), fitting.labels, {}}, how)](
             const PlainLog& log) {
    return Verdict{0, [&](int64_t w) { return trees.score(log.plain.rows(w, w + 1)); }};
  };
}

Judge fit_forest(const Fitting& fitting) {
  if (fitting.held_odd.empty() || fitting.benign_rows.size() <= kPlainColumns) return {};
  trees::IsolationForest forest = forest_of(fitting.benign_rows, fitting.options);
  const double threshold = upper_quantile(
      forest.scores(table_of(fitting.held_rows), fitting.options.threads), kExceeding);
  return [threshold, forest = std::move(forest)](const PlainLog& log) {
    return Verdict{threshold, [&](int64_t w) { return forest.score(log.plain.rows(w, w + 1)); }};
  };
}

std::optional<Verdict> judge_own_rule(const PlainLog& log) {
  if (!log.own.profile) return {};
  return Verdict{RuleWindows::kThreshold,
                 [odd = rule_scores(log.log, *log.own.profile, log.options.window)](int64_t w) {
                   return odd[static_cast<std::size_t>(w)];
                 },
                 log.own.windows};
}

std::optional<Verdict> judge_own_forest(const PlainLog& log) {
  const int64_t own = log.own.windows;
  if (own < kFewestOwn) return {};
  const int64_t half = own / 2;
  const data::Piece first{&log.log, 0, own * log.options.window / 2};
  PlainWindows plain =
      plain_windows(log.log, PlainProfile::learn(std::array{first}), log.options.window);
  trees::IsolationForest forest = forest_of(plain.rows(0, half), log.options);
  const double threshold =
      upper_quantile(forest.scores(table_of(plain.rows(half, own))), kExceeding);
  return Verdict{threshold,
                 [plain = std::move(plain), forest = std::move(forest)](int64_t w) {
                   return forest.score(plain.rows(w, w + 1));
                 },
                 own};
}

struct Baseline {
  const char* name;
  Judge (*fit)(const Fitting& fitting);  ///< an empty one: training has not what it needs
};

// The thresholds of the published rule and the forests are what one in a thousand of the benign
// windows exceeds that are held back for them.
constexpr Baseline kBaselines[] = {
    // Flags every window.
    {kAlwaysAttack, fit_always},
    // A window is odd by its share of frames with a gap below half of their id's period in
    // training, and wholly if an id is unknown.
    {kPublishedRule, fit_published},
    // The largest share of attack rows that an id of the window has in training; 0 of an id never
    // seen: it shows what learning ids by heart gives.
    {kIdLookup, fit_lookup},
    // On plain windows, flagged above odds of 1.
    {kBoostedTrees, fit_trees},
    // On plain windows of benign training traffic.
    {kForest, fit_forest},
    // See rule.h, with the profile of the log's own first windows.
    {kOwnRule, [](const Fitting&) { return Judge(judge_own_rule); }},
    // The log's own first windows, half of them for profile and forest, half for the threshold.
    {kOwnForest, [](const Fitting&) { return Judge(judge_own_forest); }},
};

}  // namespace

double upper_quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double at = (1 - share) * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

int64_t baseline_count() { return std::ssize(kBaselines); }

Baselines Baselines::fit(std::span<const data::StoredLog> training, const BaselineOptions& options,
                         const std::function<void()>& told) {
  Fitting fitting{options};
  std::vector<int64_t> cuts;
  for (const data::StoredLog& log : training) {
    const int64_t windows = log.rows() / options.window;
    cuts.push_back(static_cast<int64_t>(static_cast<double>(windows) * (1 - options.val_fraction)));
    fitting.pieces.push_back({&log, 0, cuts.back() * options.window});
  }
  Baselines out(options, PlainProfile::learn(fitting.pieces));
  fitting.reserve(training, cuts);
  for (std::size_t i = 0; i < training.size(); ++i) {
    told();
    fitting.add(plain_windows(training[i], out.profile_, options.window), cuts[i]);
  }
  for (const Baseline& method : kBaselines) {
    told();
    if (Judge judge = method.fit(fitting)) out.methods_.emplace_back(method.name, std::move(judge));
  }
  return out;
}

std::vector<Verdicts> Baselines::judge(const data::StoredLog& log,
                                       std::span<const int64_t> windows) const {
  const PlainWindows plain = plain_windows(log, profile_, options_.window);
  const int64_t asked = options_.own_windows;
  const data::OwnBeginning own = data::learn_own(
      log, options_.window,
      asked > 0 ? asked : data::own_windows_in(log, options_.window, options_.own_seconds));
  const PlainLog judged{log, plain, own, options_};
  std::vector<Verdicts> out;
  for (const auto& [name, judge] : methods_) {
    const std::optional<Verdict> said = judge(judged);
    if (!said) continue;
    out.push_back({name, {}, said->threshold});
    for (const int64_t window : windows) {
      if (window < said->first) continue;
      out.back().scores.push_back(static_cast<float>(said->score(window)));
    }
  }
  return out;
}

}  // namespace kdgat::compare
