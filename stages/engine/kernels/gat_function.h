// A table of attention made of two functions of autograd.
#pragma once

#include "engine/kernels/gat.h"

namespace kdgat::kernels {

/// `First` and `Second` are torch::autograd::Function with the arguments of the table's functions.
template <class First, class Second>
constexpr GatKernels gat_kernels_of() {
  return {
      [](const at::Tensor& h_NC, const at::Tensor& att_src, const at::Tensor& att_dst,
         const at::Tensor& bias, const BatchTensors& batch) -> at::Tensor {
        return First::apply(h_NC, att_src, att_dst, bias, batch);
      },
      [](const at::Tensor& l_NC, const at::Tensor& r_NC, const at::Tensor& lin_edge,
         const at::Tensor& att, const at::Tensor& bias, const BatchTensors& batch) -> at::Tensor {
        return Second::apply(l_NC, r_NC, lin_edge, att, bias, batch);
      }};
}

}  // namespace kdgat::kernels
