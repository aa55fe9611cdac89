// Random tensor products of molecules, for tests of their forms. Needs torch first.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fields/molecules/model/couplings.h"
#include "fields/molecules/model/tensor_product.h"
#include "support/catch_torch.h"

namespace kdgat::test {

using molecules::edge_weights;
using molecules::Irreps;
using molecules::kHarmonics;
using molecules::MoleculeEdges;
using molecules::plain_tensor_product;
using molecules::ProductEdges;
using molecules::RadialWeights;
using molecules::tensor_product;

inline std::array<double, 3> direction_of(const torch::Tensor& r) {
  const torch::Tensor n = r / r.norm();
  return {n[0].item<double>(), n[1].item<double>(), n[2].item<double>()};
}

/// A random product, and its weights as leaves.
struct ProductCase {
  Irreps irreps;
  torch::Tensor x, source, target, harmonics, radial;
  RadialWeights weights;
  std::shared_ptr<ProductEdges> over = std::make_shared<ProductEdges>();

  ProductCase(const Irreps& of, int64_t nodes, int64_t edges, int64_t width, torch::ScalarType type,
              bool only_scalars = false)
      : irreps(of) {
    const auto options = torch::TensorOptions(type);
    x = torch::randn({nodes, irreps.dim()}, options);
    if (only_scalars) x.narrow(1, irreps.mul[0], irreps.dim() - irreps.mul[0]).zero_();
    source = torch::randint(nodes, {edges}, torch::kInt);
    target = torch::randint(nodes, {edges}, torch::kInt);
    over->edges = MoleculeEdges::of(
        nodes, {source.const_data_ptr<int32_t>(), static_cast<std::size_t>(edges)},
        {target.const_data_ptr<int32_t>(), static_cast<std::size_t>(edges)});
    torch::Tensor y = torch::empty({edges, kHarmonics}, torch::kDouble);
    for (int64_t e = 0; e < edges; ++e) {
      const auto of_edge = harmonics_of(torch::randn({3}, torch::kDouble));
      for (int64_t i = 0; i < kHarmonics; ++i) y[e][i] = of_edge[static_cast<std::size_t>(i)];
    }
    harmonics = y.to(type);
    radial = torch::randn({edges, 11}, options);
    const torch::Tensor order =
        torch::tensor(std::vector<int64_t>(over->edges.origin.begin(), over->edges.origin.end()));
    over->harmonics = harmonics.index_select(0, order);
    over->radial = radial.index_select(0, order);
    const auto leaf = [&](std::vector<int64_t> shape) {
      return (0.4 * torch::randn(shape, options)).requires_grad_();
    };
    weights = {leaf({width, 11}),
               leaf({width}),
               leaf({width, width}),
               leaf({width}),
               leaf({edge_weights(irreps), width}),
               leaf({edge_weights(irreps)})};
    x.requires_grad_();
  }

  static std::array<double, 9> harmonics_of(const torch::Tensor& r) {
    return molecules::harmonics(direction_of(r));
  }
  std::vector<torch::Tensor> leaves() const {
    return {x, weights.w1, weights.b1, weights.w2, weights.b2, weights.w3, weights.b3};
  }
  torch::Tensor plain() const {
    return plain_tensor_product(x, weights, source.to(torch::kLong), target.to(torch::kLong),
                                harmonics, radial, irreps);
  }
  torch::Tensor fast(bool only_scalars = false) const {
    return tensor_product(x, weights, over, irreps, only_scalars);
  }
};

inline std::vector<torch::Tensor> gradients(const ProductCase& c, const torch::Tensor& out,
                                            const torch::Tensor& seed) {
  return torch::autograd::grad({out}, c.leaves(), {seed}, {}, false, true);
}

}  // namespace kdgat::test
