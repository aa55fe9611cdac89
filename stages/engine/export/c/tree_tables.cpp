#include "engine/export/c/tree_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/export/c/runtime_texts.h"

namespace kdgat::exporting {
namespace {

constexpr float kMostOfByte = 127;

/// The numbers of trees of fewer nodes than that take a byte.
constexpr uint32_t kSmallLeaf = 1U << 7;

}  // namespace

TreeTables add_trees(const trees::BoostedTrees& model, std::span<const float> units,
                     NumberTables& tables) {
  const trees::RankedTrees& ranked = model.ranked();
  std::size_t most_thresholds = 1, most_splits = 0;
  for (std::size_t c = 1; c < ranked.column_begin.size(); ++c) {
    most_thresholds =
        std::max<std::size_t>(most_thresholds, ranked.column_begin[c] - ranked.column_begin[c - 1]);
  }
  for (std::size_t t = 1; t < ranked.tree_begin.size(); ++t) {
    most_splits =
        std::max<std::size_t>(most_splits, ranked.tree_begin[t] - ranked.tree_begin[t - 1]);
  }
  const uint32_t leaf = most_splits < kSmallLeaf ? kSmallLeaf : KDGAT_LEAF;
  const CType place = c_type_below(most_thresholds), child = c_type_below(2 * std::size_t{leaf}),
              rank = c_type_below(2 * static_cast<std::size_t>(model.columns())),
              column_begin = c_type_below(ranked.thresholds.size() + 1),
              tree_begin = c_type_below(ranked.splits.size() + 1);
  const auto code = [&](uint16_t of) {
    return std::to_string(of < KDGAT_LEAF ? of : of - KDGAT_LEAF + leaf);
  };
  std::vector<std::string> thresholds, splits, leaves, scales;
  // Values are finite, so that nothing parts a threshold of infinity from the largest number.
  for (const float one : ranked.thresholds) {
    thresholds.push_back(c_float(std::min(one, std::numeric_limits<float>::max())));
  }
  for (const kdgat_split& one : ranked.splits) {
    splits.push_back(c_braced({std::to_string(one.threshold), code(one.left), code(one.right),
                               std::to_string(one.rank)}));
  }
  for (std::size_t t = 0; t + 1 < ranked.tree_begin.size(); ++t) {
    for (std::size_t i = ranked.tree_begin[t] + t; i <= ranked.tree_begin[t + 1] + t; ++i) {
      leaves.push_back(units.empty() ? c_float(ranked.leaves[i])
                                     : std::to_string(std::lround(ranked.leaves[i] / units[t])));
    }
  }
  for (const float one : units) scales.push_back(c_float(one));
  const int64_t align = std::max(place.bytes, child.bytes);
  const int64_t bytes = (place.bytes + 2 * child.bytes + rank.bytes + align - 1) / align * align;
  tables.add(kCFloat, "kdgat_thresholds", thresholds, "0.0f");
  tables.add_numbers(column_begin, "kdgat_column_begin", ranked.column_begin);
  tables.add({"kdgat_split", bytes}, "kdgat_splits", splits, "{0, 0, 0, 0}");
  tables.add_numbers(tree_begin, "kdgat_tree_begin", ranked.tree_begin);
  tables.add(units.empty() ? kCFloat : kCInt8, "kdgat_leaves", leaves);
  if (!scales.empty()) tables.add(kCFloat, "kdgat_leaf_units", scales);
  tables.add_struct(
      "kdgat_trees", "kdgat_these_trees",
      {"kdgat_thresholds", "kdgat_column_begin", "kdgat_splits", "kdgat_tree_begin", "kdgat_leaves",
       scales.empty() ? "0" : "kdgat_leaf_units", c_double(model.base()),
       std::to_string(model.columns()), std::to_string(ranked.trees())});
  return {c_define("KDGAT_PLACE", place.name) + c_define("KDGAT_CHILD", child.name) +
              c_define("KDGAT_RANK", rank.name) +
              c_define("KDGAT_COLUMN_BEGIN", column_begin.name) +
              c_define("KDGAT_TREE_BEGIN", tree_begin.name) +
              c_define("KDGAT_LEAF", static_cast<int64_t>(leaf)) +
              c_define("KDGAT_LEAF_VALUE", units.empty() ? kCFloat.name : kCInt8.name) +
              c_define("KDGAT_LEAF_OF(leaf, unit)",
                       units.empty() ? "(double)(leaf)" : "(double)((float)(leaf) * (unit))"),
          ranked.depth()};
}

RoundedTrees rounded_trees(const trees::BoostedTrees& model) {
  constexpr float kLeast = std::numeric_limits<float>::min();  // of a tree whose leaves are all 0
  std::vector<float> units;
  nlohmann::json out = model.to_json();
  for (nlohmann::json& tree : out.at("trees")) {
    float most = 0;
    for (const nlohmann::json& value : tree.at("value")) {
      most = std::max(most, std::abs(value.get<float>()));
    }
    const float unit = std::max(most / kMostOfByte, kLeast);
    for (nlohmann::json& value : tree.at("value")) {
      value = std::round(value.get<float>() / unit) * unit;
    }
    units.push_back(unit);
  }
  return {trees::BoostedTrees::from_json(out), std::move(units)};
}

}  // namespace kdgat::exporting
