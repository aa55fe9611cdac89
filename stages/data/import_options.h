// Options of an import that several kinds of data share. No LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "graph/graph_store.h"
#include "kdgat/options.h"

namespace kdgat::graph {

/// What every kind of data has. Not every option matters to each: see import_identity in import.h.
struct SharedOptions {
  std::string format = "auto";
  bool strict = false;
  std::string split = "time";
  double val_fraction = 0.2;
  double test_fraction = 0.2;
  int64_t seed = 42;
  int64_t folds = 0;
  int64_t fold = 0;

  /// All rows but that of `format`, whose choices are those of all kinds.
  static auto table() {
    using O = SharedOptions;
    return std::tuple{
        field("strict", &O::strict, "A malformed line is an error, not counted and skipped."),
        field(
            "split", &O::split,
            "time: blocks of each file, no leak; random: seeded shuffle; group: whole files or "
            "neurons, what time means for graphs in space. Of texts random is a shuffle, time the "
            "same share of every class.")
            .choices({"time", "random", "group"}),
        field("val_fraction", &O::val_fraction, "Share of training windows kept for validation.")
            .range(0.0, 0.9),
        field("test_fraction", &O::test_fraction,
              "Share kept for testing where the data has no test folders.")
            .range(0.0, 0.9),
        field("seed", &O::seed, "Seed of the split.").alias("split_seed").alias("random_seed"),
        field("folds", &O::folds, "split=group: so many folds; 0 = by test_fraction.")
            .range(0, 1000),
        field("fold", &O::fold, "split=group: the fold that is the test part, from 0.")
            .range(0, 999)};
  }

  SplitOptions split_options() const {
    return {split, val_fraction, test_fraction, seed, folds, fold};
  }
};

/// Of graphs in space and of texts.
struct LabelOptions {
  std::string label_column = "class";
};

}  // namespace kdgat::graph
