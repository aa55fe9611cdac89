#include "engine/train/metrics/class_metrics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "engine/train/metrics/metrics.h"

namespace kdgat::train {
namespace {

using nlohmann::json;

// From scikit-learn 1.9: confusion_matrix(y, P.argmax(1)), accuracy_score,
// f1_score(average="macro") and roc_auc_score(y, P, multi_class="ovo", average="macro").
const std::vector<float> kProbabilities = {.7F, .2F, .1F, .4F, .5F, .1F, .2F,  .3F,  .5F,
                                           .1F, .6F, .3F, .3F, .4F, .3F, .25F, .25F, .5F,
                                           .6F, .1F, .3F, .2F, .2F, .6F, .5F,  .3F,  .2F};
const std::vector<int64_t> kLabels = {0, 0, 0, 1, 1, 1, 2, 2, 2};

TEST_CASE("class metrics equal scikit-learn's", "[metrics][golden]") {
  const json m = class_metrics(kProbabilities, kLabels, 3);
  CHECK(m.at("confusion") == json({{1, 1, 1}, {0, 2, 1}, {2, 0, 1}}));
  CHECK(m.at("accuracy").get<double>() == Approx(4.0 / 9).epsilon(1e-12));
  // Of each class 2 TP / (labelled + predicted): 2/6, 4/6, 2/6.
  CHECK(m.at("macro_f1").get<double>() == Approx(4.0 / 9).epsilon(1e-12));
  CHECK(m.at("auc").get<double>() == Approx(0.6759259259259259).epsilon(1e-12));
  CHECK(m.at("n_samples") == 9);
}

TEST_CASE("precision, recall and F1 are averaged over classes, labels and all", "[metrics]") {
  // Labelled 4 and 6, predicted 5 and 5; a third class that nobody is and nobody is taken for.
  const json m = averaged_scores({{3, 1, 0}, {2, 4, 0}, {0, 0, 0}});
  const auto check = [&](const char* name, double macro, double weighted) {
    INFO(name);
    CHECK(m.at(name).at("macro").get<double>() == Approx(macro));
    CHECK(m.at(name).at("weighted").get<double>() == Approx(weighted));
    CHECK(m.at(name).at("micro").get<double>() == Approx(0.7));
  };
  check("precision", (0.6 + 0.8) / 2, (4 * 0.6 + 6 * 0.8) / 10);
  check("recall", (3. / 4 + 4. / 6) / 2, 0.7);
  check("f1", (6. / 9 + 8. / 11) / 2, (4 * 6. / 9 + 6 * 8. / 11) / 10);
  CHECK(averaged_scores({{0, 0}, {0, 0}}).at("f1").at("micro") == 0);
}

TEST_CASE("classes that do not occur change neither F1 nor AUC", "[metrics]") {
  // A class more, which nobody is and nobody is taken for.
  std::vector<float> wider;
  for (std::size_t i = 0; i < kProbabilities.size(); ++i) {
    wider.push_back(kProbabilities[i]);
    if (i % 3 == 2) wider.push_back(0.01F);
  }
  const json narrow = class_metrics(kProbabilities, kLabels, 3);
  const json wide = class_metrics(wider, kLabels, 4);
  CHECK(wide.at("macro_f1") == narrow.at("macro_f1"));
  CHECK(wide.at("auc") == narrow.at("auc"));
  CHECK(wide.at("confusion").at(3) == json({0, 0, 0, 0}));
}

TEST_CASE("a class that is only predicted counts as an F1 of 0", "[metrics]") {
  const json m =
      class_metrics(std::vector<float>{.9F, .1F, .2F, .8F}, std::vector<int64_t>{0, 0}, 2);
  CHECK(m.at("accuracy") == 0.5);
  CHECK(m.at("macro_f1").get<double>() == Approx(1.0 / 3));  // 2/3 and 0
  CHECK(m.at("auc") == 0.5);                                 // one class alone cannot be evaluated
}

TEST_CASE("of two classes the AUC is that of the second one's probability", "[metrics]") {
  const std::vector<float> second = {.1F, .4F, .35F, .8F, .4F};
  const std::vector<int64_t> labels = {0, 0, 1, 1, 1};
  std::vector<float> both;
  for (const float p : second) {
    both.push_back(1 - p);
    both.push_back(p);
  }
  CHECK(class_metrics(both, labels, 2).at("auc").get<double>() == Approx(auc(second, labels)));
}

TEST_CASE("of equal probabilities the first class is predicted", "[metrics]") {
  const json m = class_metrics(std::vector<float>{.5F, .5F}, std::vector<int64_t>{1}, 2);
  CHECK(m.at("confusion") == json({{0, 0}, {1, 0}}));
}

TEST_CASE("a report of classes by hand", "[metrics]") {
  // Of class 0 two graphs, one right; of class 1 one, right; of class 2 two, one right; none of 3.
  const std::vector<float> p = {.7F, .1F, .1F, .1F, .2F, .5F, .2F, .1F, .1F, .6F,
                                .2F, .1F, .3F, .1F, .6F, 0.F, .4F, .1F, .3F, .2F};
  const std::vector<int64_t> labels = {0, 0, 1, 2, 2};
  const json m = class_report(p, labels, 4);
  CHECK(m.at("confusion") == json({{1, 1, 0, 0}, {0, 1, 0, 0}, {1, 0, 1, 0}, {0, 0, 0, 0}}));
  const json& core = m.at("core");
  CHECK(core.at("accuracy").get<double>() == Approx(3.0 / 5));
  CHECK(core.at("balanced_accuracy").get<double>() == Approx((0.5 + 1 + 0.5) / 3));
  CHECK(core.at("macro_f1").get<double>() == Approx((0.5 + 2.0 / 3 + 2.0 / 3) / 3));
  CHECK(core.at("n_samples") == 5);
  const auto of = [&](int c, const char* name) {
    return m.at("classes").at(c).at(name).get<double>();
  };
  CHECK(of(0, "precision") == Approx(0.5));
  CHECK(of(1, "precision") == Approx(0.5));
  CHECK(of(2, "precision") == Approx(1));
  CHECK(of(2, "recall") == Approx(0.5));
  CHECK(of(3, "f1") == 0);
  // Of class 0 the graphs have .7 and .2, the others .1, .3 and .4: 3 + 1 pairs of 6 in order.
  CHECK(of(0, "auc") == Approx(4.0 / 6));
  CHECK(of(1, "auc") == Approx(1));
  CHECK(of(2, "auc") == Approx(1));
  CHECK(of(3, "auc") == 0.5);
  CHECK(core.at("auc").get<double>() == Approx((4.0 / 6 + 1 + 1) / 3));
  const json nothing = class_report({}, {}, 3);
  CHECK(nothing.at("core").at("accuracy") == 0);
  CHECK(nothing.at("core").at("auc") == 0.5);
}

TEST_CASE("a report of several numbers by hand, where some are not known", "[metrics]") {
  const float unknown = std::nanf("");
  const json report = number_report(std::vector<float>{1, 10, 2, 20, 3, 0},
                                    std::vector<float>{2, 10, 2, unknown, 5, 30}, 2);
  const json& first = report.at("targets").at(0);
  CHECK(first.at("mae") == Approx(1));
  CHECK(first.at("rmse") == Approx(std::sqrt(5.0 / 3)));
  CHECK(first.at("r2") == Approx(1 - 5.0 / 6));  // distances to 3 are 1, 1 and 2
  const json& second = report.at("targets").at(1);
  CHECK(second.at("n_samples") == 2);
  CHECK(second.at("mae") == Approx(15));
  CHECK(second.at("r2") == Approx(1 - 900.0 / 200));
  CHECK(report.at("core").at("mae") == Approx(8));
  CHECK(report.at("core").at("n_samples") == 3);
  CHECK(number_report(std::vector<float>{1, 2}, std::vector<float>{4, 4}, 1).at("core").at("r2") ==
        0);
  CHECK(number_report({}, {}, 1).at("core").at("mae") == 0);
}

TEST_CASE("regression metrics by hand", "[metrics]") {
  const json m = regression_metrics(std::vector<float>{1, 2, 3, 0}, std::vector<float>{2, 2, 1, 4});
  CHECK(m.at("mae").get<double>() == Approx(7.0 / 4));
  CHECK(m.at("rmse").get<double>() == Approx(std::sqrt(21.0 / 4)));
  CHECK(m.at("n_samples") == 4);
}

TEST_CASE("metrics of nothing are finite", "[metrics]") {
  const json m = class_metrics({}, {}, 3);
  CHECK(m.at("accuracy") == 0);
  CHECK(m.at("macro_f1") == 0);
  CHECK(m.at("auc") == 0.5);
  CHECK(regression_metrics({}, {}).at("rmse") == 0);
}

}  // namespace
}  // namespace kdgat::train
