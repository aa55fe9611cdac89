#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <vector>

#include "fields/molecules/model/couplings.h"
#include "fields/molecules/model/tensor_product.h"

namespace kdgat::molecules {

at::Tensor radial_hidden(const at::Tensor& radial, const RadialWeights& weights) {
  const at::Tensor first = at::silu(at::linear(radial, weights.w1, weights.b1));
  return at::silu(at::linear(first, weights.w2, weights.b2));
}

at::Tensor plain_tensor_product(const at::Tensor& x, const RadialWeights& weights,
                                const at::Tensor& source, const at::Tensor& target,
                                const at::Tensor& harmonics, const at::Tensor& radial,
                                const Irreps& irreps) {
  const at::Tensor of_edges = at::linear(radial_hidden(radial, weights), weights.w3, weights.b3);
  const at::Tensor x_E = x.index_select(0, source);
  const Irreps gated = irreps.gated();
  const int64_t edges = harmonics.size(0);
  std::array<at::Tensor, 3> out;
  for (std::size_t l = 0; l < out.size(); ++l) {
    out[l] = at::zeros({edges, gated.mul[l], Irreps::components(l)}, x.options());
  }
  for (const TensorPath& path : tensor_paths(irreps)) {
    if (path.in == 0 || path.out == 0) continue;
    const at::Tensor x_l =
        x_E.narrow(1, irreps.offset(path.l1), path.in * Irreps::components(path.l1))
            .view({edges, path.in, Irreps::components(path.l1)});
    const at::Tensor w =
        of_edges.narrow(1, path.first, path.in * path.out).view({edges, path.in, path.out});
    // [E,in,l3], coupled, then mixed over channels.
    std::vector<at::Tensor> columns(static_cast<std::size_t>(Irreps::components(path.l3)),
                                    at::zeros({edges, path.in}, x.options()));
    for (const CouplingTerm& term : coupling(path.l1, path.l2, path.l3)) {
      const auto column = static_cast<int64_t>(kHarmonic[path.l2]) + term.b;
      at::Tensor& to = columns[static_cast<std::size_t>(term.c)];
      to = to + x_l.select(2, term.a) * harmonics.select(1, column).unsqueeze(1) *
                    (term.value * path.scale);
    }
    out[path.l3] = out[path.l3] + at::matmul(w.transpose(1, 2), at::stack(columns, 2));
  }
  const at::Tensor joined = at::cat({out[0].flatten(1), out[1].flatten(1), out[2].flatten(1)}, 1);
  return at::zeros({x.size(0), gated.dim()}, x.options()).index_add(0, target, joined);
}

/// The weights of each edge and of each path what is coupled, kept for backward.
Value count_plain_tensor_product(PocketCount& step, const Value& state,
                                 const RadialWeights& weights, const PocketCount::Edges& edges,
                                 const Irreps& irreps) {
  const double hidden = weights.hidden(), of_edge = weights.of_edge();
  const auto gated = static_cast<double>(irreps.gated().dim()),
             dim = static_cast<double>(irreps.dim());
  double coupled = 0, sums = 0;
  for (const TensorPath& path : tensor_paths(irreps)) {
    if (path.in == 0 || path.out == 0) continue;
    const auto in = static_cast<double>(path.in), out = static_cast<double>(path.out);
    const auto to = static_cast<double>(Irreps::components(path.l3));
    coupled += in * to;  // stacked, for the product with the weights
    sums = std::max(sums, 2 * out * to);
  }
  const Held kept = step.rows(edges.rows, 4 * hidden + of_edge + dim + coupled + gated + 4);
  const Held joined = step.rows(edges.rows, 2 * gated + sums);
  Value out = step.tape.value(PocketCount::kAtoms, gated);
  step.tape.then(
      out, [=, &step, of = edges.rows, elements = weights.elements(), kept = kept](const Held&) {
        const Held of_joined = step.rows(of, 2 * gated), of_edges = step.rows(of, 2 * of_edge),
                   of_x = step.rows(of, 2 * dim);
        step.tape.give(state);
        step.rows(of, 3 * hidden);
        step.tape.parameters(elements);
      });
  return out;
}

}  // namespace kdgat::molecules
