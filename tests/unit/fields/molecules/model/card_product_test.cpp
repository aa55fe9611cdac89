#include "fields/molecules/model/card_product.h"

#include <optional>

#include "engine/kernels/cuda/device.h"
#include "engine/kernels/kernels_for.h"
#include "support/cards/cuda_shim.h"
#include "support/cards/needs_card.h"
#include "support/fields/molecules/product_case.h"

// The tensor product of a card against the plain one; see kernels/cuda/cuda_families_test.cpp.
namespace kdgat::molecules {
namespace {

using test::ProductCase;

void check_product(at::Device device) {
  kernels::cuda::ShimLauncher launcher(kernels::cuda::shim::Order::kMixed);
  std::optional<kernels::cuda::CpuIsCard> as_card;
  if (device.is_cpu()) as_card.emplace(launcher);
  int64_t shape = 0;
  for (const Irreps& irreps : {Irreps{{5, 1, 3}}, Irreps{{4, 3, 2}}, Irreps{{6, 0, 2}}}) {
    for (const auto type : {at::kFloat, at::kDouble}) {
      for (const bool only_scalars : {false, true}) {
        torch::manual_seed(++shape);
        const int64_t edges = shape % 3 == 0 ? 0 : 30;
        const ProductCase c(irreps, 9, edges, 6, type, only_scalars);
        const RadialWeights& w = c.weights;
        const auto moved = [&](const at::Tensor& t) {
          return t.detach().to(device).requires_grad_();
        };
        const at::Tensor x = moved(c.x);
        const RadialWeights own = {moved(w.w1), moved(w.b1), moved(w.w2),
                                   moved(w.b2), moved(w.w3), moved(w.b3)};
        // Some nodes at a time.
        const at::Tensor out = card_tensor_product(x, own, c.over, irreps, only_scalars, 200);
        const at::Tensor expected = c.plain();
        const double limit = type == at::kDouble ? 1e-11 : 1e-5;
        const auto difference = [](const at::Tensor& a, const at::Tensor& b) {
          return a.numel() == 0 ? 0.0 : (a.detach().cpu() - b).abs().max().item<double>();
        };
        INFO(irreps.text() << ", " << edges << " edges, only scalars " << only_scalars);
        REQUIRE(out.sizes() == expected.sizes());
        CHECK(difference(out, expected.detach()) < limit * 10);
        const at::Tensor seed = torch::randn(expected.sizes(), type);
        const auto wanted = test::gradients(c, expected, seed);
        const auto found = torch::autograd::grad(
            {out}, {x, own.w1, own.b1, own.w2, own.b2, own.w3, own.b3}, {seed.to(device)});
        for (std::size_t i = 0; i < found.size(); ++i) {
          INFO("gradient " << i);
          // Of the states that are only scalars, the others' gradients are not asked for.
          const int64_t columns = irreps.mul[0];
          const bool part = only_scalars && i == 0;
          CHECK(difference(part ? found[i].narrow(1, 0, columns) : found[i],
                           part ? wanted[i].narrow(1, 0, columns) : wanted[i]) < limit * 100);
        }
      }
    }
  }
  for (const std::string& problem : kernels::cuda::ShimLauncher::problems()) FAIL_CHECK(problem);
}

TEST_CASE("the tensor product of a card equals the plain one", "[cuda][molecules]") {
  check_product(at::kCPU);
}

TEST_CASE("layers over the same edges share what a card reads of them", "[cuda][molecules]") {
  kernels::cuda::ShimLauncher launcher;
  const kernels::cuda::CpuIsCard as_card(launcher);
  const Irreps irreps{{4, 3, 2}};
  const ProductCase c(irreps, 9, 30, 6, at::kFloat, false),
      other(irreps, 9, 30, 6, at::kFloat, false);
  const at::Tensor first = card_tensor_product(c.x, c.weights, c.over, irreps, false);
  const ProductEdges::OnCard& kept = c.over->on_card;
  const void* const lists = kept.lists.data_ptr();
  const at::Tensor second = card_tensor_product(c.x, c.weights, c.over, irreps, false);
  CHECK(torch::equal(first, second));
  CHECK(kept.lists.data_ptr() == lists);
  CHECK_FALSE(other.over->on_card.lists.defined());
  // States of another type have copies of their own; the first product still has its own.
  RadialWeights wide = c.weights;
  for (at::Tensor* t : {&wide.w1, &wide.b1, &wide.w2, &wide.b2, &wide.w3, &wide.b3}) {
    *t = t->detach().to(at::kDouble);
  }
  const at::Tensor third =
      card_tensor_product(c.x.detach().to(at::kDouble), wide, c.over, irreps, false);
  CHECK(kept.harmonics.scalar_type() == at::kDouble);
  CHECK((third - first.detach()).abs().max().item<double>() < 1e-4);
  CHECK(torch::autograd::grad({first.sum()}, {c.weights.w3})[0].isfinite().all().item<bool>());
}

TEST_CASE("on a card the tensor product equals the plain one", "[gpu]") {
  if (!test::has_card()) return;
  check_product(at::kCUDA);
}

}  // namespace
}  // namespace kdgat::molecules
