// The ratings a recommender trains, validates and is tested on, by node; negatives; what of the
// graph messages may use. Owns copies of the pairs and borrows the store's mapping.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fields/ratings/data/ratings_store.h"
#include "fields/ratings/model/sage.h"

namespace kdgat::graphsage {

/// Rated pairs by node: an item is users + its number.
struct Pairs {
  std::vector<int32_t> user, item;
  std::vector<float> rating;
  std::vector<int32_t> number;  ///< of the rating in the store

  int64_t size() const { return static_cast<int64_t>(user.size()); }
  void add(const ratings::RatingStore& store, int32_t number);
};

struct RatingData {
  ratings::RatingStore store;
  Pairs fit, val, test;
  double train_mean = 0;    ///< of fit
  float low = 0, high = 0;  ///< of fit and val
};

/// The train ratings are divided by the seed: round(val_ratio x train), at least one, validate.
/// Throws Error(kData) if that leaves none to fit.
RatingData make_rating_data(ratings::RatingStore store, double val_ratio, uint64_t seed);

/// The graph of all train ratings, features as a tensor that looks into the mapping.
ratings::SageGraph whole_graph(const ratings::RatingStore& store);

/// An item that `user` has not rated in train for each of `users`, by (seed, stream); after a
/// hundred tries any. Nodes.
void draw_negatives(const ratings::RatingStore& store, std::span<const int32_t> users,
                    uint64_t seed, uint64_t stream, std::vector<int32_t>& to);

/// The train graph without some pairs. Owns its lists of neighbours.
class ReducedGraph {
 public:
  explicit ReducedGraph(const ratings::RatingStore& store);
  /// Leaves `pairs` out for good.
  void drop(const Pairs& pairs);
  /// Leaves a batch out until the next call.
  void leave_out(std::span<const int32_t> user, std::span<const int32_t> item);
  ratings::SageGraph graph() const;
  int64_t bytes() const;

 private:
  void filter(int32_t node, std::span<const int32_t> without);  ///< ascending
  void leave_out_of(std::span<const int32_t> node, std::span<const int32_t> other);

  ratings::RatingStore store_;
  std::vector<int32_t> base_col_, base_end_;  // after drop()
  std::vector<int32_t> col_, end_;
  std::vector<int32_t> changed_;
  std::vector<std::pair<int32_t, int32_t>> sorted_;
};

}  // namespace kdgat::graphsage
