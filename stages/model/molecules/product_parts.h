// The parts of the fast tensor product: what is done of a range of nodes. Private to
// tensor_product.cpp. See there, and product_plan.h for how arrays stand.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <utility>
#include <vector>

#include "model/molecules/product_plan.h"
#include "model/molecules/tensor_product.h"

namespace kdgat::model {

/// The last layer of the radial network, V and its bias, in the order that mixing reads them, or
/// gradients of these. Undefined where no path has channels.
struct MixingWeights {
  /// For each l3: [U H, W] and [U, W] with U channels in and W out, of the paths mixed at the target.
  std::array<at::Tensor, 3> target, target_bias;
  /// For each l1: [U, H Q] and [U, Q] with U channels in, of the paths mixed at the source.
  std::array<at::Tensor, 3> source, source_bias;

  MixingWeights() = default;
  MixingWeights(const ProductPlan& plan, const RadialWeights& weights);
  MixingWeights zeros() const;
  void add(const MixingWeights& other);
  /// Of gradients: those of w3 and b3.
  std::pair<at::Tensor, at::Tensor> to_edge_weights(const ProductPlan& plan,
                                                    const RadialWeights& weights) const;
};

/// Gradients of w1, b1, w2, b2 from that of h, [E,H]; edges in pieces.
std::vector<at::Tensor> radial_gradients(const at::Tensor& radial, const RadialWeights& weights,
                                         const at::Tensor& grad_hidden);

/// What all parts read. States by component.
template <class T>
struct ProductArrays {
  ProductArrays(const ProductPlan& plan, const ProductEdges& over, const MixingWeights& mixing,
                const at::Tensor& x, const at::Tensor& hidden)
      : plan(plan),
        edges(over.edges),
        mixing(mixing),
        x(x),
        harmonics(over.harmonics.const_data_ptr<T>()),
        hidden(hidden.const_data_ptr<T>()),
        width(hidden.size(1)) {}

  const ProductPlan& plan;
  const MoleculeEdges& edges;
  const MixingWeights& mixing;
  const at::Tensor& x;  ///< [N,dim]
  const T* harmonics;   ///< [E,9]
  const T* hidden;      ///< [E,width]
  int64_t width;        ///< H
};

/// messages[e] = h_e V x_j of the paths mixed at the source, [E,p_columns]: all edges out of the nodes.
template <class T>
void source_messages(const ProductArrays<T>& in, int64_t begin, int64_t end, T* messages);
/// out[i], [N,gated dim] by component, of nodes [begin, end).
template <class T>
void target_sums(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* messages, T* out);

/// Backward of source_messages(): grad_hidden of the edges out of the nodes and grad_x of the nodes
/// are set, gradients of weights grow.
template <class T>
void source_gradients(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* grad_out,
                      T* grad_hidden, T* grad_x, MixingWeights& grad);
/// Backward of target_sums(): grad_hidden of the edges into the nodes, grad_x [N,dim] of their
/// sources and gradients of weights grow.
template <class T>
void target_gradients(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* grad_out,
                      T* grad_hidden, T* grad_x, MixingWeights& grad);

}  // namespace kdgat::model
