#include "detector/cross_fit.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <span>

#include "engine/data/can/windows/relative_windows.h"
#include "engine/portable/evidence.h"
#include "engine/portable/tails.h"

namespace kdgat::detector {
namespace {

using data::kRelativeColumns;
using data::Relative;

/// Columns whose benign tails stay what they are from drive to drive. Payloads do not: a signal
/// that rested moves one day. Early frames do not: those beside an injected one are benign. Lengths
/// do not: some forms of logs do not tell them.
constexpr std::array kTailColumns = {static_cast<std::size_t>(Relative::kUnknown),
                                     static_cast<std::size_t>(Relative::kSilence)};

/// A window in which an id is missing is beyond any threshold.
double rarity_of(const decision::Tails& tails, std::span<const float> row) {
  return kdgat_tails_of_sure(tails.score(row), KDGAT_MOST_RARE, row.data(), 0);
}

std::span<const float> row_of(const std::vector<float>& values, std::size_t row) {
  return std::span(values).subspan(row * kRelativeColumns, kRelativeColumns);
}

bool has_both(const LearningSet& rows, int32_t without, const std::vector<uint8_t>& left_out) {
  std::array<bool, 2> has{};
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    if (rows.folds[i] != without && left_out[i] == 0) {
      has[static_cast<std::size_t>(rows.labels[i])] = true;
    }
  }
  return has[0] && has[1];
}

void listen(const Held& held, OddsBy by, const Parts& parts, const decision::KOfN& alarm_rule,
            const decision::Floors& floors, double log_odds, Listened& out, FlaggedCount& count) {
  const bool by_network = by == OddsBy::kNetwork, is_known = !by_network || !held.network.empty();
  const std::vector<float> usual(kRelativeColumns, 0);
  const double usual_odds =
      parts.classifier ? parts.classifier->score(usual) : std::numeric_limits<float>::lowest();
  decision::RankFilter of_known(alarm_rule, usual_odds), of_seen = of_known;
  decision::RankFilter of_tails(alarm_rule, parts.tails.score(usual));
  decision::Stretch known, tails;
  bool was_missing = false;
  for (std::size_t i = 0; i < held.values.size() / kRelativeColumns; ++i) {
    const std::span<const float> seen = row_of(held.values, i);
    const bool has_evidence = floors.are_reached(seen), is_missing = decision::is_missing(seen);
    const double odds = !has_evidence || !is_known ? usual_odds
                        : by_network               ? held.network[i]
                                                   : parts.classifier->score(seen);
    count.flagged += of_seen.add(odds) > log_odds ? 1 : 0;
    // For a budget an id that is missing is one finding, however long it goes on.
    const bool counts = has_evidence && !(is_missing && was_missing);
    was_missing = is_missing;
    known.scores.push_back(static_cast<float>(of_known.add(counts ? odds : usual_odds)));
    tails.scores.push_back(
        static_cast<float>(of_tails.add(rarity_of(parts.tails, counts ? seen : usual))));
  }
  count.windows += std::ssize(known.scores);
  known.seconds = tails.seconds = held.seconds;
  if (is_known) out.classifier.push_back(std::move(known));
  out.tails.push_back(std::move(tails));
}

}  // namespace

Parts fit_parts(const LearningSet& rows, int32_t fold, const std::vector<uint8_t>& left_out,
                const trees::BoostedTreesOptions& how, OddsBy by) {
  LearningSet some;
  std::vector<float> benign;
  const auto is_taken = [&](std::size_t i) { return rows.folds[i] != fold && left_out[i] == 0; };
  std::size_t count = 0, plain = 0;
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    if (!is_taken(i)) continue;
    ++count;
    plain += rows.plain[i];
  }
  some.values.reserve(count * kRelativeColumns);
  some.labels.reserve(count);
  some.weights.reserve(count);
  benign.reserve(plain * kRelativeColumns);
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    if (!is_taken(i)) continue;
    const std::span<const float> row = row_of(rows.values, i);
    some.values.insert(some.values.end(), row.begin(), row.end());
    some.labels.push_back(rows.labels[i]);
    some.weights.push_back(rows.weights[i]);
    if (rows.plain[i] != 0) benign.insert(benign.end(), row.begin(), row.end());
  }
  Parts out{{}, decision::Tails::fit(benign, kRelativeColumns, kTailColumns)};
  if (by == OddsBy::kTrees) out.classifier = trees::BoostedTrees::fit(some.table(), how);
  return out;
}

CrossFit cross_fit(const Learning& learning, const std::vector<uint8_t>& left_out,
                   const decision::KOfN& alarm_rule, const decision::Floors& floors,
                   const trees::BoostedTreesOptions& how, double log_odds,
                   const std::function<void(double share)>& told, OddsBy by) {
  const LearningSet& rows = learning.rows;
  CrossFit out;
  out.rows.assign(rows.labels.size(), std::numeric_limits<float>::lowest());
  out.tails.assign(rows.labels.size(), 0);
  const std::set<int32_t> folds(rows.folds.begin(), rows.folds.end());
  std::map<std::size_t, std::map<int32_t, FlaggedCount>> counts;  // by Held::log and Held::own
  int64_t done = 0;
  for (const int32_t fold : folds) {
    told(static_cast<double>(done++) / static_cast<double>(folds.size()));
    if (!has_both(rows, fold, left_out)) continue;
    const Parts parts = fit_parts(rows, fold, left_out, how, by);
    for (std::size_t i = 0; i < rows.labels.size(); ++i) {
      if (rows.folds[i] != fold) continue;
      out.rows[i] = by == OddsBy::kNetwork
                        ? rows.network[i]
                        : static_cast<float>(parts.classifier->score(row_of(rows.values, i)));
      out.tails[i] = static_cast<float>(rarity_of(parts.tails, row_of(rows.values, i)));
    }
    for (const Held& held : learning.held) {
      if (held.fold != fold) continue;
      listen(held, by, parts, alarm_rule, floors, log_odds, out.by_own[held.own],
             counts[held.log][held.own]);
    }
  }
  for (const auto& [log, by_own] : counts) {
    std::vector<FlaggedCount> by_beginning;
    for (const auto& [own, count] : by_own) {
      if (own > 0) by_beginning.push_back(count);
    }
    std::sort(by_beginning.begin(), by_beginning.end(),
              [](const auto& a, const auto& b) { return a.share() < b.share(); });
    if (!by_own.contains(0)) {
      out.by_log[log] = by_beginning.front();
      continue;
    }
    const FlaggedCount& by_others = by_own.at(0);
    const bool fits = !by_beginning.empty() && by_beginning.back().share() < by_others.share();
    out.by_log[log] = fits ? by_beginning.back() : by_others;
  }
  return out;
}

std::vector<std::size_t> attacked_logs(const CrossFit& fit, std::span<const data::StoredLog> logs) {
  constexpr double kFew = 0.02;    // benign logs have fewer, seen against one profile or another
  constexpr int64_t kEnough = 20;  // windows
  std::vector<std::size_t> out;
  for (const auto& [log, count] : fit.by_log) {
    const bool is_odd = count.flagged >= kEnough && count.share() > kFew;
    if (is_odd && !logs[log].is_labelled()) out.push_back(log);
  }
  if (2 * out.size() >= logs.size()) out.clear();
  return out;
}

std::vector<uint8_t> odd_benign(const LearningSet& rows, const CrossFit& fit, double log_odds) {
  std::vector<uint8_t> out(rows.labels.size(), 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = rows.labels[i] == 0 && fit.rows[i] > log_odds ? 1 : 0;
  }
  return out;
}

}  // namespace kdgat::detector
