// Binary decision trees in flat arrays, for both learners of this room; their walk and their JSON.
// How trees are grown, and what a value of a leaf means, is not known here.
//
// The nodes of a tree stand in breadth-first order. So the children of its k-th split are its nodes
// 2k + 1 and 2k + 2: they stand behind their parent, and no file has to name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace kdgat::trees {

inline constexpr int64_t kMostLeaves = 1024;  ///< of a tree, so that its depth is bounded too
inline constexpr int64_t kMostTrees = 100000;
inline constexpr int64_t kMostColumns = 1 << 20;

struct TreeNode {
  int32_t column = -1;         ///< that a split compares; -1: a leaf
  float number = 0;            ///< threshold of a split, value of a leaf
  int32_t left = 0;            ///< index of the left child; the right one follows it
  uint32_t missing_right = 0;  ///< 1: a missing value goes right

  bool is_leaf() const { return column < 0; }
  /// The child for a value: left if it is at most the threshold. A threshold of infinity parts the
  /// values, all on the left, from what is missing.
  int32_t child(float value) const {
    const auto above = static_cast<uint32_t>(value > number);
    const auto missing = static_cast<uint32_t>(value != value);
    return left + static_cast<int32_t>(above | (missing & missing_right));
  }
};

struct FlatTrees {
  std::vector<TreeNode> nodes;  ///< of all trees, one after another
  std::vector<double> cover;    ///< of each node: the weight of the rows it was grown on
  std::vector<int32_t> roots;

  int64_t trees() const { return static_cast<int64_t>(roots.size()); }
  int32_t leaf(int32_t root, const float* row) const {
    const TreeNode* node = &nodes[static_cast<std::size_t>(root)];
    while (!node->is_leaf()) {
      node = &nodes[static_cast<std::size_t>(node->child(row[node->column]))];
    }
    return static_cast<int32_t>(node - nodes.data());
  }
  /// Puts a tree behind the others. Node 0 is its root, `left` counts from there, the order of the
  /// nodes is free; `cover` is that of leaves, and is added up for the rest.
  void add(std::span<const TreeNode> tree, std::span<const double> cover_of_leaves);
  /// Keeps the first so many trees.
  void truncate(int64_t count);
};

/// [{"column": [of each node, -1 for a leaf], "threshold": [of each split], "missing_right": [of
/// each split, 0 or 1], "value": [of each leaf], "cover": [of each leaf]}, ...]. The largest finite
/// float stands for a threshold of infinity.
nlohmann::json dump_trees(const FlatTrees& trees);

/// Throws Error(kData), with `name` before tree, node and reason, unless each tree is one of at
/// most kMostLeaves leaves: all nodes reachable, columns in [0, columns), thresholds and values
/// finite floats, covers positive.
FlatTrees load_trees(const nlohmann::json& in, int64_t columns, const std::string& name);

/// `in` has this format and version 1, and exactly these further keys; else throws Error(kData).
void check_header(const nlohmann::json& in, const std::string& format,
                  const std::vector<std::string>& keys);
/// The integer at a key, in [low, high]; else throws Error(kData).
int64_t load_count(const nlohmann::json& in, const std::string& format, const char* key,
                   int64_t low, int64_t high);

}  // namespace kdgat::trees
