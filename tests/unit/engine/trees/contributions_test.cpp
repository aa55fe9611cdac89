// Shapley values against their definition: a sum over all sets of columns.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/trees/boosted_trees.h"
#include "support/graphs/random_table.h"

namespace kdgat::trees {
namespace {

using test::random_table;

/// What is expected of the trees if only the columns of a set are known.
double expected(const FlatTrees& trees, int32_t at, const float* row, unsigned known) {
  const auto n = static_cast<std::size_t>(at);
  const TreeNode& node = trees.nodes[n];
  if (node.is_leaf()) return node.number;
  if ((known >> static_cast<unsigned>(node.column) & 1U) != 0) {
    return expected(trees, node.child(row[node.column]), row, known);
  }
  const auto left = static_cast<std::size_t>(node.left);
  return (trees.cover[left] * expected(trees, node.left, row, known) +
          trees.cover[left + 1] * expected(trees, node.left + 1, row, known)) /
         trees.cover[n];
}

double expected(const FlatTrees& trees, const float* row, unsigned known) {
  double sum = 0;
  for (const int32_t root : trees.roots) sum += expected(trees, root, row, known);
  return sum;
}

double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

TEST_CASE("contributions are Shapley values and add up to the score", "[trees]") {
  constexpr int kColumns = 4;
  const test::TableOf table = random_table(
      500, kColumns, 4,
      [](const float* row) {
        return std::isnan(row[0]) ? 1.0 : 4.0 * row[0] * row[1] + 2 * row[2] + row[0];
      },
      0.1);
  test::TableOf known = table;
  for (float& value : known.values) value = std::isnan(value) ? 0 : value;
  BoostedTreesOptions options;
  options.trees = 6;
  options.max_leaves = 12;  // deeper than there are columns: some come twice on a way
  options.min_rows = 4;
  for (const test::TableOf& rows : {table, known}) {
    const BoostedTrees model = BoostedTrees::fit(rows.view(), options);
    const FlatTrees& trees = model.forest();
    for (std::size_t r = 0; r < 20; ++r) {
      const std::vector<double> found =
          model.contributions(rows.view().row(static_cast<int64_t>(r)));
      for (int c = 0; c < kColumns; ++c) {
        double wanted = 0;
        const unsigned bit = 1U << static_cast<unsigned>(c);
        for (unsigned set = 0; set < 1U << kColumns; ++set) {
          if ((set & bit) != 0) continue;
          const int size = std::popcount(set);
          wanted += factorial(size) * factorial(kColumns - size - 1) / factorial(kColumns) *
                    (expected(trees, rows.row(r), set | bit) - expected(trees, rows.row(r), set));
        }
        REQUIRE(found[static_cast<std::size_t>(c)] == Approx(wanted).margin(1e-9));
      }
      const double sum = std::accumulate(found.begin(), found.end(), model.bias());
      CHECK(sum == Approx(model.score(rows.view().row(static_cast<int64_t>(r)))).margin(1e-9));
    }
  }
}

TEST_CASE("the bias is the mean score, and a column that nothing asks for adds nothing",
          "[trees]") {
  test::TableOf table = random_table(800, 3, 9, [](const float* row) { return 5.0 * row[0]; });
  for (std::size_t r = 0; r < 800; ++r) table.values[3 * r + 2] = 1;
  const BoostedTrees model = BoostedTrees::fit(table.view(), {});
  const std::vector<double> scores = model.scores(table.view());
  CHECK(model.bias() == Approx(std::accumulate(scores.begin(), scores.end(), 0.0) / 800));
  CHECK(model.contributions(table.view().row(0))[2] == 0);
}

}  // namespace
}  // namespace kdgat::trees
