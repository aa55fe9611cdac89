#include "engine/trees/ranked_trees.h"

#include <algorithm>
#include <array>

namespace kdgat::trees {

RankedTrees::RankedTrees(const FlatTrees& trees, int64_t columns, double base_score)
    : column_begin(static_cast<std::size_t>(columns) + 1), base(base_score) {
  rank_thresholds(trees);
  tree_begin.push_back(0);
  const std::span<const TreeNode> nodes(trees.nodes);
  for (std::size_t t = 0; t < trees.roots.size(); ++t) {
    const auto begin = static_cast<std::size_t>(trees.roots[t]);
    const std::size_t end =
        t + 1 < trees.roots.size() ? static_cast<std::size_t>(trees.roots[t + 1]) : nodes.size();
    add_tree(nodes.subspan(begin, end - begin), trees.roots[t]);
  }
}

void RankedTrees::rank_thresholds(const FlatTrees& trees) {
  std::vector<std::pair<int32_t, float>> all;  // column, threshold
  for (const TreeNode& node : trees.nodes) {
    if (!node.is_leaf()) all.emplace_back(node.column, node.number);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const auto& [column, threshold] : all) {
    thresholds.push_back(threshold);
    ++column_begin[static_cast<std::size_t>(column) + 1];
  }
  for (std::size_t c = 1; c < column_begin.size(); ++c) column_begin[c] += column_begin[c - 1];
}

void RankedTrees::add_tree(std::span<const TreeNode> nodes, int32_t root) {
  std::vector<uint16_t> codes;  // of each node: a split of the tree, or KDGAT_LEAF and a leaf
  std::vector<int64_t> depths(nodes.size(), 0);
  uint16_t split_count = 0, leaf_count = 0;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].is_leaf()) {
      codes.push_back(static_cast<uint16_t>(KDGAT_LEAF + leaf_count++));
      leaves.push_back(nodes[n].number);
      continue;
    }
    codes.push_back(split_count++);
    const auto left = static_cast<std::size_t>(nodes[n].left - root);  // behind its parent
    depths.at(left) = depths.at(left + 1) = depths[n] + 1;
  }
  depth_ += *std::max_element(depths.begin(), depths.end());
  for (const TreeNode& node : nodes) {
    if (node.is_leaf()) continue;
    const auto column = static_cast<std::size_t>(node.column);
    const auto begin = thresholds.begin() + column_begin[column],
               end = thresholds.begin() + column_begin[column + 1];
    const auto left = static_cast<std::size_t>(node.left - root);
    splits.push_back({static_cast<uint32_t>(std::lower_bound(begin, end, node.number) - begin),
                      codes[left], codes[left + 1],
                      static_cast<uint32_t>(2 * node.column) + node.missing_right});
  }
  tree_begin.push_back(static_cast<uint32_t>(splits.size()));
}

double RankedTrees::score(std::span<const float> row) const {
  constexpr std::size_t kFew = 128;
  const auto columns = static_cast<uint32_t>(row.size());
  const kdgat_trees view{thresholds.data(),
                         column_begin.data(),
                         splits.data(),
                         tree_begin.data(),
                         leaves.data(),
                         nullptr,
                         base,
                         columns,
                         static_cast<uint32_t>(trees())};
  std::array<uint32_t, 2 * kFew> few;
  if (columns <= kFew) return kdgat_trees_score(&view, row.data(), few.data());
  std::vector<uint32_t> many(2 * row.size());
  return kdgat_trees_score(&view, row.data(), many.data());
}

}  // namespace kdgat::trees
