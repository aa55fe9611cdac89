// Figures over seeds, against values computed elsewhere.
#include "pipeline/run/seed_statistics.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace kdgat;

TEST_CASE("quantiles of Student's t are those of the tables", "[seeds]") {
  struct Known {
    double p, freedom, value;
  };
  // scipy.stats.t.ppf
  const Known known =
      GENERATE(Known{0.975, 1, 12.706204736432095}, Known{0.975, 2, 4.302652729911275},
               Known{0.975, 3, 3.182446305284263}, Known{0.975, 4, 2.776445105198121},
               Known{0.975, 9, 2.2621571627982}, Known{0.975, 30, 2.042272456301238},
               Known{0.975, 1000, 1.9623390808264078}, Known{0.95, 5, 2.015048372669157},
               Known{0.995, 2, 9.924843200918287}, Known{0.9, 1, 3.0776835371752527});
  CHECK(std::abs(student_quantile(known.p, known.freedom) - known.value) < 1e-6);
  CHECK(student_quantile(1 - known.p, known.freedom) ==
        Approx(-student_quantile(known.p, known.freedom)));
  CHECK(student_quantile(0.5, known.freedom) == 0);
  CHECK(std::isnan(student_quantile(1, known.freedom)));
  CHECK(std::isnan(student_quantile(0.9, 0)));
}

TEST_CASE("the spread is the standard deviation of a sample", "[seeds]") {
  CHECK_FALSE(spread_of({}));
  const auto one = spread_of({0.5});
  REQUIRE(one);
  CHECK(one->n == 1);
  CHECK(one->mean == 0.5);
  CHECK_FALSE(one->deviation);
  const auto several = spread_of({2, 4, 4, 4, 5, 5, 7, 9});
  REQUIRE(several);
  CHECK(several->n == 8);
  CHECK(several->mean == Approx(5));
  CHECK(*several->deviation == Approx(std::sqrt(32.0 / 7)));
  CHECK(*spread_of({1e9 + 1, 1e9 + 2, 1e9 + 3})->deviation == Approx(1));
}

TEST_CASE("differences are paired by the seeds that both have", "[seeds]") {
  const BySeed base = {{1, 0.80}, {2, 0.90}, {3, 0.70}, {9, 0.1}};
  const BySeed other = {{1, 0.83}, {2, 0.92}, {3, 0.74}, {4, 0.99}};
  const auto paired = paired_difference(base, other);
  REQUIRE(paired);
  CHECK(paired->n == 3);
  CHECK(paired->mean == Approx(0.03));
  // sd 0.01, n 3: 4.302653 * 0.01 / sqrt(3)
  CHECK(*paired->low == Approx(0.03 - 0.024841377));
  CHECK(*paired->high == Approx(0.03 + 0.024841377));
  CHECK(paired->is_clear());
  const auto single = paired_difference({{1, 0.5}}, {{1, 0.25}, {2, 1}});
  REQUIRE(single);
  CHECK(single->mean == -0.25);
  CHECK_FALSE(single->low);
  CHECK_FALSE(single->is_clear());
  CHECK_FALSE(paired_difference({{1, 0.5}}, {{2, 0.5}}));
}
