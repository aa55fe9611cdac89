#include "engine/trees/isolation_forest.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/arrays/random.h"
#include "kdgat/error.h"
#include "support/graphs/random_table.h"

namespace kdgat::trees {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// A cloud in the middle: the sum of a few even numbers for each value.
std::vector<float> cloud(int64_t rows, int64_t columns, uint64_t seed) {
  arrays::Random random(seed);
  std::vector<float> out;
  for (int64_t i = 0; i < rows * columns; ++i) {
    double sum = 0;
    for (int k = 0; k < 6; ++k) sum += random.uniform() - 0.5;
    out.push_back(static_cast<float>(sum));
  }
  return out;
}

/// h of a row in a tree that is grown only along its way, as the paper writes it down.
double plain_length(std::vector<const float*> rows, const float* row, int64_t columns, int depth,
                    int most, arrays::Random& random) {
  std::vector<int64_t> varying;
  const auto range = [&](int64_t c) {
    return std::minmax_element(rows.begin(), rows.end(),
                               [c](const float* a, const float* b) { return a[c] < b[c]; });
  };
  for (int64_t c = 0; c < columns; ++c) {
    const auto [low, high] = range(c);
    if ((*low)[c] < (*high)[c]) varying.push_back(c);
  }
  if (rows.size() < 2 || depth == most || varying.empty()) {
    const auto n = static_cast<double>(rows.size());
    double harmonic = 0;
    for (int i = 1; i < static_cast<int>(rows.size()); ++i) harmonic += 1.0 / i;
    return depth + (n < 2 ? 0 : 2 * harmonic - 2 * (n - 1) / n);
  }
  const int64_t c = varying[random.below(varying.size())];
  const auto [low, high] = range(c);
  const double cut = (*low)[c] + random.uniform() * ((*high)[c] - (*low)[c]);
  std::erase_if(rows, [&](const float* r) { return (r[c] <= cut) != (row[c] <= cut); });
  return plain_length(std::move(rows), row, columns, depth + 1, most, random);
}

TEST_CASE("the mean path length is that of a binary search tree", "[trees]") {
  CHECK(mean_path_length(0) == 0);
  CHECK(mean_path_length(1) == 0);
  CHECK(mean_path_length(2) == Approx(1).epsilon(1e-12));
  CHECK(mean_path_length(3) == Approx(2 * 1.5 - 4.0 / 3).epsilon(1e-12));
  CHECK(mean_path_length(256) == Approx(10.2486).epsilon(1e-4));
  // From the sum to the series nothing jumps: c(n + 1) - c(n) = 2 / n - 2 / (n (n + 1)).
  CHECK(mean_path_length(1001) - mean_path_length(1000) ==
        Approx(2.0 / 1000 - 2.0 / (1000.0 * 1001)).epsilon(1e-6));
}

TEST_CASE("an isolation forest scores outliers above all others", "[trees]") {
  std::vector<float> values = cloud(2000, 3, 1);
  values.insert(values.end(), {9, 9, 9, -9, 9, 9, 9, -9, -9});
  const IsolationForest model = IsolationForest::fit({values, 3, {}, {}}, {});
  CHECK(model.trees() == 100);
  const std::vector<double> scores = model.scores({values, 3, {}, {}}, 2);
  std::vector<double> sorted(scores.begin(), scores.begin() + 2000);
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted[1000] < 0.5);
  for (std::size_t r = 2000; r < 2003; ++r) CHECK(scores[r] > sorted[1990]);
  CHECK(model.score(std::vector<float>{0, 0, 0}) < sorted[1000]);
  CHECK(model.score(std::vector<float>{kMissing, 0, 0}) < 0.6);
  CHECK(scores[5] == model.score(std::span(values).subspan(15, 3)));
}

TEST_CASE("the rows of a tree are drawn from all rows", "[trees]") {
  std::vector<float> values = cloud(2000, 2, 2);
  for (std::size_t i = 2000; i < values.size(); ++i)
    values[i] += 20;  // the second half of the rows
  const IsolationForest model = IsolationForest::fit({values, 2, {}, {}}, {});
  const double first = model.score(std::vector<float>{0, 0});
  CHECK(first < 0.5);
  CHECK(model.score(std::vector<float>{20, 20}) == Approx(first).margin(0.03));
}

TEST_CASE("a score is 2 to the minus of cuts made and cuts left out", "[trees]") {
  const std::vector<float> values = cloud(500, 2, 3);
  const IsolationForest model = IsolationForest::fit({values, 2, {}, {}}, {20, 64, 7});
  const FlatTrees& trees = model.forest();
  for (std::size_t r = 0; r < 50; ++r) {
    double length = 0;
    for (const int32_t root : trees.roots) {
      auto at = static_cast<std::size_t>(root);
      int cuts = 0;
      for (; !trees.nodes[at].is_leaf(); ++cuts) {
        const TreeNode& node = trees.nodes[at];
        at = static_cast<std::size_t>(
            values[2 * r + static_cast<std::size_t>(node.column)] <= node.number ? node.left
                                                                                 : node.left + 1);
      }
      CHECK(cuts <= 6);
      length += cuts + mean_path_length(static_cast<int64_t>(trees.cover[at]));
    }
    CHECK(model.score(std::span(values).subspan(2 * r, 2)) ==
          Approx(std::exp2(-length / 20 / mean_path_length(64))).epsilon(1e-5));
  }
}

TEST_CASE("an isolation forest scores as a plain one of other draws does", "[trees]") {
  std::vector<float> values = cloud(64, 2, 4);
  values.insert(values.end(), {2.5F, 2.5F, -3, 0});
  std::vector<const float*> rows;
  for (std::size_t r = 0; r < 66; ++r) rows.push_back(values.data() + 2 * r);
  // All rows in each tree, so that the cuts alone are random.
  const IsolationForest model = IsolationForest::fit({values, 2, {}, {}}, {2000, 66, 1});
  arrays::Random random(99);
  for (const std::size_t r : {0, 1, 2, 64, 65}) {
    double length = 0;
    for (int t = 0; t < 400; ++t) length += plain_length(rows, rows[r], 2, 0, 7, random);
    const double wanted = std::exp2(-length / 400 / mean_path_length(66));
    CHECK(model.score({rows[r], 2}) == Approx(wanted).margin(0.015));
  }
}

TEST_CASE("a forest depends on the seed alone", "[trees]") {
  std::vector<float> values = cloud(400, 3, 5);
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = kMissing;
  const Table table{values, 3, {}, {}};
  const IsolationForest model = IsolationForest::fit(table, {});
  CHECK(IsolationForest::fit(table, {}).scores(table) == model.scores(table));
  CHECK(IsolationForest::fit(table, {100, 256, 1}).scores(table) != model.scores(table));
}

TEST_CASE("rows that do not differ are as good as each other", "[trees]") {
  const std::vector<float> same(60, 1.0F), none(60, kMissing);
  for (const std::vector<float>* values : {&same, &none}) {
    const IsolationForest model = IsolationForest::fit({*values, 2, {}, {}}, {});
    CHECK(model.score(std::vector<float>{5, kMissing}) == Approx(0.5).epsilon(1e-6));
  }
  std::vector<float> wide(60, std::numeric_limits<float>::infinity());
  wide[0] = -wide[0];
  CHECK(IsolationForest::fit({wide, 1, {}, {}}, {}).score(std::vector<float>{wide[0]}) > 0.8);
}

TEST_CASE("an isolation forest refuses what it cannot be made of", "[trees]") {
  const std::vector<float> values = cloud(10, 2, 1);
  const Table table{values, 2, {}, {}};
  CHECK_THROWS_WITH(IsolationForest::fit(table, {0, 256, 0}), Catch::Contains("trees is"));
  CHECK_THROWS_WITH(IsolationForest::fit(table, {100, 1, 0}), Catch::Contains("sample is"));
  CHECK_THROWS_WITH(IsolationForest::fit({std::span(values).first(2), 2, {}, {}}, {}),
                    Catch::Contains("one row"));
  CHECK_THROWS_WITH(IsolationForest::fit({std::span(values).first(3), 2, {}, {}}, {}),
                    Catch::Contains("whole rows"));
  const IsolationForest model = IsolationForest::fit(table, {});
  CHECK_THROWS_WITH(model.score(values), Catch::Contains("20 columns"));
}

}  // namespace
}  // namespace kdgat::trees
