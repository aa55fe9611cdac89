// Sums along a chunk of third-order paths (engine/arrays/paths.h), the geometry of paths and its
// radial basis functions. Columns are channels, C of them. Nothing here is differentiable: forward
// and backward are written out.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/arrays/paths.h"

namespace kdgat::kernels {

/// Geometry of a chunk of paths, in the type and on the device of the positions; see
/// fields/space/model/path_features.h.
struct PathFeatures {
  at::Tensor d_ij;                  ///< [arcs]
  at::Tensor d_jk, theta_ijk;       ///< [triplets]
  at::Tensor d_jp, theta_ijp, phi;  ///< [paths]
};

/// Rows in runs, and the node each row reads.
struct RowRuns {
  const at::Tensor& ptr;   ///< int32 [runs+1]
  const at::Tensor& node;  ///< int32 [rows]
};

/// Gaussians exp(-(x - m spacing)^2 / (2 spacing^2)), m = 0 .. centres-1; on a circle of `period`
/// unless that is 0.
struct Gaussians {
  int64_t centres;
  double spacing, period;
};

struct PathKernels {
  PathFeatures (*features)(const at::Tensor& pos_N3, const arrays::PathChunk& chunk);
  /// Columns [first, first + centres) of `out` become the Gaussians of x.
  void (*smear)(const at::Tensor& x, const Gaussians& gaussians, const at::Tensor& out,
                int64_t first);
  /// x_RC += of_run_UC[run] + table_NC[node], in place, then ReLU if `relu`. The table may be
  /// columns of a wider one.
  void (*add_runs)(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& of_run_UC,
                   const at::Tensor& table_NC, bool relu);
  /// Backward: grad_RC, masked in place by out_RC > 0 where that is defined, summed into a new
  /// [runs, C], which is returned, and added to table_NC.
  at::Tensor (*sum_runs)(at::Tensor& grad_RC, const at::Tensor& out_RC, const RowRuns& runs,
                         const at::Tensor& table_NC);
  /// sums_NC[start of a run] += relu(x_RC + bias_C) over its rows. `runs.node` is [runs].
  void (*relu_sum)(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
                   at::Tensor& sums_NC);
  /// Backward: x_RC becomes its gradient, grad_bias_C grows.
  void (*relu_sum_backward)(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
                            const at::Tensor& grad_sums_NC, at::Tensor& grad_bias_C);

  static const PathKernels& cpu();
  static const PathKernels& cuda();
  static const PathKernels& plain();
};

}  // namespace kdgat::kernels
