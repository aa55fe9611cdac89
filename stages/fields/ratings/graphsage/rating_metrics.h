// How well ratings are predicted and items ranked. Pure numbers: knows no model.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "fields/ratings/graphsage/rating_data.h"

namespace kdgat::graphsage {

struct RankingRule {
  int64_t k = 10;
  double relevant = 4;  ///< items rated so or higher
};

/// What is predicted of the pairs: a rating, and what items are ranked by.
struct Predictions {
  std::vector<float> rating, rank;
};

/// {"rmse","mae"} of ratings clipped to [low, high].
nlohmann::json rating_errors(std::span<const float> truth, std::span<const float> predicted,
                             double low, double high);

/// {"precision","recall","ndcg","hit_rate"}: each user's own pairs ranked, equal ones in their
/// order, users averaged. Precision = hits / min(k, pairs); recall = hits / relevant and NDCG (gain
/// 1, discount log2(rank + 1)) of the users with a relevant item; hit rate of all users.
nlohmann::json ranking_of_pairs(const Pairs& pairs, std::span<const float> rank,
                                const RankingRule& rule);

/// {"cold_users","cold_user_predictions","cold_user_rmse","cold_user_mae", and the same of items}:
/// of pairs whose user or item has fewer ratings in train than the bound, but has some.
nlohmann::json cold_metrics(const RatingData& data, const Predictions& test, int64_t cold_user,
                            int64_t cold_item);

/// {"full_precision","full_recall","full_ndcg","full_hit_rate","full_coverage": share of all items
/// in somebody's list}: for each user with a relevant item among `pairs` all items that the user
/// has not rated in train are ranked. Precision = hits / k. `scores(first, count)` gives rows of
/// the items' scores for users [first, first + count), as many as it likes of those asked for.
struct ScoreRows {
  const float* rows = nullptr;
  int64_t users = 0;
};
nlohmann::json full_ranking(const RatingData& data, const Pairs& pairs, const RankingRule& rule,
                            const std::function<ScoreRows(int64_t first, int64_t count)>& scores);

/// The `k` items that `user` has not rated in train with the highest of scores [items]; of equal
/// ones the first.
std::vector<int32_t> best_items(const ratings::RatingStore& store, int64_t user,
                                const float* scores, int64_t k);

}  // namespace kdgat::graphsage
