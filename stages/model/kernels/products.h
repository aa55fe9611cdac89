// Products of tall matrices with small ones, as linear layers need them, forward and backward.
//
// R rows, I inputs, C or O outputs. Float or double, all of one type and device. Not differentiable:
// layers/linear.h is.
#pragma once

#include <ATen/core/Tensor.h>

namespace kdgat::model {

struct ProductKernels {
  /// a_RI b_IC, plus bias_C in each row where it is defined. On the CPU the sums over I have one order,
  /// whatever the number of threads.
  at::Tensor (*product)(const at::Tensor& a_RI, const at::Tensor& b_IC, const at::Tensor& bias_C);
  /// sum_OI += g_RO^T x_RI, and sum_O += the sums of the columns of g where it is defined. sum_OI is
  /// contiguous.
  void (*add_product)(at::Tensor& sum_OI, at::Tensor& sum_O, const at::Tensor& g_RO,
                      const at::Tensor& x_RI);

  static const ProductKernels& cpu();
  /// By LibTorch; of CUDA too, whose library is hard to beat.
  static const ProductKernels& plain();
};

}  // namespace kdgat::model
