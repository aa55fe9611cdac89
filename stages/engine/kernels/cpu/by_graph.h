// The kernels of norm.h that work graph by graph, on the CPU. Private to the table in norm.cpp.
#pragma once

#include "engine/kernels/norm.h"

namespace kdgat::kernels::cpu {

/// Room for the gradient of an input that is made number by number of `grad`, that of the output:
/// its own where nobody else holds it, so that a step needs less memory and touches less of it.
at::Tensor room_of(const at::Tensor& grad);

at::Tensor graph_norm(const at::Tensor& x_NC, const GraphNormWeights& norm, double p,
                      uint32_t layer, const BatchTensors& batch);
at::Tensor relu_dropout(const at::Tensor& x, double p, uint32_t layer, const BatchTensors& batch,
                        bool of_graphs, bool may_overwrite);
at::Tensor uniform(const BatchTensors& batch, int64_t columns, uint32_t layer);
at::Tensor mean_pool(const at::Tensor& x_NC, const BatchTensors& batch);

}  // namespace kdgat::kernels::cpu
