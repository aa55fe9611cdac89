#include <algorithm>
#include <string>
#include <vector>

#include "engine/kernels/products.h"
#include "support/can/short_numbers.h"
#include "support/graphs/batches.h"
// The others need torch's macros gone.
#include "engine/model/layers/linear.h"
#include "engine/train/precision.h"

namespace kdgat::model {
namespace {

using test::at_every_isa;
using test::check_close;
using test::short_numbers;
using train::Autocast;

bool has_products() {
  if (kernels::ProductKernels::cpu().rounds(1000, 1)) return true;
  WARN("no AVX512-BF16 here: products of bfloat16 were not tried");
  return false;
}

at::Tensor rounded(const at::Tensor& x) { return x.to(at::kBFloat16).to(at::kDouble); }

struct RoundedShape {
  int64_t rows, inputs, outputs;
};

/// Around the sizes of pairs, vectors, tiles and blocks, and some that chance says.
std::vector<RoundedShape> rounded_shapes() {
  std::vector<RoundedShape> out = {
      {1, 1, 1},    {1, 7, 33},   {2, 2, 16},    {3, 5, 1},       {7, 1, 70},    {16, 14, 80},
      {17, 80, 14}, {25, 31, 15}, {95, 3, 97},   {96, 24, 24},    {97, 33, 63},  {191, 48, 49},
      {193, 64, 9}, {200, 0, 5},  {513, 18, 96}, {1025, 96, 385}, {1500, 64, 64}};
  for (int i = 0; i < 24; ++i) {
    const auto drawn = [](int64_t most) { return torch::randint(1, most + 1, {}).item<int64_t>(); };
    out.push_back({drawn(i % 2 == 0 ? 40 : 1200), drawn(90), drawn(140)});
  }
  return out;
}

TEST_CASE("products in bfloat16 are those of rounded factors", "[linear][precision]") {
  if (!has_products()) return;
  torch::manual_seed(11);
  const kernels::ProductKernels& kernels = kernels::ProductKernels::cpu();
  for (const auto& [rows, inputs, outputs] : rounded_shapes()) {
    INFO(rows << " x " << inputs << " x " << outputs);
    const at::Tensor wide = torch::randn({rows, inputs + 3}), a = wide.slice(1, 1, inputs + 1);
    const at::Tensor weight = torch::randn({outputs, inputs}), bias = torch::randn({outputs});
    const at::Tensor wanted = rounded(a).mm(rounded(weight).t());
    const auto check = [](const at::Tensor& got, const at::Tensor& sum, const char* what) {
      CHECK(got.scalar_type() == at::kFloat);
      // Of float, over at most 1200 products of numbers near one.
      check_close(got.to(at::kDouble), sum, what, 2e-4, 1e-5);
    };
    check(kernels.product(a, weight.t(), {}, true), wanted, "of a view");
    check(kernels.product(a.contiguous(), weight.t().contiguous(), bias, true), wanted + bias,
          "with a bias");
    const at::Tensor apart = torch::randn({outputs, inputs + 2}).slice(1, 0, inputs);
    check(kernels.product(a, apart.t(), bias, true), rounded(a).mm(rounded(apart).t()) + bias,
          "with a view of weights");
    const at::Tensor g = torch::randn({outputs, rows}).t();
    at::Tensor sum = torch::ones({outputs, inputs}), of_g = torch::ones({outputs});
    kernels.add_product(sum, of_g, g, a, true);
    check(sum, rounded(g).t().mm(rounded(a)) + 1, "sum of products");
    check(of_g, g.to(at::kDouble).sum(0) + 1, "sum of rows, which are not rounded");
  }
}

TEST_CASE("products that are not in bfloat16, or cannot be, are those of 32 bits bit for bit",
          "[linear][precision]") {
  torch::manual_seed(12);
  const at::Tensor a = torch::randn({300, 40}), weight = torch::randn({50, 40});
  const at::Tensor g = torch::randn({300, 50}), bias = torch::randn({50});
  const auto run = [&](at::ScalarType type, bool in_bfloat16) {
    const kernels::ProductKernels& kernels = kernels::ProductKernels::cpu();
    at::Tensor sum = torch::zeros({50, 40}, type), of_g = torch::zeros({50}, type);
    kernels.add_product(sum, of_g, g.to(type), a.to(type), in_bfloat16);
    const at::Tensor out =
        kernels.product(a.to(type), weight.to(type).t(), bias.to(type), in_bfloat16);
    return at::cat({out.flatten(), sum.flatten(), of_g});
  };
  at_every_isa([&] {
    const bool can_round = kernels::ProductKernels::cpu().rounds(300, 40);
    CHECK(run(at::kFloat, true).equal(run(at::kFloat, false)) != can_round);
    CHECK(run(at::kDouble, true).equal(run(at::kDouble, false)));
    // A layer outside of autocast, and one in double inside.
    const at::Tensor exact = kernels::ProductKernels::cpu().product(a, weight.t(), bias, false);
    CHECK(linear(a, weight, bias).equal(exact));
    {
      const Autocast none("32", at::kCPU);
      CHECK(linear(a, weight, bias).equal(exact));
    }
  });
  CHECK_FALSE(kernels::ProductKernels::plain().rounds(300, 40));
}

TEST_CASE("what has no products of bfloat16 is LibTorch's under autocast", "[linear][precision]") {
  torch::manual_seed(13);
  const at::Tensor weight = torch::randn({50, 40}), bias = torch::randn({50});
  const auto is_libtorchs = [&](const at::Tensor& x) {
    const at::Tensor out = linear(x, weight, bias);
    return out.scalar_type() != at::kFloat && out.equal(at::linear(x, weight, bias));
  };
  const at::Tensor many = torch::randn({300, 40}), few = torch::randn({39, 40});
  {
    const Autocast in_16_bits("16-mixed", at::kCPU);
    CHECK(is_libtorchs(many));
  }
  const Autocast in_16_bits("bf16-mixed", at::kCPU);
  CHECK(is_libtorchs(few));
  CHECK(is_libtorchs(many.to(at::kBFloat16)));
  at_every_isa(
      [&] { CHECK(is_libtorchs(many) != kernels::ProductKernels::cpu().rounds(300, 40)); });
}

/// A layer's result and the gradients of its input, weight and bias for that of the result.
std::vector<at::Tensor> through(const at::Tensor& x, const at::Tensor& weight,
                                const at::Tensor& bias, const at::Tensor& grad,
                                const std::string& precision) {
  std::vector<at::Tensor> of;
  for (const at::Tensor& t : {x, weight, bias}) of.push_back(t.clone().requires_grad_());
  at::Tensor out;
  {
    const Autocast autocast(precision, at::kCPU);
    out = linear(of[0], of[1], of[2]);
  }
  std::vector<at::Tensor> result = torch::autograd::grad({out}, of, {grad});
  result.insert(result.begin(), out.detach());
  return result;
}

TEST_CASE("a layer in bfloat16 is differentiated through rounded factors", "[linear][precision]") {
  if (!has_products()) return;
  torch::manual_seed(14);
  for (const auto& [rows, inputs, outputs] :
       {RoundedShape{120, 37, 19}, RoundedShape{700, 96, 70}}) {
    INFO(rows << " x " << inputs << " x " << outputs);
    // Where nothing is to be rounded, the numbers of 32 bits.
    const at::Tensor x = short_numbers({rows, inputs}), weight = short_numbers({outputs, inputs});
    const at::Tensor bias = short_numbers({outputs}), grad = short_numbers({rows, outputs});
    const std::vector<at::Tensor> short_ones = through(x, weight, bias, grad, "bf16-mixed"),
                                  wide = through(x, weight, bias, grad, "32");
    for (std::size_t i = 0; i < wide.size(); ++i) {
      INFO("tensor " << i);
      CHECK(short_ones[i].scalar_type() == at::kFloat);
      CHECK(short_ones[i].equal(wide[i]));
    }
    // Elsewhere each product of the chain rule has its factors rounded.
    const at::Tensor y = torch::randn({rows, inputs}), w = torch::randn({outputs, inputs});
    const at::Tensor g = torch::randn({rows, outputs});
    const std::vector<at::Tensor> found = through(y, w, bias, g, "bf16-mixed");
    const auto check = [&](std::size_t i, const at::Tensor& wanted, const char* what) {
      check_close(found[i].to(at::kDouble), wanted, what, 2e-4, 1e-5);
    };
    check(0, rounded(y).mm(rounded(w).t()) + bias, "result");
    check(1, rounded(g).mm(rounded(w)), "gradient of the input");
    check(2, rounded(g).t().mm(rounded(y)), "gradient of the weight");
    check(3, g.to(at::kDouble).sum(0), "gradient of the bias");
  }
}

}  // namespace
}  // namespace kdgat::model
