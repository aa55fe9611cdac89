#include "engine/trees/boosted_trees.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/trees/bins.h"
#include "kdgat/error.h"
#include "support/graphs/random_table.h"

namespace kdgat::trees {
namespace {

using test::random_table;
using test::TableOf;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

BoostedTreesOptions small(int64_t trees) {
  BoostedTreesOptions options;
  options.trees = trees;
  options.max_leaves = 8;
  return options;
}

double accuracy(const BoostedTrees& model, const TableOf& table) {
  const std::vector<double> scores = model.scores(table.view());
  double right = 0;
  for (std::size_t r = 0; r < scores.size(); ++r)
    right += (scores[r] > 0) == (table.labels[r] == 1);
  return right / static_cast<double>(scores.size());
}

TEST_CASE("boosted trees learn a linear rule and XOR", "[trees]") {
  const auto linear = [](const float* row) { return 40.0 * (row[0] - 2 * row[1] + row[2]); };
  const auto exclusive = [](const float* row) { return row[0] * row[1] > 0 ? -20.0 : 20.0; };
  CHECK(accuracy(BoostedTrees::fit(random_table(2000, 4, 1, linear).view(), small(100)),
                 random_table(2000, 4, 2, linear)) > 0.93);
  CHECK(accuracy(BoostedTrees::fit(random_table(2000, 4, 1, exclusive).view(), small(100)),
                 random_table(2000, 4, 2, exclusive)) > 0.97);
}

TEST_CASE("without a tree that gains anything the score is the log-odds of the rows", "[trees]") {
  TableOf table;
  table.columns = 2;
  table.values.assign(40, 7.0F);
  table.labels.assign(20, 0);
  std::fill_n(table.labels.begin(), 5, 1);
  const BoostedTrees model = BoostedTrees::fit(table.view(), small(10));
  CHECK(model.trees() == 0);
  CHECK(model.score(std::vector<float>{1, kNaN}) == Approx(std::log(5.0 / 15)).epsilon(1e-12));
}

TEST_CASE("a class without rows leaves scores finite", "[trees]") {
  TableOf table = random_table(100, 2, 1, [](const float*) { return 0.0; });
  for (const int64_t label : {0, 1}) {
    table.labels.assign(100, label);
    BoostedTreesOptions options = small(20);
    options.l2 = 0;
    options.min_hessian = 1e-12;
    const BoostedTrees model = BoostedTrees::fit(table.view(), options);
    CHECK(std::abs(model.score(std::vector<float>{0, 0})) == Approx(std::log(1e6)).epsilon(1e-3));
  }
}

TEST_CASE("a weight counts as so many rows, and 0 as none", "[trees]") {
  TableOf weighted = random_table(1500, 3, 3, [](const float* r) { return 4.0 * r[0] * r[1]; });
  TableOf repeated;
  repeated.columns = 3;
  for (std::size_t r = 0; r < weighted.labels.size(); ++r) {
    weighted.weights.push_back(static_cast<float>(r % 4));
    for (std::size_t copy = 0; copy < r % 4; ++copy) {
      repeated.values.insert(repeated.values.end(), weighted.row(r), weighted.row(r) + 3);
      repeated.labels.push_back(weighted.labels[r]);
    }
  }
  BoostedTreesOptions options = small(30);
  options.bins = 40;  // fewer than there are values
  options.min_rows = 1;
  options.min_hessian = 5;
  const BoostedTrees a = BoostedTrees::fit(weighted.view(), options);
  const BoostedTrees b = BoostedTrees::fit(repeated.view(), options);
  REQUIRE(a.trees() == b.trees());
  const std::vector<double> of_a = a.scores(weighted.view()), of_b = b.scores(weighted.view());
  for (std::size_t r = 0; r < of_a.size(); ++r) {
    REQUIRE(of_a[r] == Approx(of_b[r]).epsilon(1e-5).margin(1e-5));
  }
}

TEST_CASE("rows of weight 0 are as if they were not there", "[trees]") {
  TableOf weighted = random_table(600, 3, 3, [](const float* r) { return 4.0 * r[0] * r[1]; });
  TableOf kept;
  kept.columns = 3;
  for (std::size_t r = 0; r < 600; ++r) {
    weighted.weights.push_back(static_cast<float>(r % 2));
    if (r % 2 == 0) continue;
    kept.values.insert(kept.values.end(), weighted.row(r), weighted.row(r) + 3);
    kept.labels.push_back(weighted.labels[r]);
  }
  const BoostedTreesOptions options = small(10);  // where leaves have a least number of rows
  CHECK(BoostedTrees::fit(weighted.view(), options).to_json() ==
        BoostedTrees::fit(kept.view(), options).to_json());
}

TEST_CASE("what is missing goes to the side where it belongs", "[trees]") {
  // Missing in column 0 means label 1; in column 1 it means what large values mean.
  const auto odds = [](const float* row) {
    if (std::isnan(row[0])) return 20.0;
    return std::isnan(row[1]) || row[1] > 0.5F ? 20.0 : -20.0;
  };
  const BoostedTrees model =
      BoostedTrees::fit(random_table(3000, 2, 5, odds, 0.2).view(), small(60));
  const auto score = [&model](float a, float b) { return model.score(std::vector<float>{a, b}); };
  CHECK(score(kNaN, -0.5F) > 2);
  CHECK(score(0, kNaN) > 2);
  CHECK(score(0, 0.9F) > 2);
  CHECK(score(0, -0.5F) < -2);
  CHECK(score(kInfinity, -kInfinity) < -2);
  CHECK(BoostedTrees::from_json(model.to_json()).score(std::vector<float>{kInfinity, -1}) ==
        score(kInfinity, -1));
  CHECK(score(-kInfinity, kInfinity) > 2);
  CHECK(score(kNaN, kNaN) > 2);
  CHECK(accuracy(model, random_table(1000, 2, 6, odds, 0.2)) > 0.98);
}

TEST_CASE("infinite values are learned as beyond all others", "[trees]") {
  TableOf table;
  table.columns = 1;
  for (int i = 0; i < 200; ++i) {
    const float value = i % 4 == 0 ? kInfinity : i % 4 == 1 ? -kInfinity : static_cast<float>(i);
    table.values.push_back(value);
    table.labels.push_back(std::isinf(value) ? 1 : 0);
  }
  const BoostedTrees model = BoostedTrees::fit(table.view(), small(60));
  CHECK(accuracy(model, table) == 1);
  CHECK(BoostedTrees::from_json(model.to_json()).to_json() == model.to_json());
}

/// Rows of a grid on which a column's value grows and the score goes the other way.
int64_t turned_round(const BoostedTrees& model, const TableOf& rows, std::size_t column, int sign) {
  int64_t found = 0;
  for (std::size_t r = 0; r < rows.labels.size(); ++r) {
    std::vector<float> row(rows.row(r), rows.row(r) + rows.columns);
    row[column] = -kInfinity;
    double before = model.score(row);
    for (int step = -60; step <= 60; ++step) {
      row[column] = step == 60 ? kInfinity : static_cast<float>(step) / 50;
      const double score = model.score(row);
      found += sign * (score - before) < 0;
      before = score;
    }
  }
  return found;
}

TEST_CASE("a monotone column never pushes the other way", "[trees]") {
  for (const uint64_t seed : {1, 2, 3}) {
    INFO("seed " << seed);
    // A wave, so that the rule itself is not monotone; and labels that are half noise.
    const auto odds = [](const float* row) {
      const auto known = [row](int c) { return std::isnan(row[c]) ? 1.0 : double{row[c]}; };
      return known(0) + 2 * std::sin(9 * known(0)) * known(1) - known(2) + std::cos(8 * known(2));
    };
    const TableOf table = random_table(1500, 4, seed, odds, 0.1);
    const TableOf probes = random_table(60, 4, seed + 100, odds, 0.1);
    BoostedTreesOptions options = small(60);
    options.min_rows = 2;
    options.max_leaves = 24;
    options.row_fraction = seed == 3 ? 0.6 : 1;
    const BoostedTrees free = BoostedTrees::fit(table.view(), options);
    CHECK(turned_round(free, probes, 0, 1) > 0);
    CHECK(turned_round(free, probes, 2, -1) > 0);
    options.monotone = {1, 0, -1, 0};
    const BoostedTrees bound = BoostedTrees::fit(table.view(), options);
    CHECK(turned_round(bound, probes, 0, 1) == 0);
    CHECK(turned_round(bound, probes, 2, -1) == 0);
    CHECK(turned_round(bound, probes, 1, 1) > 0);
    CHECK(accuracy(bound, table) > 0.65);
  }
}

TEST_CASE("a model depends on the seed and not on threads", "[trees]") {
  const TableOf table = random_table(
      12000, 40, 8, [](const float* r) { return 5.0 * r[0] * r[1] + r[2]; }, 0.05);
  BoostedTreesOptions options = small(4);
  const nlohmann::json one = BoostedTrees::fit(table.view(), options).to_json();
  options.threads = 3;
  options.seed = 5;  // nothing is drawn
  CHECK(BoostedTrees::fit(table.view(), options).to_json() == one);
  options.row_fraction = 0.5;
  options.column_fraction = 0.3;
  const nlohmann::json drawn = BoostedTrees::fit(table.view(), options).to_json();
  options.threads = 1;
  CHECK(BoostedTrees::fit(table.view(), options).to_json() == drawn);
  options.seed = 6;
  CHECK(BoostedTrees::fit(table.view(), options).to_json() != drawn);
  // 6000 rows a tree.
  for (const auto& tree : drawn.at("trees")) {
    double rows = 0;
    for (const double cover : tree.at("cover")) rows += cover;
    CHECK(rows == 6000);
  }
}

/// Mean loss of a model on rows.
double loss_of(const BoostedTrees& model, const TableOf& table) {
  const std::vector<double> scores = model.scores(table.view());
  double sum = 0;
  for (std::size_t r = 0; r < scores.size(); ++r) {
    sum += std::log1p(std::exp(table.labels[r] == 1 ? -scores[r] : scores[r]));
  }
  return sum / static_cast<double>(scores.size());
}

TEST_CASE("with rows and columns drawn for each tree the same is learned", "[trees]") {
  const auto odds = [](const float* row) { return 3.0 * row[0] + 2.0 * row[1]; };
  const TableOf table = random_table(3000, 4, 1, odds), other = random_table(3000, 4, 2, odds);
  BoostedTreesOptions options = small(100);
  const double all = loss_of(BoostedTrees::fit(table.view(), options), other);
  options.row_fraction = 0.3;
  options.column_fraction = 0.5;
  const double drawn = loss_of(BoostedTrees::fit(table.view(), options), other);
  CHECK(drawn == Approx(all).epsilon(0.03));
}

TEST_CASE("a split must gain more than is asked", "[trees]") {
  // One cut, of known gain: -G and G are 50 and H is 25 on its sides, 1/2 (2 * 50^2 / (25 + 1)).
  TableOf table;
  table.columns = 1;
  for (int i = 0; i < 200; ++i) {
    table.values.push_back(static_cast<float>(i / 100));
    table.labels.push_back(i / 100);
  }
  BoostedTreesOptions options = small(1);
  const double gain = 50.0 * 50.0 / (25 + 1);
  options.min_gain = gain - 0.01;
  CHECK(BoostedTrees::fit(table.view(), options).trees() == 1);
  options.min_gain = gain + 0.01;
  CHECK(BoostedTrees::fit(table.view(), options).trees() == 0);
}

TEST_CASE("many rows are scored as one by one, on any threads", "[trees]") {
  const TableOf table = random_table(1000, 3, 8, [](const float* r) { return 5.0 * r[0] * r[1]; });
  const BoostedTrees model = BoostedTrees::fit(table.view(), small(10));
  const std::vector<double> scores = model.scores(table.view(), 3);
  for (int64_t r = 0; r < 1000; ++r) {
    REQUIRE(scores[static_cast<std::size_t>(r)] == model.score(table.view().row(r)));
  }
}

TEST_CASE("training stops where the validation rows' loss is lowest", "[trees]") {
  const auto odds = [](const float* row) { return 2.0 * row[0]; };
  const TableOf table = random_table(600, 5, 1, odds), other = random_table(600, 5, 2, odds);
  const Table validation = other.view();
  BoostedTreesOptions options = small(300);
  options.patience = 10;
  const BoostedTrees stopped = BoostedTrees::fit(table.view(), options, &validation);
  REQUIRE(stopped.trees() > 1);
  REQUIRE(stopped.trees() < 200);
  const auto loss = [&](int64_t trees) {
    options.trees = trees;
    return loss_of(BoostedTrees::fit(table.view(), options), other);
  };
  const double lowest = loss(stopped.trees());
  for (int64_t behind = 1; behind <= options.patience; ++behind) {
    CHECK(loss(stopped.trees() + behind) >= lowest);
  }
  CHECK(loss(stopped.trees() - 1) > lowest);
  options.trees = stopped.trees();
  CHECK(BoostedTrees::fit(table.view(), options).to_json() == stopped.to_json());
}

TEST_CASE("few values have a bin each, many share bins of the same weight", "[trees]") {
  CHECK(quantile_cuts(std::vector<float>{3, 1, kNaN, 1, 2}, {}, 3) ==
        std::vector<float>{1.5F, 2.5F});
  CHECK(quantile_cuts(std::vector<float>{kNaN, kNaN}, {}, 4).empty());
  CHECK(quantile_cuts(std::vector<float>{5, 5, 5}, {}, 4).empty());
  // Next to each other there is no float between.
  const float one = 1, next = std::nextafter(one, 2.0F);
  CHECK(quantile_cuts(std::vector<float>{one, next}, {}, 4) == std::vector<float>{one});
  const float before = std::nextafter(one, 0.0F);  // half-way to 1 is rounded to 1
  CHECK(quantile_cuts(std::vector<float>{before, one}, {}, 4) == std::vector<float>{before});
  std::vector<float> values, weights;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i));
  const std::vector<float> cuts = quantile_cuts(values, {}, 10);
  REQUIRE(cuts.size() == 9);
  for (std::size_t i = 0; i < 9; ++i) CHECK(cuts[i] == static_cast<float>(100 * (i + 1)) - 0.5F);
  // A value with half of the weight has a bin of its own.
  weights.assign(1000, 1.0F);
  weights[500] = 999;
  const std::vector<float> heavy = quantile_cuts(values, weights, 10);
  CHECK(heavy.size() == 9);
  CHECK(std::find(heavy.begin(), heavy.end(), 500.5F) != heavy.end());
}

TEST_CASE("tables and options that make no sense are refused by name", "[trees]") {
  const TableOf good = random_table(50, 2, 1, [](const float*) { return 0.0; });
  const auto refused = [](const TableOf& table, const BoostedTreesOptions& options) {
    try {
      BoostedTrees::fit(table.view(), options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto table = [&](auto change) {
    TableOf bad = good;
    change(bad);
    return refused(bad, {});
  };
  CHECK(refused(good, {}).empty());
  CHECK(table([](TableOf& t) { t.values.pop_back(); }).find("whole rows") != std::string::npos);
  CHECK(table([](TableOf& t) { t.values.clear(); }).find("without rows") != std::string::npos);
  CHECK(table([](TableOf& t) { t.columns = 0; }).find("without columns") != std::string::npos);
  CHECK(table([](TableOf& t) { t.labels.clear(); }).find("0 labels") != std::string::npos);
  CHECK(table([](TableOf& t) { t.labels[7] = 2; }).find("label 2 of row 7") != std::string::npos);
  CHECK(table([](TableOf& t) { t.weights = {1}; }).find("1 weights") != std::string::npos);
  CHECK(table([](TableOf& t) { t.weights.assign(50, 0.F); }).find("every") != std::string::npos);
  for (const float weight : {-1.0F, kNaN, kInfinity}) {
    CHECK(table([&](TableOf& t) {
            t.weights.assign(50, 1.0F);
            t.weights[3] = weight;
          }).find("weight of row 3") != std::string::npos);
  }
  const auto option = [&](auto change) {
    BoostedTreesOptions bad;
    change(bad);
    return refused(good, bad);
  };
  using O = BoostedTreesOptions;
  CHECK(option([](O& o) { o.trees = 0; }).find("trees is") != std::string::npos);
  CHECK(option([](O& o) { o.learning_rate = kNaN; }).find("learning_rate") != std::string::npos);
  CHECK(option([](O& o) { o.max_leaves = 1; }).find("max_leaves") != std::string::npos);
  CHECK(option([](O& o) { o.l2 = -1; }).find("l2") != std::string::npos);
  CHECK(option([](O& o) { o.min_hessian = 0; }).find("min_hessian") != std::string::npos);
  CHECK(option([](O& o) { o.min_rows = 0; }).find("min_rows") != std::string::npos);
  CHECK(option([](O& o) { o.min_gain = kInfinity; }).find("min_gain") != std::string::npos);
  CHECK(option([](O& o) { o.bins = 256; }).find("bins") != std::string::npos);
  CHECK(option([](O& o) { o.row_fraction = 0; }).find("row_fraction") != std::string::npos);
  CHECK(option([](O& o) { o.column_fraction = 2; }).find("column_fraction") != std::string::npos);
  CHECK(option([](O& o) { o.patience = 0; }).find("patience") != std::string::npos);
  CHECK(option([](O& o) { o.threads = -1; }).find("threads") != std::string::npos);
  CHECK(option([](O& o) { o.monotone = {1}; }).find("monotone") != std::string::npos);
  CHECK(option([](O& o) { o.monotone = {1, 2}; }).find("monotone") != std::string::npos);
  const BoostedTrees model = BoostedTrees::fit(good.view(), {});
  CHECK_THROWS_WITH(model.score(std::vector<float>{1}), Catch::Contains("1 columns"));
  const TableOf wide = random_table(10, 3, 1, [](const float*) { return 0.0; });
  const Table validation = wide.view();
  CHECK_THROWS_WITH(BoostedTrees::fit(good.view(), {}, &validation), Catch::Contains("validation"));
}

}  // namespace
}  // namespace kdgat::trees
