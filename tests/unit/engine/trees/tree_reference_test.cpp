// One tree against a plain reference that tries every cut on lists of rows, without histograms,
// subtraction and whole numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/trees/bins.h"
#include "engine/trees/boosted_trees.h"
#include "support/graphs/random_table.h"

namespace kdgat::trees {
namespace {

using test::random_table;
using Rows = std::vector<std::size_t>;

struct PlainSplit {
  double gain = 0;
  std::size_t column = 0;
  float threshold = 0;
  bool missing_right = false;
  Rows left, right;
};

struct PlainLeaf {
  std::size_t node = 0;
  Rows rows;
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  std::optional<PlainSplit> split;
};

struct PlainNode {
  std::optional<PlainSplit> split;
  std::size_t left = 0;
  double value = 0;
};

/// Grows the first tree that boosting would, with the formulas as they stand in the header.
class PlainTree {
 public:
  PlainTree(const test::TableOf& table, const BoostedTreesOptions& options)
      : table_(table), options_(options) {
    double weights = 0, positive = 0;
    for (std::size_t r = 0; r < table.labels.size(); ++r) {
      weights += weight(r);
      positive += weight(r) * static_cast<double>(table.labels[r]);
    }
    const double p = positive / weights;
    for (std::size_t r = 0; r < table.labels.size(); ++r) {
      g_.push_back(weight(r) * (p - static_cast<double>(table.labels[r])));
      h_.push_back(weight(r) * p * (1 - p));
    }
    PlainLeaf root;
    for (std::size_t r = 0; r < table.labels.size(); ++r) root.rows.push_back(r);
    find(root);
    std::vector<PlainLeaf> leaves{root};
    nodes.resize(1);
    while (static_cast<int64_t>(leaves.size()) < options.max_leaves) {
      auto best = leaves.end();
      for (auto leaf = leaves.begin(); leaf != leaves.end(); ++leaf) {
        if (!leaf->split) continue;
        if (best == leaves.end() || leaf->split->gain > best->split->gain) best = leaf;
      }
      if (best == leaves.end()) break;
      const PlainLeaf parent = *best;
      nodes[parent.node].split = parent.split;
      nodes[parent.node].left = nodes.size();
      PlainLeaf left = parent, right = parent;
      left.rows = parent.split->left;
      right.rows = parent.split->right;
      left.node = nodes.size();
      right.node = nodes.size() + 1;
      const int sign = std::isinf(parent.split->threshold) ? 0 : sign_of(parent.split->column);
      if (sign != 0) {
        const double between = (value(left.rows, parent) + value(right.rows, parent)) / 2;
        (sign > 0 ? left.high : left.low) = between;
        (sign > 0 ? right.low : right.high) = between;
      }
      nodes.resize(nodes.size() + 2);
      find(left);
      find(right);
      *best = left;
      leaves.push_back(right);
    }
    for (const PlainLeaf& leaf : leaves) nodes[leaf.node].value = value(leaf.rows, leaf);
  }

  std::vector<PlainNode> nodes;

 private:
  double weight(std::size_t r) const { return table_.weights.empty() ? 1 : table_.weights[r]; }
  int sign_of(std::size_t column) const {
    return options_.monotone.empty() ? 0 : options_.monotone[column];
  }
  double sum(const std::vector<double>& of, const Rows& rows) const {
    double out = 0;
    for (const std::size_t r : rows) out += of[r];
    return out;
  }
  double value(const Rows& rows, const PlainLeaf& bounds) const {
    return std::clamp(-sum(g_, rows) / (sum(h_, rows) + options_.l2), bounds.low, bounds.high);
  }
  double merit(const Rows& rows, const PlainLeaf& bounds) const {
    const double w = value(rows, bounds);
    return -(sum(g_, rows) * w + (sum(h_, rows) + options_.l2) * w * w / 2);
  }

  void find(PlainLeaf& leaf) const {
    leaf.split.reset();
    for (std::size_t c = 0; c < static_cast<std::size_t>(table_.columns); ++c) {
      std::vector<float> column;
      for (std::size_t r = 0; r < table_.labels.size(); ++r) column.push_back(table_.row(r)[c]);
      const std::vector<float> cuts = quantile_cuts(column, table_.weights, options_.bins);
      Rows missing, present;
      for (const std::size_t r : leaf.rows)
        (std::isnan(column[r]) ? missing : present).push_back(r);
      std::set<std::size_t> sizes;  // a cut between the same rows as one before is no other
      for (const float cut : cuts) {
        Rows low, high;
        for (const std::size_t r : present) (column[r] <= cut ? low : high).push_back(r);
        if (low.empty() || high.empty() || !sizes.insert(low.size()).second) continue;
        if (missing.empty()) {
          consider(leaf, {0, c, cut, high.size() > low.size(), low, high});
          continue;
        }
        Rows with = high;
        with.insert(with.end(), missing.begin(), missing.end());
        consider(leaf, {0, c, cut, true, low, with});
        with = low;
        with.insert(with.end(), missing.begin(), missing.end());
        consider(leaf, {0, c, cut, false, with, high});
      }
      if (!missing.empty() && !present.empty()) {
        consider(leaf, {0, c, std::numeric_limits<float>::infinity(), true, present, missing});
      }
    }
  }
  void consider(PlainLeaf& leaf, PlainSplit split) const {
    for (const Rows* side : {&split.left, &split.right}) {
      if (static_cast<int64_t>(side->size()) < options_.min_rows) return;
      if (sum(h_, *side) < options_.min_hessian) return;
    }
    const int sign = std::isinf(split.threshold) ? 0 : sign_of(split.column);
    if (sign * (value(split.right, leaf) - value(split.left, leaf)) < 0) return;
    split.gain = merit(split.left, leaf) + merit(split.right, leaf) - merit(leaf.rows, leaf);
    if (split.gain <= 1e-12) return;
    if (!leaf.split || split.gain > leaf.split->gain) leaf.split = split;
  }

  const test::TableOf& table_;
  const BoostedTreesOptions& options_;
  std::vector<double> g_, h_;
};

void check_same(const PlainTree& plain, std::size_t at, const FlatTrees& trees, int32_t node) {
  const PlainNode& wanted = plain.nodes[at];
  const TreeNode& found = trees.nodes[static_cast<std::size_t>(node)];
  REQUIRE(found.is_leaf() == !wanted.split.has_value());
  if (found.is_leaf()) {
    CHECK(found.number == Approx(wanted.value).epsilon(1e-5).margin(1e-7));
    return;
  }
  REQUIRE(found.column == static_cast<int32_t>(wanted.split->column));
  REQUIRE(found.number == wanted.split->threshold);
  CHECK((found.missing_right == 1) == wanted.split->missing_right);
  check_same(plain, wanted.left, trees, found.left);
  check_same(plain, wanted.left + 1, trees, found.left + 1);
}

void check_tree(const test::TableOf& table, BoostedTreesOptions options) {
  options.trees = 1;
  options.learning_rate = 1;
  const PlainTree plain(table, options);
  const BoostedTrees model = BoostedTrees::fit(table.view(), options);
  REQUIRE(model.trees() == 1);
  REQUIRE(model.forest().nodes.size() == plain.nodes.size());
  check_same(plain, 0, model.forest(), 0);
}

double some_odds(const float* row) {
  const auto known = [row](int c) {
    return std::isnan(row[c]) ? 0.7 : static_cast<double>(row[c]);
  };
  return 3 * known(0) * known(1) + 2 * std::sin(4 * known(2)) - known(3);
}

/// So that no two splits gain the same.
void give_weights(test::TableOf& table, uint64_t seed) {
  arrays::Random random(seed);
  for (std::size_t r = 0; r < table.labels.size(); ++r) {
    table.weights.push_back(static_cast<float>(0.1 + random.uniform()));
  }
}

TEST_CASE("a tree is the one that trying every cut finds", "[trees]") {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    INFO("seed " << seed);
    test::TableOf table = random_table(300, 4, seed, some_odds, seed % 2 == 0 ? 0.2 : 0);
    give_weights(table, seed);
    BoostedTreesOptions options;
    options.max_leaves = seed < 3 ? 2 : 12;
    options.min_rows = 5;
    options.bins = seed == 4 ? 255 : 20;
    check_tree(table, options);
    options.l2 = 0;
    options.min_hessian = 4;
    check_tree(table, options);
  }
}

TEST_CASE("a tree with monotone columns is the one that trying every cut finds", "[trees]") {
  for (const uint64_t seed : {5, 6, 7}) {
    INFO("seed " << seed);
    test::TableOf table = random_table(300, 4, seed, some_odds, seed == 6 ? 0.2 : 0);
    give_weights(table, seed);
    BoostedTreesOptions options;
    options.max_leaves = 12;
    options.min_rows = 3;
    options.bins = 30;
    options.monotone = {1, 0, -1, -1};
    check_tree(table, options);
  }
}

}  // namespace
}  // namespace kdgat::trees
