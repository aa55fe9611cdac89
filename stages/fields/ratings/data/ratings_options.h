// Options of imports of ratings, and of made-up ones.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "engine/data/core/import_options.h"
#include "engine/data/core/synth_size.h"
#include "kdgat/options.h"

namespace kdgat::ratings {

struct RatingsOptions {
  std::string user_column = "user";
  std::string item_column = "item";
  std::string rating_column = "rating";
  std::string time_column = "time";
  std::string rating_split = "permutation";

  static auto table() {
    using O = RatingsOptions;
    return std::tuple{
        field("user_column", &O::user_column, "Ratings in a CSV: the column of the user."),
        field("item_column", &O::item_column, "Ratings in a CSV: the column of the item."),
        field("rating_column", &O::rating_column, "Ratings in a CSV: the column of the rating."),
        field("time_column", &O::time_column,
              "Ratings in a CSV: the column of the time; may be missing."),
        field("rating_split", &O::rating_split,
              "Ratings: permutation tests on the last test_fraction of NumPy's "
              "RandomState(seed).permutation, as published; time on the newest ones.")
            .choices({"permutation", "time"})};
  }
};

/// All options that matter to ratings.
struct RatingsImportOptions : data::SharedOptions, RatingsOptions {
  static auto table() {
    return std::tuple_cat(std::tuple{format_row(), strict_row(), test_fraction_row(), seed_row()},
                          RatingsOptions::table());
  }
};

struct RatingsSynthOptions : data::SynthSize {
  int64_t items = 0;

  static auto table() {
    return std::tuple_cat(data::SynthSize::table(),
                          std::tuple{field("items", &RatingsSynthOptions::items,
                                           "Items that users rate; 0 = 16 for 9 users.")
                                         .range(0, 1 << 20)});
  }
};

}  // namespace kdgat::ratings
