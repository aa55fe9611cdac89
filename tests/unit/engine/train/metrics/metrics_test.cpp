#include "engine/train/metrics/metrics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/train/metrics/curve.h"

using namespace kdgat;
using train::auc;

namespace {

struct Sample {
  std::vector<float> scores;
  std::vector<int64_t> labels;
};

/// Scores on a coarse grid, so that many tie.
Sample random_sample(uint64_t seed, int64_t size, uint64_t levels) {
  arrays::Random random(seed);
  Sample out;
  for (int64_t i = 0; i < size; ++i) {
    out.labels.push_back(static_cast<int64_t>(random.below(3) == 0));
    out.scores.push_back(static_cast<float>(random.below(levels)) +
                         static_cast<float>(out.labels.back()));
  }
  return out;
}

double brute_force_auc(const Sample& s) {
  double wins = 0, pairs = 0;
  for (std::size_t i = 0; i < s.scores.size(); ++i) {
    for (std::size_t j = 0; j < s.scores.size(); ++j) {
      if (s.labels[i] != 1 || s.labels[j] != 0) continue;
      pairs += 1;
      wins += s.scores[i] > s.scores[j] ? 1 : s.scores[i] == s.scores[j] ? 0.5 : 0;
    }
  }
  return wins / pairs;
}

}  // namespace

TEST_CASE("rates agree with values worked out by hand", "[metrics]") {
  const nlohmann::json r = train::rates({/*tp=*/40, /*fp=*/10, /*tn=*/30, /*fn=*/20});
  CHECK(r.at("accuracy").get<double>() == Approx(0.7));
  CHECK(r.at("precision").get<double>() == Approx(0.8));
  CHECK(r.at("recall").get<double>() == Approx(2.0 / 3));
  CHECK(r.at("f1").get<double>() == Approx(8.0 / 11));
  CHECK(r.at("specificity").get<double>() == Approx(0.75));
  CHECK(r.at("balanced_accuracy").get<double>() == Approx(17.0 / 24));
  CHECK(r.at("fpr").get<double>() == Approx(0.25));
  CHECK(r.at("fnr").get<double>() == Approx(1.0 / 3));
  CHECK(r.at("mcc").get<double>() == Approx(1000 / std::sqrt(50.0 * 60 * 40 * 50)));
  CHECK(r.at("kappa").get<double>() == Approx(0.4));
  CHECK(r.at("n_samples") == 100);
}

TEST_CASE("a metric is told as its row says", "[metrics]") {
  const nlohmann::json evaluation = {
      {"gat", {{"core", {{"f1", 0.5}, {"fpr", 0.25}}}, {"additional", {{"kappa", 0.75}}}}}};
  const std::vector<Figure> told = train::evaluated_figures(evaluation, train::metrics());
  REQUIRE(told.size() == 3);
  CHECK(told[0].label == "F1");
  CHECK(told[0].place == 4);
  CHECK(told[0].headline == 1);
  CHECK(told[0].is_tile);
  CHECK(told[0].is_decision);
  CHECK(told[1].better == Better::kLess);
  CHECK(told[1].place == 0);
  CHECK(told[2].better == Better::kMore);
}

TEST_CASE("a metric that both sides know is told in the same way by both", "[metrics]") {
  for (const train::Metric& one : train::metrics()) {
    const std::string name(one.name);
    INFO(name);
    CHECK((one.of_counts != nullptr) != (one.of_scores != nullptr));
    if (better_of(name) != Better::kNeither) CHECK(better_of(name) == one.better);
  }
}

TEST_CASE("metrics of an epoch may choose the best one, errors the less, all others the more",
          "[metrics]") {
  const nlohmann::json said =
      train::epoch_metrics(std::vector<float>{0.25F, 0.75F}, std::vector<int64_t>{0, 1}, 0.5);
  CHECK(said == nlohmann::json{{"auc", 1.0}, {"f1", 1.0}, {"accuracy", 1.0}});
  CHECK(train::monitored() == std::vector<std::string>{"val_loss", "val_auc", "val_f1",
                                                       "val_accuracy", "val_mrr", "val_mae",
                                                       "val_rmse", "train_loss"});
  for (const std::string& name : train::monitored()) {
    INFO(name);
    const bool is_error = name.ends_with("loss") || name == "val_mae" || name == "val_rmse";
    CHECK(train::is_less_monitored(name) == is_error);
  }
}

TEST_CASE("rates of empty classes are finite", "[metrics]") {
  for (const train::Confusion& c :
       {train::Confusion{}, {5, 0, 0, 0}, {0, 5, 0, 0}, {0, 0, 5, 0}, {0, 0, 0, 5}}) {
    const nlohmann::json rates = train::rates(c);
    for (const auto& [name, value] : rates.items()) {
      INFO(name);
      CHECK(value.is_number());
      CHECK(std::isfinite(value.get<double>()));
    }
  }
}

TEST_CASE("AUC counts pairs, ties one half", "[metrics]") {
  CHECK(auc(std::vector<float>{1, 2, 3, 4}, std::vector<int64_t>{0, 0, 1, 1}) == 1.0);
  CHECK(auc(std::vector<float>{4, 3, 2, 1}, std::vector<int64_t>{0, 0, 1, 1}) == 0.0);
  CHECK(auc(std::vector<float>{1, 1, 1}, std::vector<int64_t>{0, 1, 0}) == 0.5);
  CHECK(auc(std::vector<float>{1, 2}, std::vector<int64_t>{0, 0}) == 0.5);
  CHECK(auc({}, {}) == 0.5);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Sample s = random_sample(seed, 60, 1 + seed % 5);
    CHECK(auc(s.scores, s.labels) == Approx(brute_force_auc(s)).margin(1e-12));
  }
}

TEST_CASE("average precision agrees with a value worked out by hand", "[metrics]") {
  // From the top: attack (1/1), benign, attack (2/3), benign.
  CHECK(train::pr_auc(std::vector<float>{4, 3, 2, 1}, std::vector<int64_t>{1, 0, 1, 0}) ==
        Approx((1.0 + 2.0 / 3) / 2));
  CHECK(train::pr_auc(std::vector<float>{1, 1, 1, 1}, std::vector<int64_t>{1, 0, 0, 0}) ==
        Approx(0.25));
  CHECK(train::pr_auc(std::vector<float>{1, 2}, std::vector<int64_t>{0, 0}) == 0);
}

TEST_CASE("detection at a false-alarm rate never exceeds the rate", "[metrics]") {
  const std::vector<float> scores{9, 8, 7, 6, 5, 4};
  const std::vector<int64_t> labels{1, 0, 1, 1, 0, 0};
  CHECK(train::detection_at_fpr(scores, labels, 0.0) == Approx(1.0 / 3));
  CHECK(train::detection_at_fpr(scores, labels, 0.3) == Approx(1.0 / 3));
  CHECK(train::detection_at_fpr(scores, labels, 0.34) == Approx(1.0));
  CHECK(train::detection_at_fpr(scores, std::vector<int64_t>(6, 0), 0.5) == 0);
}

TEST_CASE("the best threshold reaches the largest J of all thresholds", "[metrics]") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Sample s = random_sample(seed, 50, 4);
    const train::Threshold best = train::best_threshold(s.scores, s.labels);
    const auto j_at = [&s](double threshold) {
      const nlohmann::json r = train::rates(train::confusion(s.scores, s.labels, threshold));
      return r.at("tpr").get<double>() - r.at("fpr").get<double>();
    };
    CHECK(j_at(best.value) == Approx(best.youden_j).margin(1e-12));
    for (double t = -1; t < 6; t += 0.5) CHECK(j_at(t) <= best.youden_j + 1e-12);
  }
  const std::vector<float> one_class{1, 2, 3};
  const train::Threshold none = train::best_threshold(one_class, std::vector<int64_t>{0, 0, 0});
  CHECK(train::confusion(one_class, std::vector<int64_t>{0, 0, 0}, none.value).fp == 0);
}

TEST_CASE("a thinned curve keeps its ends and stays near every point it leaves out", "[metrics]") {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const Sample s = random_sample(seed, 5000, 1u << 20);
    const std::vector<train::CurvePoint> all = train::curve(s.scores, s.labels);
    const auto attacks = static_cast<double>(all.back().tp);
    const auto benign = static_cast<double>(all.back().fp);
    CHECK(all.back().tp + all.back().fp == 5000);
    const auto between = [&](const train::CurvePoint& a, const train::CurvePoint& b) {
      const auto precision = [](const train::CurvePoint& p) {
        return static_cast<double>(p.tp) / static_cast<double>(p.tp + p.fp);
      };
      return std::abs(static_cast<double>(a.tp - b.tp)) / attacks +
             std::abs(static_cast<double>(a.fp - b.fp)) / benign +
             std::abs(precision(a) - precision(b));
    };
    double length = 0;
    for (std::size_t i = 1; i < all.size(); ++i) length += between(all[i], all[i - 1]);
    for (const std::size_t most : {2u, 3u, 50u, 200u}) {
      const std::vector<train::CurvePoint> few = train::thinned(all, most);
      REQUIRE(few.size() <= most);
      CHECK(between(few.front(), all.front()) == 0);
      CHECK(between(few.back(), all.back()) == 0);
      if (most < 4) continue;
      for (const train::CurvePoint& point : all) {
        double nearest = length;
        for (const train::CurvePoint& kept : few) {
          nearest = std::min(nearest, between(kept, point));
        }
        REQUIRE(nearest <= length / static_cast<double>(most - 2) * (1 + 1e-9));
      }
    }
    CHECK(train::thinned(all, all.size()).size() == all.size());
  }
  CHECK(train::thinned({}, 2).empty());
}
