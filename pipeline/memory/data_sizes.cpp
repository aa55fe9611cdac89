#include "pipeline/memory/data_sizes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kdgat {
namespace {

using nlohmann::json;

int64_t count(double value) { return static_cast<int64_t>(std::llround(value)); }

}  // namespace

json GraphSizes::facts() const {
  // How hcrl_sa spreads about its means, and what it divides into.
  constexpr double kAttacks = 0.138, kValidation = 0.2;
  const auto sizes = [&](double mean, double most) {
    const auto at_most = [&](double times) { return std::max<int64_t>(1, count(times * mean)); };
    return json{{"p50", at_most(1)},
                {"p95", at_most(most * 0.82)},
                {"p99", at_most(most * 0.9)},
                {"max", at_most(most)},
                {"sum", count(graphs * mean)}};
  };
  return {{"graphs", count(graphs)},
          {"attack", count(graphs * kAttacks)},
          {"benign", count(graphs) - count(graphs * kAttacks)},
          {"unlabelled", 0},
          {"num_ids", count(num_ids)},
          {"node_features", 11},
          {"edge_features", 11},
          {"nodes", sizes(nodes, 2.25)},
          {"edges", sizes(edges, 1.83)},
          {"parts",
           {{"train", count(graphs) - count(graphs * kValidation)},
            {"val", count(graphs * kValidation)}}}};
}

json RatingSizes::facts() const {
  const int64_t test = count(ratings / 5), train = count(ratings) - test;
  return {{"graphs", 1},
          {"unlabelled", 0},
          {"ratings",
           {{"users", count(users)},
            {"items", count(items)},
            {"ratings", count(ratings)},
            {"train", train},
            {"test", test},
            {"features", 24}}},
          {"parts", {{"train", train}, {"test", test}}}};
}

}  // namespace kdgat
