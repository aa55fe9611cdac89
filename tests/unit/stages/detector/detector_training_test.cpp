// What a detector learns from: tails of benign columns, folds, windows that are left out.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "detector/cross_fit.h"
#include "engine/arrays/random.h"
#include "engine/data/can/windows/relative_windows.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/detector/tails.h"
#include "support/can/low_floors.h"
#include "support/runs/made_learning.h"

using namespace kdgat;
using namespace kdgat::data;
using namespace kdgat::decision;
using namespace kdgat::detector;
using kdgat::test::made_learning;

namespace {

/// Exponential values with mean 1 in column 0, zeros in column 1.
std::vector<float> exponential(std::size_t rows, arrays::Random& random) {
  std::vector<float> out;
  for (std::size_t i = 0; i < rows; ++i) {
    out.push_back(static_cast<float>(-std::log(1 - random.uniform())));
    out.push_back(0);
  }
  return out;
}

trees::BoostedTreesOptions twenty_trees() {
  trees::BoostedTreesOptions out;
  out.trees = 20;
  return out;
}

}  // namespace

TEST_CASE("tails are the probabilities of benign values, and go on beyond them", "[detector]") {
  arrays::Random random(7);
  const std::vector<float> values = exponential(20000, random);
  const std::vector<std::size_t> columns = {0};
  const Tails tails = Tails::fit(values, 2, columns);
  const auto score = [&](float x) { return tails.score(std::vector<float>{x, 0}); };
  // P(X >= x) = exp(-x), in powers of ten.
  for (const double x : {1.0, 2.0, 4.0, 6.0, 12.0}) {
    CHECK(score(static_cast<float>(x)) == Approx(x / std::log(10.0)).margin(0.06).epsilon(0.06));
  }
  CHECK(score(0) == 0);
  double before = 0;
  for (float x = 0; x < 20; x += 0.01F) {
    CHECK(score(x) >= before);
    before = score(x);
  }
  SECTION("a column of zeros: anything else is as rare as one in all of them, or rarer") {
    const std::vector<std::size_t> both = {0, 1};
    const Tails two = Tails::fit(values, 2, both);
    CHECK(two.score(std::vector<float>{0, 0.1F}) > std::log10(20001.0) - std::log10(2.0) - 1e-6);
    // Two columns are looked at: each has half of the probability.
    CHECK(two.score(std::vector<float>{4, 0}) == Approx(score(4) - std::log10(2.0)));
  }
  SECTION("read again they are the same") {
    const Tails again = Tails::from_json(tails.json(), 2, "file");
    for (float x = 0; x < 9; x += 0.1F) {
      CHECK(again.score(std::vector<float>{x, 0}) == score(x));
    }
    CHECK_THROWS_WITH(Tails::from_json(tails.json(), 0, "file"), Catch::Contains("file"));
  }
  SECTION("without benign windows nothing is rare") {
    CHECK(Tails::fit({}, 2, columns).score(std::vector<float>{9, 9}) == 0);
  }
}

TEST_CASE("every fold is judged by models that did not learn from it", "[detector]") {
  Learning all = made_learning(600);
  const std::vector<uint8_t> none(600, 0);
  std::vector<double> shares;
  const CrossFit fit = cross_fit(all, none, {}, test::low_floors(), twenty_trees(), 0,
                                 [&](double share) { shares.push_back(share); });
  CHECK(shares == std::vector<double>{0, 1.0 / 3, 2.0 / 3});
  CHECK(fit.by_own.at(0).classifier.size() == 3);
  CHECK(fit.by_own.at(0).classifier[0].seconds == 5);
  for (std::size_t i = 0; i < 600; ++i) CHECK((fit.rows[i] > 0) == (all.rows.labels[i] == 1));

  // A wrong label that only fold 1 has: models of the others do not follow it.
  for (std::size_t i = 0; i < 600; ++i) {
    if (all.rows.folds[i] == 1 && all.rows.labels[i] == 1) all.rows.labels[i] = 0;
  }
  const CrossFit wrong =
      cross_fit(all, none, {}, test::low_floors(), twenty_trees(), 0, [](double) {});
  const std::vector<uint8_t> odd = odd_benign(all.rows, wrong, 0);
  for (std::size_t i = 0; i < 600; ++i) {
    CHECK((odd[i] != 0) == (all.rows.folds[i] == 1 && i % 4 == 0));
  }
  // What is left out is not learned from.
  const Parts parts = fit_parts(all.rows, -1, odd, twenty_trees());
  std::vector<float> attack(data::kRelativeColumns, 0);
  attack[0] = 2.5F;
  CHECK(parts.classifier->score(attack) > 2);
}

TEST_CASE("a log is counted by the profile that it fits best", "[detector]") {
  Learning all = made_learning(600);
  const auto add = [&](std::size_t log, int32_t own, int64_t odd) {
    Held held = all.held.front();
    held.log = log;
    held.own = own;
    for (int64_t i = 0; i < odd; ++i) {
      held.values[static_cast<std::size_t>(i) * data::kRelativeColumns] = 2.5F;
    }
    all.held.push_back(held);
  };
  add(7, 30, 8);
  add(7, 300, 3);
  add(8, 0, 9);
  add(8, 30, 1);
  add(8, 300, 2);
  add(9, 0, 1);
  add(9, 300, 4);
  const CrossFit fit = cross_fit(all, std::vector<uint8_t>(600, 0), {}, test::low_floors(),
                                 twenty_trees(), 0, [](double) {});
  CHECK(fit.by_log.at(7).share() == Approx(0.3));
  CHECK(fit.by_log.at(8).share() == Approx(0.2));
  CHECK(fit.by_log.at(9).share() == Approx(0.1));
  CHECK(fit.by_log.at(0).share() == 0);
}

TEST_CASE("a fold whose rest holds no attack is judged by nobody", "[detector]") {
  Learning all = made_learning(90);
  for (std::size_t i = 0; i < 90; ++i) all.rows.labels[i] = all.rows.folds[i] == 0 && i % 4 == 0;
  const CrossFit fit = cross_fit(all, std::vector<uint8_t>(90, 0), {}, test::low_floors(),
                                 twenty_trees(), 0, [](double) {});
  CHECK(fit.by_own.at(0).classifier.size() == 2);
  CHECK(fit.rows[0] == std::numeric_limits<float>::lowest());
}

TEST_CASE("thresholds are those of profiles of about so many windows", "[detector]") {
  const LearningSet rows = made_learning(40).rows;
  DetectorModel model{100, 300, {}, {}, trees::BoostedTrees::fit(rows.table(), twenty_trees()),
                      {},  {}};
  for (const int32_t own : {0, 100, 300}) model.decisions[own].classifier = own;
  const auto chosen = [&](int64_t own) { return model.decision(own).classifier; };
  CHECK(chosen(0) == 0);
  CHECK(chosen(20) == 100);
  CHECK(chosen(150) == 100);
  CHECK(chosen(200) == 300);
  CHECK(chosen(30'000) == 300);
}
