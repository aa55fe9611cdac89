#include "fields/space/model/products.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include "engine/kernels/kernels_for.h"
#include "engine/kernels/products.h"

namespace kdgat::space {

Products::Products(at::DeviceType device)
    : type_(at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                      : at::kFloat) {}

at::Tensor Products::times(const at::Tensor& a_RI, const at::Tensor& b_IC) const {
  if (is_short()) return at::mm(a_RI.to(type_), b_IC.to(type_)).to(a_RI.scalar_type());
  return kernels::kernels_for<kernels::ProductKernels>(a_RI.device())
      .product(a_RI, b_IC, {}, false);
}

void Products::add_gradient(at::Tensor& sum_CI, const at::Tensor& g_RC,
                            const at::Tensor& x_RI) const {
  if (is_short()) {
    sum_CI.add_(at::mm(g_RC.t().to(type_), x_RI.to(type_)));
    return;
  }
  at::Tensor no_bias;
  kernels::kernels_for<kernels::ProductKernels>(g_RC.device())
      .add_product(sum_CI, no_bias, g_RC, x_RI, false);
}

}  // namespace kdgat::space
