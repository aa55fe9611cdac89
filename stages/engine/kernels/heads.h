// Output heads as wide as the vocabulary with their losses and gradients, in blocks of rows.
//
// N rows (nodes), L inputs, V outputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>

#include "engine/kernels/batch_tensors.h"

namespace kdgat::kernels {

enum class Head { kSoftmax, kSigmoid };

/// What a head is to say: one id a row, or (`batch`) the ids of each node's successors. Not a
/// tensor in a list of arguments, where autograd would look for gradients.
struct HeadTarget {
  at::Tensor id_N;  ///< int32 in [0, V), not checked
  const BatchTensors* batch = nullptr;
};

struct HeadResult {
  at::Tensor loss_N;
  at::Tensor grad_z, grad_weight, grad_bias;  ///< of the sum of losses; undefined if not asked for
};

/// Rows whose logits cuda() and plain() hold at a time: at most 32 MiB of float or, where there are
/// many rows, 1 KiB for each of them; 1,024 rows at least.
constexpr int64_t rows_of_logits(int64_t outputs, int64_t rows) {
  constexpr int64_t kLogits = int64_t{8} << 20, kOfRow = 256, kLeast = 1024;
  const int64_t logits = std::max(kLogits, kOfRow * rows);
  return std::max(kLeast, logits / std::max<int64_t>(1, outputs) / kLeast * kLeast);
}

struct HeadKernels {
  /// Cross entropy of softmax(z weight^T + bias), or the sum over the row of the binary cross
  /// entropies of its sigmoid; neighbours of one id count once. z [N, L], weight [V, L], bias [V].
  /// `in_bfloat16`: products may round their factors to bfloat16, with sums in float, where the
  /// device has instructions for that; elsewhere nothing changes.
  HeadResult (*losses)(Head head, const at::Tensor& z_NL, const at::Tensor& weight_VL,
                       const at::Tensor& bias_V, const HeadTarget& target, bool with_grad,
                       bool in_bfloat16);

  static const HeadKernels& cpu();
  /// As plain(), in fewer passes over the logits.
  static const HeadKernels& cuda();
  /// Holds the logits of some rows at a time.
  static const HeadKernels& plain();
};

}  // namespace kdgat::kernels
