// Ratings for stages, made up and imported once.
#pragma once

#include <cstdint>

#include "fields/ratings/data/ratings_store.h"
#include "support/graphs/synth_of.h"
#include "support/runs/stage_data.h"

namespace kdgat::test {

/// Ratings of four classes of users and items.
struct RatingsFixture : StageData {
  explicit RatingsFixture(int64_t users = 80, int64_t ratings = 24) {
    graph::SynthOptions synth = synth_of("ratings", users, ratings);
    synth.classes = 4;
    import_synthetic(*this, synth);
  }
  json facts() const override { return store().facts(); }
  ratings::RatingStore store() const { return ratings::RatingStore::open(store_file()); }
};

}  // namespace kdgat::test
