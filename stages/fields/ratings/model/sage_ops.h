// The kernels of GraphSAGE on tensors: shared by threads, and the same in plain tensor operations
// for tests. Private to sage.cpp and its tests. Tensors are of one dtype, float or double, on the
// CPU; rows may be apart (views of columns), columns are not.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "engine/kernels/cpu/isa/sage_table.h"

namespace kdgat::ratings {

enum class SageAggregator { kMax, kMean };

/// m [rows, C] = max or mean of h [N, C] over the neighbours of each row; argmax [rows, C] int32,
/// of max alone.
void sage_aggregate(SageAggregator kind, const kernels::isa::SageRows& graph, const at::Tensor& h,
                    const at::Tensor& m, const at::Tensor& argmax);
/// Backward: grad_h [N, C], contiguous, grows.
void sage_scatter(SageAggregator kind, const kernels::isa::SageRows& graph,
                  const at::Tensor& grad_m, const at::Tensor& argmax, const at::Tensor& grad_h);
/// out [N, C] = dropout(relu(z + h + bias)); h may be undefined.
void sage_activate(const at::Tensor& z, const at::Tensor& h, const at::Tensor& bias,
                   const kernels::isa::SageDrop& drop, double p, const at::Tensor& out);
/// grad [N, C] = out > 0 ? grad / (1 - p) : 0 in place.
void sage_activate_grad(const at::Tensor& out, double p, const at::Tensor& grad);

/// The same, by [edges, C] tensors.
namespace plain {
void sage_aggregate(SageAggregator kind, const kernels::isa::SageRows& graph, const at::Tensor& h,
                    const at::Tensor& m, const at::Tensor& argmax);
void sage_scatter(SageAggregator kind, const kernels::isa::SageRows& graph,
                  const at::Tensor& grad_m, const at::Tensor& argmax, const at::Tensor& grad_h);
}  // namespace plain

/// Key of the noise of a layer in a step.
uint64_t sage_noise(uint64_t seed, int64_t step, uint64_t layer);

}  // namespace kdgat::ratings
