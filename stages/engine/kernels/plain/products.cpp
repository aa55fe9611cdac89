#include "engine/kernels/products.h"

#include <ATen/ATen.h>

namespace kdgat::kernels {

namespace {

at::Tensor plain_product(const at::Tensor& a_RI, const at::Tensor& b_IC, const at::Tensor& bias_C,
                         bool) {
  return bias_C.defined() ? at::addmm(bias_C, a_RI, b_IC) : at::mm(a_RI, b_IC);
}

void add_plain_product(at::Tensor& sum_OI, at::Tensor& sum_O, const at::Tensor& g_RO,
                       const at::Tensor& x_RI, bool) {
  sum_OI.addmm_(g_RO.t(), x_RI);
  if (sum_O.defined()) sum_O.add_(g_RO.sum(0));
}

bool plain_rounds(int64_t, int64_t) { return false; }

constexpr ProductKernels kProducts = {plain_product, add_plain_product, plain_rounds};

}  // namespace

const ProductKernels& ProductKernels::plain() { return kProducts; }

}  // namespace kdgat::kernels
