#include "model/space/products.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/autocast_mode.h>

#include <algorithm>

#include "model/kernels/isa.h"
#include "model/kernels/kernels.h"
#include "model/kernels/parallel.h"

namespace kdgat::model {

namespace {

constexpr int64_t kLeastRows = 16;
constexpr int64_t kMultiplyAdds = 8;  // that take as long as touching an element
constexpr int64_t kGroupRows = 2048;  // rows that share one sum, at least
constexpr int64_t kMaxGroups = 8;

/// `columns` are those of the result.
bool has_kernel(const at::Tensor& rows, const at::Tensor& other, int64_t columns) {
  return rows.is_cpu() && columns % kernels::kHeadPadding == 0 && rows.size(0) >= kLeastRows &&
         rows.is_contiguous() && other.is_contiguous();
}

}  // namespace

Products::Products(at::DeviceType device)
    : type_(at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                      : at::kFloat) {}

at::Tensor Products::times(const at::Tensor& a_RI, const at::Tensor& b_IC) const {
  if (is_short()) return at::mm(a_RI.to(type_), b_IC.to(type_)).to(a_RI.scalar_type());
  const int64_t rows = a_RI.size(0), inputs = a_RI.size(1), columns = b_IC.size(1);
  if (!has_kernel(a_RI, b_IC, columns)) return at::mm(a_RI, b_IC);
  at::Tensor out = at::empty({rows, columns}, a_RI.options());
  const at::Tensor bias = at::zeros({columns}, a_RI.options());
  AT_DISPATCH_FLOATING_TYPES(a_RI.scalar_type(), "products", [&] {
    const scalar_t* a = a_RI.const_data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    for_blocks(row_blocks(rows), rows * inputs * columns / kMultiplyAdds, [&](int64_t block) {
      const int64_t first = block * kBlockRows;
      kernel_table<scalar_t>().head_logits(
          a + first * inputs, b_IC.const_data_ptr<scalar_t>(), bias.const_data_ptr<scalar_t>(),
          std::min(kBlockRows, rows - first), inputs, columns, to + first * columns);
    });
  });
  return out;
}

void Products::add_gradient(at::Tensor& sum_CI, const at::Tensor& g_RC,
                            const at::Tensor& x_RI) const {
  if (is_short()) {
    sum_CI.add_(at::mm(g_RC.t().to(type_), x_RI.to(type_)));
    return;
  }
  const int64_t rows = g_RC.size(0), outputs = g_RC.size(1), inputs = x_RI.size(1);
  if (!has_kernel(g_RC, x_RI, inputs) || !sum_CI.is_contiguous()) {
    sum_CI.addmm_(g_RC.t(), x_RI);
    return;
  }
  // Each group of rows has a sum of its own: how many there are depends on the rows alone.
  const int64_t groups = std::clamp<int64_t>(rows / kGroupRows, 1, kMaxGroups);
  const at::Tensor sums =
      groups == 1 ? sum_CI.unsqueeze(0) : at::zeros({groups, outputs, inputs}, sum_CI.options());
  AT_DISPATCH_FLOATING_TYPES(g_RC.scalar_type(), "products", [&] {
    for_blocks(groups, rows * inputs * outputs / kMultiplyAdds, [&](int64_t group) {
      const int64_t first = rows * group / groups, end = rows * (group + 1) / groups;
      kernel_table<scalar_t>().head_grad_weights(
          x_RI.const_data_ptr<scalar_t>() + first * inputs,
          g_RC.const_data_ptr<scalar_t>() + first * outputs, end - first, outputs, inputs,
          sums.data_ptr<scalar_t>() + group * outputs * inputs);
    });
  });
  if (groups > 1) sum_CI.add_(sums.sum(0));
}

}  // namespace kdgat::model
