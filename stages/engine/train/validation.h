// What is said of the validation data after an epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/train/objective.h"
#include "engine/train/rank_group.h"
#include "engine/train/sampler.h"

namespace kdgat::train {

/// Share of benign graphs above a threshold that no attack was there to choose by.
inline constexpr double kFewFalse = 0.001;

/// Graphs by what they are used for.
struct Parts {
  std::vector<int64_t> train;
  std::vector<int64_t> val_loss;   ///< for the validation loss
  std::vector<int64_t> val_score;  ///< for AUC and F1; labels 0 and 1, or what a Judge takes
  /// Where there is no val_score: for a threshold that kFewFalse of benign graphs exceed.
  std::vector<int64_t> val_benign;
  Sampler* sampler = nullptr;  ///< chooses among `train` for each epoch; null = all

  /// Of which a loss is taken: `train` and `val_loss`.
  std::vector<int64_t> with_loss() const {
    std::vector<int64_t> out = train;
    out.insert(out.end(), val_loss.begin(), val_loss.end());
    return out;
  }
};

/// Judges graphs in the place of scores and thresholds: numbers by name ("accuracy", "rmse").
/// `check` is to be called now and then.
using Judge = std::function<nlohmann::json(const std::vector<int64_t>& ids,
                                           const std::function<void()>& check)>;

/// {"val_loss", "val_..." of each part of the loss, and what `judge` says or those of
/// epoch_metrics() and "val_threshold"}, as far as there are graphs for it (of val_benign, at least
/// kLeastCalibration, "val_threshold" alone); in batches of `graphs`. The
/// module is in eval mode. The processes of `ranks` share the graphs.
nlohmann::json validate(Objective& objective, const Judge& judge, const graph::GraphSet& store,
                        const Parts& parts, int64_t graphs, uint64_t seed, RankGroup* ranks,
                        const std::function<void()>& check);

}  // namespace kdgat::train
