// The tensor product on a card. Private to tensor_product.cpp and tests.
//
// A path's weights are mixed once a node, at its target: what is summed over the edges into a node
// is h z, with z the coupled state of an edge, and a product of matrices makes the result of it.
// The sums of some nodes and the states of all edges are held, for one path at a time.
#pragma once

#include <memory>

#include "fields/molecules/model/tensor_product.h"

namespace kdgat::molecules {

/// Numbers of sums that are held at a time.
constexpr int64_t kCardBlock = 1 << 24;

/// As tensor_product(), with kernels of the device of x (engine/kernels/cuda/device.h). `block`
/// numbers of sums are held at a time, those of a node at least.
at::Tensor card_tensor_product(const at::Tensor& x, const RadialWeights& weights,
                               const std::shared_ptr<const ProductEdges>& over,
                               const Irreps& irreps, bool only_scalars, int64_t block = kCardBlock);

Value count_card_tensor_product(PocketCount& step, const Value& x, const RadialWeights& weights,
                                PocketCount::Edges& edges, const Irreps& irreps, bool only_scalars);

}  // namespace kdgat::molecules
