// Models of all but one fold, and what they say of that one: by it thresholds are chosen, and
// benign windows found that no model should follow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "detector/learning.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/decision/detector/alarms.h"
#include "engine/decision/detector/floors.h"
#include "engine/decision/detector/rank_filter.h"
#include "engine/decision/detector/tails.h"
#include "engine/trees/boosted_trees.h"

namespace kdgat::detector {

struct Parts {
  std::optional<trees::BoostedTrees> classifier;  ///< none where a network gives the log-odds
  decision::Tails tails;
};

/// Benign windows as models saw them that did not learn from their fold, both parts, as alarms
/// count them (see RankFilter): as if nothing was odd in it one without evidence, and one in which
/// an id goes on missing.
struct Listened {
  std::vector<decision::Stretch> classifier, tails;
};

/// Benign windows of a log, and those of them that a model of other folds takes for attacks.
struct FlaggedCount {
  int64_t windows = 0, flagged = 0;
  double share() const {
    return windows == 0 ? 0 : static_cast<double>(flagged) / static_cast<double>(windows);
  }
};

struct CrossFit {
  std::vector<float> rows;   ///< classifier's log-odds of each row of the learning set, alone
  std::vector<float> tails;  ///< Tails::score() of the same
  std::map<int32_t, Listened> by_own;  ///< by Held::own
  /// By Held::log: seen against the profile of other drives, or against that of its own beginning
  /// against which the most are odd, where these are fewer. A drive in another mode is unlike other
  /// drives and like its own beginning, however long that is; an attack is unlike both. Without
  /// other drives, against that of its own beginning against which the fewest are odd.
  std::map<std::size_t, FlaggedCount> by_log;
};

/// Who gives windows their log-odds: trees of the other folds, or the network of the learning set
/// those that it was not trained on; the others have the lowest, and are in no stretch of these.
enum class OddsBy { kTrees, kNetwork };

/// Learns from all rows but those of `fold` (-1: none) and those that are `left_out`, one flag a
/// row.
Parts fit_parts(const LearningSet& rows, int32_t fold, const std::vector<uint8_t>& left_out,
                const trees::BoostedTreesOptions& how, OddsBy by = OddsBy::kTrees);

/// A fold whose rest holds no attack, or nothing benign, is scored by nobody: its rows have the
/// lowest log-odds, tails of 0, and it is in no stretch. `log_odds`: what is above is taken for an
/// attack. `told` is called before each fit, with
/// the share of them that is done; it may throw.
CrossFit cross_fit(const Learning& learning, const std::vector<uint8_t>& left_out,
                   const decision::KOfN& alarm_rule, const decision::Floors& floors,
                   const trees::BoostedTreesOptions& how, double log_odds,
                   const std::function<void(double share)>& told, OddsBy by = OddsBy::kTrees);

/// Logs without labels of which a model of the others takes more than a few per cent for attacks;
/// none where it is half of the logs or more: then nobody knows which ones are usual.
std::vector<std::size_t> attacked_logs(const CrossFit& fit, std::span<const data::StoredLog> logs);

/// Benign rows that models of other folds take for attacks, one flag a row. A detector that learned
/// to keep silent on them would on attacks that look the same; left out they may become false
/// alarms, which the thresholds that are chosen next take into account. Wrong labels are among
/// them.
std::vector<uint8_t> odd_benign(const LearningSet& rows, const CrossFit& fit, double log_odds);

}  // namespace kdgat::detector
