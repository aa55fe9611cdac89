#include "engine/train/validation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "engine/train/calibration.h"
#include "engine/train/data_set.h"
#include "engine/train/metrics/metrics.h"
#include "engine/train/probe.h"
#include "engine/train/scoring.h"

namespace kdgat::train {
namespace {

/// Whether each process takes a share of the graphs: with fewer graphs than processes all take all.
bool is_shared(const std::vector<int64_t>& ids, const RankGroup* ranks) {
  return ranks != nullptr && static_cast<int64_t>(ids.size()) >= ranks->world();
}

std::vector<int64_t> own_share(const std::vector<int64_t>& ids, const RankGroup* ranks) {
  if (!is_shared(ids, ranks)) return ids;
  const Share share = share_of(static_cast<int64_t>(ids.size()), ranks->rank(), ranks->world());
  return {ids.begin() + share.first, ids.begin() + share.end};
}

/// The scores of all `count` graphs from those of each process's share.
std::vector<float> joined(const std::vector<float>& own, std::size_t count, RankGroup& ranks) {
  const Share share = share_of(static_cast<int64_t>(count), ranks.rank(), ranks.world());
  std::vector<float> out(count, 0.0F);
  std::copy(own.begin(), own.end(), out.begin() + share.first);
  ranks.sum(at::from_blob(out.data(), {static_cast<int64_t>(count)}, at::kFloat));
  return out;
}

}  // namespace

nlohmann::json validate(Objective& objective, const Judge& judge, const graph::GraphSet& store,
                        const Parts& parts, int64_t graphs, uint64_t seed, RankGroup* ranks,
                        const std::function<void()>& check) {
  nlohmann::json out = nlohmann::json::object();
  if (!parts.val_loss.empty()) {
    const graph::StepTotals totals = size_of(store, parts.val_loss);
    std::map<std::string, torch::Tensor> sums;
    for_batches(
        store, own_share(parts.val_loss, ranks), objective.with_edge_attr(),
        [&](const graph::GraphBatch& batch, std::span<const int64_t>) {
          check();
          std::map<std::string, torch::Tensor> next = sums;
          const auto add = [&next](const std::string& name, const torch::Tensor& value) {
            torch::Tensor& sum = next[name];
            sum = sum.defined() ? sum + value : value.to(at::kDouble);
          };
          add("val_loss", objective.loss(batch, totals, {seed, 0}));
          for (const auto& [name, value] : objective.parts()) add("val_" + name, value);
          sums = std::move(next);
        },
        graphs);
    if (is_shared(parts.val_loss, ranks)) {
      for (const auto& [name, sum] : sums) ranks->sum(sum);
    }
    for (const auto& [name, sum] : sums) out[name] = sum.item<double>();
  }
  const auto scores_of = [&](const std::vector<int64_t>& ids) {
    const std::vector<float> own = score_all(
        store, own_share(ids, ranks), objective.with_edge_attr(),
        [&](const graph::GraphBatch& batch) { return objective.score(batch); },
        [&](int64_t) { check(); }, graphs);
    return is_shared(ids, ranks) ? joined(own, ids.size(), *ranks) : own;
  };
  if (!parts.val_score.empty() && judge) {
    const nlohmann::json judged = judge(parts.val_score, check);
    for (const auto& [name, value] : judged.items()) out["val_" + name] = value;
  } else if (!parts.val_score.empty()) {
    const std::vector<float> scores = scores_of(parts.val_score);
    const std::vector<int64_t> labels = labels_of(store, parts.val_score);
    const std::optional<double> fixed = objective.threshold();
    const double threshold = fixed ? *fixed : best_threshold(scores, labels).value;
    const nlohmann::json said = epoch_metrics(scores, labels, threshold);
    for (const auto& [name, value] : said.items()) out["val_" + name] = value;
    out["val_threshold"] = threshold;
  } else if (std::ssize(parts.val_benign) >= kLeastCalibration) {
    out["val_threshold"] = calibrate(scores_of(parts.val_benign), kFewFalse);
  }
  return out;
}

}  // namespace kdgat::train
