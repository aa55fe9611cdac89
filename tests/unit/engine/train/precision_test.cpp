#include "engine/train/precision.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/catch_torch.h"

using namespace kdgat;
using train::Autocast;
using train::GradScaler;
using train::Optimizer;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// One parameter, its optimizer and a scaler.
struct PrecisionFixture {
  explicit PrecisionFixture(const std::string& precision = "16-mixed")
      : weight(torch::tensor({1.0, -2.0}).requires_grad_()),
        optimizer({{"weight", weight}}, /*decoupled=*/true, 0.1),
        scaler(precision, torch::kCPU) {}

  /// A step whose loss has the gradient `gradient`.
  void step(torch::Tensor gradient, double max_norm = 0) {
    optimizer.zero_grad();
    scaler.scale((weight * gradient.to(torch::kFloat)).sum()).backward();
    scaler.step(optimizer, max_norm, 0.01);
  }
  double scale() const { return scaler.report().at("loss_scale"); }
  int64_t skipped() const { return scaler.report().at("skipped_steps"); }
  std::vector<torch::Tensor> everything() const {
    std::vector<torch::Tensor> out{weight.detach().clone()};
    for (const auto& [name, tensor] : optimizer.state()) out.push_back(tensor.clone());
    return out;
  }

  torch::Tensor weight;
  Optimizer optimizer;
  GradScaler scaler;
};

bool same_bits(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!torch::equal(a[i], b[i])) return false;
  }
  return true;
}

torch::ScalarType type_of_product() {
  const torch::Tensor x = torch::ones({2, 2});
  return x.mm(x).scalar_type();
}

}  // namespace

TEST_CASE("autocast rounds matrix products in its scope alone", "[precision]") {
  CHECK(type_of_product() == torch::kFloat);
  {
    const Autocast outer("bf16-mixed", torch::kCPU);
    CHECK(type_of_product() == torch::kBFloat16);
    {
      const Autocast inner("16-mixed", torch::kCPU);
      CHECK(type_of_product() == torch::kHalf);
    }
    CHECK(type_of_product() == torch::kBFloat16);
  }
  CHECK(type_of_product() == torch::kFloat);
  for (const char* precision : {"32", "32-true"}) {
    const Autocast none(precision, torch::kCPU);
    CHECK(type_of_product() == torch::kFloat);
  }
  try {
    const Autocast autocast("16-mixed", torch::kCPU);
    throw std::runtime_error("no memory");
  } catch (const std::runtime_error&) {
    CHECK(type_of_product() == torch::kFloat);
  }
}

TEST_CASE("no step sees the rounded weights of another", "[precision]") {
  torch::Tensor weight = torch::ones({1, 1}).requires_grad_();
  const Autocast outer("bf16-mixed", torch::kCPU);
  for (const double value : {1.0, 2.0, 4.0}) {
    {
      const torch::NoGradGuard no_grad;
      weight.fill_(value);
    }
    const Autocast step("bf16-mixed", torch::kCPU);
    CHECK(torch::ones({1, 1}).mm(weight).item<double>() == value);
  }
}

TEST_CASE("a scaled step is the step, and is clipped by its true norm", "[precision]") {
  PrecisionFixture scaled, plain("32");
  const torch::Tensor gradient = torch::tensor({0.3, -0.4});
  for (int i = 0; i < 5; ++i) {
    scaled.step(gradient * (i + 1), /*max_norm=*/1);
    plain.step(gradient * (i + 1), /*max_norm=*/1);
    CHECK(torch::equal(scaled.weight.grad(), plain.weight.grad()));
  }
  CHECK(same_bits(scaled.everything(), plain.everything()));
  CHECK(scaled.skipped() == 0);
}

TEST_CASE("only 16-mixed is scaled", "[precision]") {
  for (const char* precision : {"32", "32-true", "bf16-mixed"}) {
    const GradScaler scaler(precision, torch::kCPU);
    CHECK(scaler.state().empty());
    CHECK(scaler.report().empty());
    CHECK(scaler.scale(torch::ones({})).item<double>() == 1);
  }
  CHECK(GradScaler("16-mixed", torch::kCPU).scale(torch::ones({})).item<double>() == 65536);
}

TEST_CASE("a step with a gradient that is not finite changes nothing and halves the scale",
          "[precision]") {
  PrecisionFixture f;
  f.step(torch::tensor({0.5, 0.5}), 1);
  const auto before = f.everything();
  for (const double bad : {kInf, -kInf, std::nan("")}) {
    f.step(torch::tensor({0.5, bad}), 1);
    CHECK(same_bits(f.everything(), before));
  }
  CHECK(f.skipped() == 3);
  CHECK(f.scale() == 65536.0 / 8);
  // Finite, but not when it is scaled.
  f.step(torch::tensor({1e35, 0.0}), 1);
  CHECK(f.skipped() == 4);
  CHECK(same_bits(f.everything(), before));
  f.step(torch::tensor({0.5, 0.5}), 1);
  CHECK(f.skipped() == 4);
  CHECK_FALSE(same_bits(f.everything(), before));
  CHECK(f.optimizer.state()[2].first == "step.weight");
  CHECK(f.optimizer.state()[2].second.item<double>() == 2);
}

TEST_CASE("2000 good steps in a row double the scale", "[precision]") {
  PrecisionFixture f;
  const torch::Tensor good = torch::tensor({0.5, 0.5}), bad = torch::tensor({0.5, kInf});
  for (int i = 0; i < 1000; ++i) f.step(good);
  f.step(bad);
  CHECK(f.scale() == 32768);
  for (int i = 0; i < 1999; ++i) f.step(good);
  CHECK(f.scale() == 32768);
  f.step(good);
  CHECK(f.scale() == 65536);
  for (int i = 0; i < 2000; ++i) f.step(good);
  CHECK(f.scale() == 131072);
  CHECK(f.skipped() == 1);
}

TEST_CASE("a scaler continues from its state", "[precision]") {
  PrecisionFixture one, two;
  const torch::Tensor good = torch::tensor({0.5, 0.5}), bad = torch::tensor({0.5, kInf});
  for (int i = 0; i < 1500; ++i) one.step(i == 3 ? bad : good);
  const auto from = one.scaler.state(), to = two.scaler.state();
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    CHECK(from[i].first == to[i].first);
    to[i].second.copy_(from[i].second);
  }
  CHECK(two.skipped() == 1);
  for (int i = 0; i < 505; ++i) {
    one.step(good);
    two.step(good);
    CHECK(one.scale() == two.scale());
  }
  CHECK(two.scale() == 65536);
}

TEST_CASE("a scale that no gradient allows is an error", "[precision]") {
  PrecisionFixture f;
  for (int i = 0; i < 39; ++i) f.step(torch::tensor({0.5, kInf}));
  CHECK(f.scale() == std::ldexp(1, 16 - 39));
  f.step(torch::tensor({0.5, kInf}));
  CHECK_THROWS_WITH(f.scaler.report(), Catch::Contains("finite at any loss scale"));
}
