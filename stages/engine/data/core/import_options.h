// Options of an import that several domains share. Each domain says which of them matter to it by
// taking their rows into its table.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/core/option_values.h"
#include "engine/graph/graph_store.h"

namespace kdgat::data {

struct SharedOptions {
  std::string format = "auto";
  bool strict = false;
  std::string split = "time";
  double val_fraction = 0.2;
  double test_fraction = 0.2;
  int64_t seed = 42;
  int64_t folds = 0;
  int64_t fold = 0;

  /// Its choices are those of all domains: see import_schema() in import.h.
  static auto format_row() {
    return field("format", &SharedOptions::format, "Form of the input; auto recognises it.");
  }
  static auto strict_row() {
    return field(
        "strict", &SharedOptions::strict,
        "What is malformed or not used is an error. Error frames, files of other kinds and "
        "what else sound data has are none.");
  }
  static auto test_fraction_row() {
    return field("test_fraction", &SharedOptions::test_fraction,
                 "Share kept for testing where the data has no test folders.")
        .range(0.0, 0.9);
  }
  static auto seed_row() {
    return field("seed", &SharedOptions::seed, "Seed of the split.")
        .alias("split_seed")
        .alias("random_seed");
  }
  static auto split_rows() {
    using O = SharedOptions;
    return std::tuple{
        field(
            "split", &O::split,
            "time: blocks of each file, no leak; random: seeded shuffle; group: whole files, "
            "vehicles (features=relative, of three or more) or neurons, what time means for graphs "
            "in space. Of texts random is a shuffle, time the "
            "same share of every class.")
            .choices({"time", "random", "group"}),
        field("val_fraction", &O::val_fraction, "Share of training windows kept for validation.")
            .range(0.0, 0.9),
        test_fraction_row(), seed_row()};
  }
  static auto fold_rows() {
    using O = SharedOptions;
    return std::tuple{
        field("folds", &O::folds, "split=group: so many folds; 0 = by test_fraction.")
            .range(0, 1000),
        field("fold", &O::fold, "split=group: the fold that is the test part, from 0.")
            .range(0, 999)};
  }

  /// Of a domain that has fold_rows().
  std::vector<Diagnostic> fold_problems() const {
    if (folds == 1) return {{"", "folds: one fold divides nothing", "0, or 2 and more"}};
    if (folds == 0 || fold < folds) return {};
    return {{"", "fold: " + std::to_string(fold) + " is not below folds, " + std::to_string(folds),
             ""}};
  }
};

/// Options that decide a split alone, where it stands beside the store.
struct SplitRows : SharedOptions {
  static auto table() { return std::tuple_cat(split_rows(), fold_rows()); }
};
inline constexpr std::array kSplitOptionNames = {"split", "val_fraction", "test_fraction",
                                                 "seed",  "folds",        "fold"};
inline graph::SplitOptions split_options(const nlohmann::json& values) {
  const auto o = own_options<SplitRows>(values);
  return {o.split, o.val_fraction, o.test_fraction, o.seed, o.folds, o.fold};
}

/// Of data whose labels stand in a column of a table.
struct LabelOptions {
  /// One sentence, as several kinds of data have the option.
  static constexpr const char* kLabelColumn =
      "Column of classes in a table of labels, of a log or of texts; empty: class, or what else "
      "such tables call it.";
  std::string label_column;

  /// What a column is called if none is named, as stores say it.
  static constexpr const char* kUsualLabel = "class";
  /// Whether a column is named that is not found by itself.
  bool names_label() const { return !label_column.empty() && label_column != kUsualLabel; }
  std::string label_name() const { return names_label() ? label_column : kUsualLabel; }

  static auto label_row() {
    return field("label_column", &LabelOptions::label_column, kLabelColumn);
  }
};

}  // namespace kdgat::data
