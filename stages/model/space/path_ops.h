// The sums along a chunk of paths: with kernels on the CPU, in tensor operations elsewhere.
// Columns are channels, C of them. Private to path_messages.cpp and its tests.
#pragma once

#include <ATen/core/Tensor.h>

#include "graph/paths.h"

namespace kdgat::model {

/// A chunk's runs as tensors on a device; on the CPU they look into the chunk.
struct ChunkIndex {
  ChunkIndex(const graph::PathChunk& chunk, at::Device device);

  int64_t arcs, triplets, paths;
  at::Tensor i_A, j_A;        ///< int32 nodes
  at::Tensor triplet_ptr_A1;  ///< int32
  at::Tensor k_T;
  at::Tensor path_ptr_T1;
  at::Tensor p_P;
  at::Tensor path_ptr_A1;  ///< int32 first path of each arc
};

/// Rows in runs, and the node each row reads.
struct RowRuns {
  const at::Tensor& ptr;   ///< int32 [runs+1]
  const at::Tensor& node;  ///< int32 [rows]
};

/// x_RC += of_run_UC[run] + table_NC[node], in place, then ReLU if `relu`. The table may be columns
/// of a wider one.
void add_runs(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& of_run_UC,
              const at::Tensor& table_NC, bool relu);
/// Backward: grad_RC, masked in place by out_RC > 0 where that is defined, summed into a new
/// [runs, C], which is returned, and added to table_NC.
at::Tensor sum_runs(at::Tensor& grad_RC, const at::Tensor& out_RC, const RowRuns& runs,
                    const at::Tensor& table_NC);
/// sums_NC[start of a run] += relu(x_RC + bias_C) over its rows. `runs.node` is [runs].
void relu_sum(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
              at::Tensor& sums_NC);
/// Backward: x_RC becomes its gradient, grad_bias_C grows.
void relu_sum_backward(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
                       const at::Tensor& grad_sums_NC, at::Tensor& grad_bias_C);

/// The same in plain tensor operations, on any device.
namespace plain {
void add_runs(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& of_run_UC,
              const at::Tensor& table_NC, bool relu);
at::Tensor sum_runs(at::Tensor& grad_RC, const at::Tensor& out_RC, const RowRuns& runs,
                    const at::Tensor& table_NC);
void relu_sum(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
              at::Tensor& sums_NC);
void relu_sum_backward(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
                       const at::Tensor& grad_sums_NC, at::Tensor& grad_bias_C);
}  // namespace plain

}  // namespace kdgat::model
