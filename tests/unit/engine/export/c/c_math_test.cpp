// The numbers of exported sources: own functions against those of the library, and texts of
// numbers.
#include <bit>
#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <limits>

#include "engine/arrays/random.h"
#include "engine/export/c/runtime_texts.h"
#include "engine/portable/math.h"
#include "support/programs/exported.h"

namespace kdgat::exporting {
namespace {

TEST_CASE("own exp and sqrt of exported sources agree with libm", "[export]") {
  CSource source;
  source.files["math_test.c"] = "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n" +
                                texts_of({"compiler.c", "roots.c", "math.h"}) + R"(
static uint64_t draws = 88172645463325252u;
static uint64_t draw(void) {
  draws ^= draws << 13;
  draws ^= draws >> 7;
  draws ^= draws << 17;
  return draws;
}
static double worst[2];
static void off(int which, double own, double wanted) {
  const double share = fabs(own - wanted) / wanted;
  if (share > worst[which]) worst[which] = share;
}
int main(void) {
  long i, wrong = 0;
  for (i = 0; i < 3000000; ++i) {
    union { uint32_t u; float f; } x;
    union { uint64_t u; double f; } y;
    x.u = 0x00800000u + (uint32_t)(draw() >> 33) % (0x7F800000u - 0x00800000u);
    wrong += kdgat_sqrtf(x.f) != sqrtf(x.f);
    y.u = 0x0010000000000000u + (draw() >> 1) % (0x7FF0000000000000u - 0x0010000000000000u);
    wrong += kdgat_sqrt(y.f) != sqrt(y.f);
    off(0, kdgat_expf((float)i * 5.8e-5f - 87.0f), exp((double)((float)i * 5.8e-5f - 87.0f)));
    off(1, kdgat_exp((double)i * 4.6e-4 - 690.0), exp((double)i * 4.6e-4 - 690.0));
  }
  /* Whole numbers, whose squares are exact, and what stands beside them. */
  for (i = 1; i < 4000; ++i) {
    wrong += kdgat_sqrt((double)(i * i)) != (double)i || kdgat_sqrtf((float)(i * i)) != (float)i;
    wrong += kdgat_sqrt(nextafter((double)(i * i), 0)) != sqrt(nextafter((double)(i * i), 0));
    wrong += kdgat_sqrtf(nextafterf((float)(i * i), 1e9f)) != sqrtf(nextafterf((float)(i * i), 1e9f));
  }
  wrong += kdgat_sqrt(0.0) != 0.0 || kdgat_sqrtf(0.0f) != 0.0f || !isinf(kdgat_sqrt(INFINITY));
  wrong += kdgat_exp(1e9) != kdgat_exp(700.0) || kdgat_exp(-1e9) != kdgat_exp(-700.0);
  printf("%ld %d %d\n", wrong, worst[0] < 3e-7, worst[1] < 1e-15);
  return 0;
}
)";
  const test::ExportedFolder folder(source);
  const auto said = folder.run(
      "gcc -O2 -std=c99 -Wall -Wextra -Werror -ffp-contract=off "
      "math_test.c -o math_test -lm && ./math_test");
  CHECK(said.err == "");
  CHECK(said.out == "0 1 1\n");
}

TEST_CASE("numbers of C are read back to the same bits", "[export]") {
  CHECK(c_float(1) == "1.0f");
  CHECK(c_float(-0.0F) == "-0.0f");
  CHECK(c_float(1e20F) == "1e+20f");
  CHECK(c_double(std::numeric_limits<double>::infinity()) == "DBL_MAX");
  CHECK(c_double(-std::numeric_limits<double>::infinity()) == "-DBL_MAX");
  CHECK_THROWS(c_float(std::numeric_limits<float>::quiet_NaN()));
  CHECK_THROWS(c_double(std::nan("")));
  arrays::Random random(3);
  for (int i = 0; i < 100'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random.next()));
    if (!std::isfinite(value)) continue;
    REQUIRE(std::strtof(c_float(value).c_str(), nullptr) == value);
    const double wide = value * random.uniform();
    REQUIRE(std::strtod(c_double(wide).c_str(), nullptr) == wide);
  }
}

TEST_CASE("a runtime's text that asks for a word gets it", "[export]") {
  CHECK(runtime_text("CMakeLists.txt", {{"NAME", "abc"}}).find("project(abc ") !=
        std::string::npos);
  CHECK_THROWS_WITH(runtime_text("main.c", {}), Catch::Contains("asks for @NAME@"));
  CHECK_THROWS_WITH(runtime_text("none.c"), Catch::Contains("no runtime/none.c"));
}

TEST_CASE("own sigmoid, tanh and probability agree with libm", "[export]") {
  for (int i = -160'000; i < 160'000; ++i) {
    const double x = i * 0.00037;
    const auto narrow = static_cast<float>(x);
    REQUIRE(kdgat_sigmoid(narrow) == Approx(1 / (1 + std::exp(-double{narrow}))).epsilon(5e-7));
    REQUIRE(kdgat_probability(x) == Approx(1 / (1 + std::exp(-x))).epsilon(1e-15));
    REQUIRE(std::abs(kdgat_tanh(narrow) - std::tanh(narrow)) < 1e-6);
  }
  CHECK(kdgat_probability(1e6) == 1);
  CHECK(kdgat_probability(-1e6) < 1e-300);
}

}  // namespace
}  // namespace kdgat::exporting
