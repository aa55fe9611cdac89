// Options of imports of ratings; a part of ImportOptions. Of the options that all share, ratings
// have format, strict, test_fraction and seed.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "kdgat/options.h"

namespace kdgat::graph {

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

}  // namespace kdgat::graph
