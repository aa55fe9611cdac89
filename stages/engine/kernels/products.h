// Products of tall matrices with small ones, as linear layers need them, forward and backward.
//
// R rows, I inputs, C or O outputs. Float or double, all of one type and device. `in_bfloat16`:
// factors of float are rounded to bfloat16 where the processor multiplies these (AVX512-BF16); sums
// and results stay float. Not differentiable: engine/model/layers/linear.h is.
#pragma once

#include <ATen/core/Tensor.h>

namespace kdgat::kernels {

struct ProductKernels {
  /// a_RI b_IC, plus bias_C in each row where it is defined. On the CPU the sums over I have one
  /// order, whatever the number of threads.
  at::Tensor (*product)(const at::Tensor& a_RI, const at::Tensor& b_IC, const at::Tensor& bias_C,
                        bool in_bfloat16);
  /// sum_OI += g_RO^T x_RI, and sum_O += the sums of the columns of g where it is defined. sum_OI
  /// is contiguous.
  void (*add_product)(at::Tensor& sum_OI, at::Tensor& sum_O, const at::Tensor& g_RO,
                      const at::Tensor& x_RI, bool in_bfloat16);
  /// Whether `in_bfloat16` rounds, and is worth it for a forward pass of so many rows and inputs:
  /// where it is not, LibTorch has products of bfloat16 too.
  bool (*rounds)(int64_t rows, int64_t inputs);

  static const ProductKernels& cpu();
  /// By LibTorch; of CUDA too, whose library is hard to beat.
  static const ProductKernels& plain();
};

}  // namespace kdgat::kernels
