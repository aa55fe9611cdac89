// Data there would be, for a plan of memory without data: a few sizes that a user may name, as the
// facts that a store of such data says of itself.
#pragma once

#include <nlohmann/json.hpp>

namespace kdgat {

/// Of windows of a bus; the defaults are those of hcrl_sa.
struct GraphSizes {
  double graphs = 9364, nodes = 28.9, edges = 49.2, num_ids = 2049;

  /// See GraphStore::facts.
  nlohmann::json facts() const;
};

/// Of ratings; the numbers of users and items are the published defaults.
struct RatingSizes {
  double users = 1000, items = 1000, ratings = 100'000;

  /// See RatingStore::facts: a fifth is for testing, 24 features as of MovieLens 100K.
  nlohmann::json facts() const;
};

}  // namespace kdgat
