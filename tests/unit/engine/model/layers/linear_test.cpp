#include <ATen/Parallel.h>

#include <vector>

#include "engine/kernels/products.h"
#include "support/graphs/batches.h"
#include "support/graphs/gradients.h"
// The others need torch's macros gone.
#include "engine/model/layers/linear.h"

namespace kdgat::model {
namespace {

using test::at_every_isa;
using test::check_close;
using test::check_gradients;

/// Around the sizes of blocks, groups, tiles and vectors: rows, inputs, outputs.
struct Shape {
  int64_t rows, inputs, outputs;
};
constexpr Shape kShapes[] = {
    {1, 1, 1},   {15, 14, 80},  {16, 14, 80},    {17, 80, 14},    {95, 1, 8},     {96, 24, 24},
    {97, 7, 33}, {511, 18, 96}, {512, 96, 10},   {1025, 3, 2},    {1500, 64, 64}, {4097, 13, 72},
    {200, 0, 5}, {100, 130, 1}, {600, 300, 250}, {700, 257, 260},
};

/// As written down.
at::Tensor multiplied_by_hand(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor out = at::zeros({a.size(0), b.size(1)}, a.options());
  for (int64_t k = 0; k < a.size(1); ++k) out += a.select(1, k).unsqueeze(1) * b.select(0, k);
  return out;
}

TEST_CASE("products of matrices are those written down, at the edges of blocks too", "[linear]") {
  torch::manual_seed(5);
  at_every_isa([] {
    for (const Shape& shape : kShapes) {
      const auto [rows, inputs, outputs] = shape;
      INFO(rows << " x " << inputs << " x " << outputs);
      for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
        const double tolerance = type == at::kFloat ? 1e-4 : 1e-12;
        const at::Tensor a = torch::randn({rows, inputs}, type);
        const at::Tensor weight = torch::randn({outputs, inputs}, type);
        const at::Tensor bias = torch::randn({outputs}, type);
        const at::Tensor wanted = multiplied_by_hand(a, weight.t());
        for (const kernels::ProductKernels* kernels :
             {&kernels::ProductKernels::cpu(), &kernels::ProductKernels::plain()}) {
          check_close(kernels->product(a, weight.t(), {}, false), wanted, "turned", tolerance,
                      tolerance);
          check_close(kernels->product(a, weight.t().contiguous(), bias, false), wanted + bias,
                      "with a bias", tolerance, tolerance);
          // A view that is neither.
          const at::Tensor wide = torch::randn({rows, 2 * inputs}, type);
          check_close(kernels->product(wide.slice(1, 0, inputs), weight.t(), {}, false),
                      multiplied_by_hand(wide.slice(1, 0, inputs), weight.t()), "of a view",
                      tolerance, tolerance);
          const at::Tensor g = torch::randn({rows, outputs}, type);
          at::Tensor sum = torch::ones({outputs, inputs}, type),
                     of_g = torch::ones({outputs}, type);
          kernels->add_product(sum, of_g, g, a, false);
          const double wider = 10 * tolerance;  // sums over rows
          check_close(sum, multiplied_by_hand(g.t(), a) + 1, "sum of products", wider, wider);
          check_close(of_g, g.sum(0) + 1, "sum of rows", wider, wider);
        }
      }
    }
  });
}

TEST_CASE("products have the same bits with any number of threads", "[linear]") {
  torch::manual_seed(6);
  const at::Tensor a = torch::randn({9001, 30}), weight = torch::randn({50, 30});
  const at::Tensor g = torch::randn({9001, 400});
  const int before = at::get_num_threads();
  for (const bool in_bfloat16 : {false, true}) {
    std::vector<at::Tensor> outs, sums;
    for (const int threads : {1, 2, 9}) {
      at::set_num_threads(threads);
      outs.push_back(kernels::ProductKernels::cpu().product(a, weight.t(), {}, in_bfloat16));
      at::Tensor sum = torch::zeros({400, 30}), of_g = torch::zeros({400});
      kernels::ProductKernels::cpu().add_product(sum, of_g, g, a, in_bfloat16);
      sums.push_back(at::cat({sum.flatten(), of_g}));
    }
    at::set_num_threads(before);
    for (std::size_t i = 1; i < outs.size(); ++i) {
      CHECK(outs[i].equal(outs[0]));
      CHECK(sums[i].equal(sums[0]));
    }
  }
}

TEST_CASE("a linear layer has the gradients of its differences", "[linear]") {
  torch::manual_seed(7);
  for (const Shape& shape : {Shape{20, 5, 9}, Shape{3, 5, 9}}) {
    const at::Tensor x = torch::randn({shape.rows, shape.inputs}, torch::kDouble);
    const at::Tensor weight = torch::randn({shape.outputs, shape.inputs}, torch::kDouble);
    const at::Tensor bias = torch::randn({shape.outputs}, torch::kDouble);
    check_gradients({x, weight, bias}, [](const std::vector<at::Tensor>& of) {
      return linear(of[0], of[1], of[2]).sin().sum();
    });
    check_gradients({x, weight}, [](const std::vector<at::Tensor>& of) {
      return linear(of[0], of[1], at::Tensor()).sin().sum();
    });
  }
}

TEST_CASE("a linear layer computes no gradient that is not asked for", "[linear]") {
  const at::Tensor x = torch::randn({20, 3}), weight = torch::randn({4, 3}).requires_grad_();
  const at::Tensor bias = torch::randn({4});
  linear(x, weight, bias).sum().backward();
  check_close(weight.grad(), x.sum(0).expand({4, 3}), "gradient", 1e-5, 1e-5);
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(bias.grad().defined());
  CHECK_FALSE(linear(x, weight.detach(), bias).requires_grad());
  // Whole numbers, which no kernel has, fail as LibTorch's do.
  CHECK_THROWS(linear(x.to(at::kInt), weight, bias));
}

}  // namespace
}  // namespace kdgat::model
