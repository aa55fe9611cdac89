// Matrix products of tall, narrow matrices, rows R by channels: by the kernels of the wide heads
// where these take the shape, else by LibTorch, whose own are slow for such. In 16 bits under
// autocast.
#pragma once

#include <ATen/core/Tensor.h>

namespace kdgat::space {

class Products {
 public:
  /// As autocast is set for the device now.
  explicit Products(at::DeviceType device);

  /// a_RI b_IC, of float or double; b contiguous.
  at::Tensor times(const at::Tensor& a_RI, const at::Tensor& b_IC) const;
  /// sum_CI += g_RC^T x_RI, contiguous.
  void add_gradient(at::Tensor& sum_CI, const at::Tensor& g_RC, const at::Tensor& x_RI) const;

 private:
  bool is_short() const { return type_ != at::kFloat; }

  at::ScalarType type_;
};

}  // namespace kdgat::space
