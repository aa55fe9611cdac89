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

using trees::FlatTrees;
using trees::TreeNode;

constexpr float kMostOfByte = 127;

/// Values are finite, so that nothing parts a threshold of infinity from the largest number.
float finite_threshold(const TreeNode& node) {
  return std::min(node.number, std::numeric_limits<float>::max());
}

/// Splits and leaves, tree by tree.
class TreeCode {
 public:
  explicit TreeCode(const trees::BoostedTrees& model)
      : forest_(model.forest()), thresholds_(static_cast<std::size_t>(model.columns())) {
    for (const TreeNode& node : forest_.nodes) {
      if (!node.is_leaf()) column_of(node).push_back(finite_threshold(node));
    }
    for (std::vector<float>& column : thresholds_) {
      std::sort(column.begin(), column.end());
      column.erase(std::unique(column.begin(), column.end()), column.end());
    }
    std::size_t most = 0;  // nodes of a tree
    for (std::size_t t = 0; t < forest_.roots.size(); ++t) most = std::max(most, end(t) - begin(t));
    is_small_ = most < 2 * kSmallLeaf;
    for (std::size_t t = 0; t < forest_.roots.size(); ++t) add(t);
  }

  TreeTables write(const trees::BoostedTrees& model, std::span<const float> units,
                   NumberTables& tables) const {
    TreeTables out{"", depth_};
    std::size_t most = 1;
    std::vector<std::string> all;
    std::vector<std::size_t> begins{0};
    for (const std::vector<float>& column : thresholds_) {
      for (const float one : column) all.push_back(c_float(one));
      begins.push_back(all.size());
      most = std::max(most, column.size());
    }
    const CType place = c_type_below(most), child = is_small_ ? kCUint8 : kCUint16;
    tables.add(kCFloat, "kdgat_thresholds", all, "0.0f");
    tables.add_numbers(c_type_below(all.size() + 1), "kdgat_column_begin", begins);
    const int64_t align = std::max(place.bytes, child.bytes);
    const int64_t bytes = (place.bytes + 2 * child.bytes + 1 + align - 1) / align * align;
    tables.add({"kdgat_split", bytes}, "kdgat_splits", splits_, "{0, 0, 0, 0}");
    tables.add_numbers(c_type_below(splits_.size() + 1), "kdgat_tree_begin", begins_);
    std::vector<std::string> leaves;
    for (std::size_t t = 0; t < forest_.roots.size(); ++t) {
      for (std::size_t i = begins_[t] + t; i <= begins_[t + 1] + t; ++i) {
        leaves.push_back(units.empty() ? c_float(leaves_[i])
                                       : std::to_string(std::lround(leaves_[i] / units[t])));
      }
    }
    tables.add(units.empty() ? kCFloat : kCInt8, "kdgat_leaves", leaves);
    if (!units.empty()) {
      std::vector<std::string> texts;
      for (const float one : units) texts.push_back(c_float(one));
      tables.add(kCFloat, "kdgat_leaf_units", texts);
    }
    out.macros = c_define("KDGAT_PLACE", place.name) + c_define("KDGAT_CHILD", child.name) +
                 c_define("KDGAT_LEAF", static_cast<int64_t>(leaf())) +
                 c_define("KDGAT_TREES", std::ssize(forest_.roots)) +
                 c_define("KDGAT_BASE", c_double(model.base())) +
                 c_define("KDGAT_LEAF_OF(leaf, tree)",
                          units.empty() ? "(double)(leaf)"
                                        : "(double)((float)(leaf) * kdgat_leaf_units[tree])");
    return out;
  }

 private:
  static constexpr std::size_t kSmallLeaf = 1U << 7, kLeaf = 1U << 15;

  std::size_t leaf() const { return is_small_ ? kSmallLeaf : kLeaf; }
  std::size_t begin(std::size_t tree) const {
    return static_cast<std::size_t>(forest_.roots[tree]);
  }
  std::size_t end(std::size_t tree) const {
    return tree + 1 < forest_.roots.size() ? begin(tree + 1) : forest_.nodes.size();
  }
  std::vector<float>& column_of(const TreeNode& node) {
    return thresholds_[static_cast<std::size_t>(node.column)];
  }

  void add(std::size_t tree) {
    const std::size_t root = begin(tree);
    std::vector<std::size_t>
        codes;  // of each node: a split of the tree, or leaf() and one of its leaves
    std::vector<int64_t> depths(end(tree) - root, 0);
    std::size_t split_count = 0, leaf_count = 0;
    for (std::size_t n = root; n < end(tree); ++n) {
      const TreeNode& node = forest_.nodes[n];
      codes.push_back(node.is_leaf() ? leaf() + leaf_count++ : split_count++);
      if (node.is_leaf()) {
        leaves_.push_back(node.number);
        continue;
      }
      const std::size_t left = static_cast<std::size_t>(node.left) - root;  // behind its parent
      depths.at(left) = depths.at(left + 1) = depths[n - root] + 1;
    }
    depth_ += *std::max_element(depths.begin(), depths.end());
    for (std::size_t n = root; n < end(tree); ++n) {
      const TreeNode& node = forest_.nodes[n];
      if (node.is_leaf()) continue;
      const std::vector<float>& column = column_of(node);
      const auto place = std::lower_bound(column.begin(), column.end(), finite_threshold(node));
      const std::size_t left = static_cast<std::size_t>(node.left) - root;
      splits_.push_back(
          c_braced({std::to_string(place - column.begin()), std::to_string(codes.at(left)),
                    std::to_string(codes.at(left + 1)), std::to_string(node.column)}));
    }
    begins_.push_back(splits_.size());
  }

  const FlatTrees& forest_;
  std::vector<std::vector<float>> thresholds_;  // by column, ascending
  bool is_small_ = true;
  std::vector<std::string> splits_;
  std::vector<float> leaves_;
  std::vector<std::size_t> begins_{0};  // splits ahead of each tree
  int64_t depth_ = 0;
};

}  // namespace

TreeTables add_trees(const trees::BoostedTrees& model, std::span<const float> units,
                     NumberTables& tables) {
  return TreeCode(model).write(model, units, tables);
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
