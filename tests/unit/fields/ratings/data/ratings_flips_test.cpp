// One flipped bit anywhere in a store of ratings: store_flips.h.
#include <catch2/catch.hpp>

#include "fields/ratings/data/ratings_store.h"
#include "support/graphs/store_flips.h"

namespace kdgat::ratings {
namespace {

void use_ratings(const std::filesystem::path& path) {
  const RatingStore store = RatingStore::open(path, graph::Check::kRanges);
  float sum = 0;
  for (const std::span<const int32_t>& part : {store.train(), store.test()}) {
    for (const int32_t rating : part) {
      const auto r = static_cast<std::size_t>(rating);
      sum += store.rating()[r];
      sum += static_cast<float>(
          store.user_names().at(static_cast<std::size_t>(store.user()[r])).size() +
          store.item_names().at(static_cast<std::size_t>(store.item()[r])).size());
    }
  }
  for (std::size_t n = 0; n + 1 < store.row_ptr().size(); ++n) {
    for (int32_t e = store.row_ptr()[n]; e < store.row_ptr()[n + 1]; ++e) {
      sum += static_cast<float>(
          store.row_ptr()[static_cast<std::size_t>(store.col()[static_cast<std::size_t>(e)])]);
    }
  }
  CHECK((sum == sum || sum != sum));
  store.verify();
}

}  // namespace

TEST_CASE("a flipped bit of a store of ratings is found, and never leads outside of the file",
          "[flips]") {
  graph::check_flips({test::synth_of("ratings", 12, 6), use_ratings});
}

}  // namespace kdgat::ratings
