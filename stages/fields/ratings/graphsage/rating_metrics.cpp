#include "fields/ratings/graphsage/rating_metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/arrays/index.h"

namespace kdgat::graphsage {
namespace {

using nlohmann::json;

using arrays::at;

/// Sum of the discounts of the first `count` ranks.
double ideal_gain(int64_t count) {
  double sum = 0;
  for (int64_t r = 1; r <= count; ++r) sum += 1 / std::log2(static_cast<double>(r) + 1);
  return sum;
}

/// Means over users of the numbers of their lists.
struct RankingSums {
  double precision = 0, recall = 0, ndcg = 0, hit = 0;
  int64_t users = 0, with_relevant = 0;

  /// `is_hit`: whether each item of a list is relevant, best first.
  void add(const std::vector<bool>& is_hit, int64_t relevant, int64_t precision_of, int64_t k) {
    int64_t hits = 0;
    double gain = 0;
    for (std::size_t r = 0; r < is_hit.size(); ++r) {
      if (!is_hit[r]) continue;
      ++hits;
      gain += 1 / std::log2(static_cast<double>(r) + 2);
    }
    ++users;
    precision += static_cast<double>(hits) / static_cast<double>(precision_of);
    hit += hits > 0 ? 1 : 0;
    if (relevant == 0) return;
    ++with_relevant;
    recall += static_cast<double>(hits) / static_cast<double>(relevant);
    ndcg += gain / ideal_gain(std::min(k, relevant));
  }

  json means(const std::string& prefix) const {
    const auto mean = [](double sum, int64_t n) {
      return n > 0 ? sum / static_cast<double>(n) : 0.0;
    };
    return {{prefix + "precision", mean(precision, users)},
            {prefix + "recall", mean(recall, with_relevant)},
            {prefix + "ndcg", mean(ndcg, with_relevant)},
            {prefix + "hit_rate", mean(hit, users)}};
  }
};

/// Numbers of the pairs of each user, in their order.
std::vector<std::vector<int64_t>> by_user(const Pairs& pairs, int64_t users) {
  std::vector<std::vector<int64_t>> out(at(users));
  for (int64_t p = 0; p < pairs.size(); ++p) out[at(pairs.user[at(p)])].push_back(p);
  return out;
}

}  // namespace

json rating_errors(std::span<const float> truth, std::span<const float> predicted, double low,
                   double high) {
  if (truth.empty()) return json::object();
  double square = 0, absolute = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error =
        std::clamp(static_cast<double>(predicted[i]), low, high) - static_cast<double>(truth[i]);
    square += error * error;
    absolute += std::fabs(error);
  }
  const auto n = static_cast<double>(truth.size());
  return {{"rmse", std::sqrt(square / n)}, {"mae", absolute / n}};
}

json ranking_of_pairs(const Pairs& pairs, std::span<const float> rank, const RankingRule& rule) {
  if (pairs.size() == 0) return json::object();
  const int64_t users = 1 + *std::max_element(pairs.user.begin(), pairs.user.end());
  RankingSums sums;
  for (std::vector<int64_t>& own : by_user(pairs, users)) {
    if (own.empty()) continue;
    const auto is_relevant = [&](int64_t p) {
      return static_cast<double>(pairs.rating[at(p)]) >= rule.relevant;
    };
    const int64_t relevant = std::count_if(own.begin(), own.end(), is_relevant);
    const int64_t list = std::min(rule.k, static_cast<int64_t>(own.size()));
    std::stable_sort(own.begin(), own.end(),
                     [&](int64_t a, int64_t b) { return rank[at(a)] > rank[at(b)]; });
    std::vector<bool> is_hit;
    for (int64_t r = 0; r < list; ++r) is_hit.push_back(is_relevant(own[at(r)]));
    sums.add(is_hit, relevant, list, rule.k);
  }
  return sums.means("");
}

json cold_metrics(const RatingData& data, const Predictions& test, int64_t cold_user,
                  int64_t cold_item) {
  json out = json::object();
  const std::span<const int32_t> rows = data.store.row_ptr();
  const auto of = [&](const std::vector<int32_t>& nodes, int64_t bound, const std::string& name) {
    std::vector<float> truth, predicted;
    std::set<int32_t> cold;
    for (std::size_t p = 0; p < nodes.size(); ++p) {
      const auto v = at(nodes[p]);
      const int64_t degree = rows[v + 1] - rows[v];
      if (degree == 0 || degree >= bound) continue;
      cold.insert(nodes[p]);
      truth.push_back(data.test.rating[p]);
      predicted.push_back(test.rating[p]);
    }
    out["cold_" + name + "s"] = cold.size();
    out["cold_" + name + "_predictions"] = truth.size();
    const json errors = rating_errors(truth, predicted, static_cast<double>(data.low),
                                      static_cast<double>(data.high));
    const std::string prefix = "cold_" + name + "_";
    for (const auto& [key, value] : errors.items()) {
      out[std::string(prefix).append(key)] = value;
    }
  };
  of(data.test.user, cold_user, "user");
  of(data.test.item, cold_item, "item");
  return out;
}

std::vector<int32_t> best_items(const ratings::RatingStore& store, int64_t user,
                                const float* scores, int64_t k) {
  std::vector<int32_t> items;
  const int32_t *next = store.col().data() + store.row_ptr()[at(user)],
                *last = store.col().data() + store.row_ptr()[at(user) + 1];
  for (int64_t i = 0; i < store.items(); ++i) {
    if (next < last && *next == store.users() + i) {
      ++next;
    } else {
      items.push_back(static_cast<int32_t>(i));
    }
  }
  const auto most = std::min<std::size_t>(at(k), items.size());
  std::partial_sort(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(most), items.end(),
                    [scores](int32_t a, int32_t b) {
                      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
                    });
  items.resize(most);
  return items;
}

json full_ranking(const RatingData& data, const Pairs& pairs, const RankingRule& rule,
                  const std::function<ScoreRows(int64_t first, int64_t count)>& scores) {
  const int64_t users = data.store.users(), items = data.store.items();
  const std::vector<std::vector<int64_t>> own = by_user(pairs, users);
  RankingSums sums;
  std::vector<bool> is_shown(at(items), false);
  for (int64_t first = 0; first < users;) {
    const ScoreRows block = scores(first, users - first);
    for (int64_t user = first; user < first + block.users; ++user) {
      std::set<int32_t> relevant;
      for (const int64_t p : own[at(user)]) {
        if (static_cast<double>(pairs.rating[at(p)]) >= rule.relevant) {
          relevant.insert(pairs.item[at(p)] - static_cast<int32_t>(users));
        }
      }
      const std::vector<int32_t> list =
          best_items(data.store, user, block.rows + (user - first) * items, rule.k);
      std::vector<bool> is_hit;
      for (const int32_t item : list) {
        is_shown[at(item)] = true;
        is_hit.push_back(relevant.contains(item));
      }
      if (relevant.empty()) continue;
      sums.add(is_hit, static_cast<int64_t>(relevant.size()), rule.k, rule.k);
    }
    first += block.users;
  }
  json out = sums.means("full_");
  out["full_coverage"] = static_cast<double>(std::count(is_shown.begin(), is_shown.end(), true)) /
                         static_cast<double>(items);
  return out;
}

}  // namespace kdgat::graphsage
