// The tensor product of an equivariant layer with weights that a small network makes for each edge:
//
//   out_i = sum over edges e = (j, i) of  TP(x_j, Y_e; W_e),   W_e = [h_e, 1] V,
//   h_e = silu(W2 silu(W1 r_e + b1) + b2)
//
// The published form holds W_e, 4,800 floats an edge. Here no weight of an edge is ever held:
// mixing over channels commutes with the coupling of components, so that each path is mixed once a
// node, at its source or at its target, whichever is cheaper. The backward pass makes all of it
// again.
//
// N nodes, E edges, R radial inputs, H hidden width, P = edge_weights(irreps).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "fields/molecules/model/irreps.h"
#include "fields/molecules/model/molecule_edges.h"
#include "fields/molecules/model/pocket_count.h"

namespace kdgat::molecules {

/// The network that makes the weights of edges.
struct RadialWeights {
  at::Tensor w1, b1;  ///< [H,R], [H]
  at::Tensor w2, b2;  ///< [H,H], [H]
  at::Tensor w3, b3;  ///< [P,H], [P]: V

  double inputs() const { return static_cast<double>(w1.size(1)); }
  double hidden() const { return static_cast<double>(w1.size(0)); }
  double of_edge() const { return static_cast<double>(w3.size(0)); }
  /// Elements of each, for Tape::parameters().
  std::vector<double> elements() const {
    const double h = hidden();
    return {inputs() * h, h, h * h, h, of_edge() * h, of_edge()};
  }
};

/// What a product is taken over; shared by the layers of a network.
struct ProductEdges {
  MoleculeEdges edges;
  at::Tensor harmonics;  ///< [E,9] in the order of `edges`
  at::Tensor radial;     ///< [E,R] the same

  /// What the kernels of a card read: copies there, in the type of its states, made by the first
  /// layer that asks and kept for the others and their backward passes. Not from several threads at
  /// once.
  struct OnCard {
    at::Tensor lists;  ///< source, target, by_source, target_ptr, source_ptr; int32
    at::Tensor harmonics, radial;
  };
  mutable OnCard on_card{};
};

/// [N,irreps.dim()] to [N,irreps.gated().dim()], in float or double; sums have a fixed order,
/// whatever the number of threads. On a card by kernels of its own (card_product.h), where it has
/// any. Gradients go to x and the weights, not to the edges. With `only_scalars` x has no vectors
/// and tensors but zeros, and paths from them are left out.
at::Tensor tensor_product(const at::Tensor& x, const RadialWeights& weights,
                          const std::shared_ptr<const ProductEdges>& over, const Irreps& irreps,
                          bool only_scalars = false);

/// What it holds, by the kernels of the step.
Value count_tensor_product(PocketCount& step, const Value& x, const RadialWeights& weights,
                           PocketCount::Edges& edges, const Irreps& irreps, bool only_scalars);

/// The same with the weights of each edge held, in plain tensor operations: the reference, and what
/// runs on other devices. Differentiable in everything.
at::Tensor plain_tensor_product(const at::Tensor& x, const RadialWeights& weights,
                                const at::Tensor& source, const at::Tensor& target,
                                const at::Tensor& harmonics, const at::Tensor& radial,
                                const Irreps& irreps);
Value count_plain_tensor_product(PocketCount& step, const Value& x, const RadialWeights& weights,
                                 const PocketCount::Edges& edges, const Irreps& irreps);

/// Into how many parts the work of a product is divided, whatever the number of threads: gradients
/// of weights and states are kept once a part.
int64_t product_parts_of(int64_t nodes, int64_t edges);

/// h of each edge, [E,H].
at::Tensor radial_hidden(const at::Tensor& radial, const RadialWeights& weights);

}  // namespace kdgat::molecules
