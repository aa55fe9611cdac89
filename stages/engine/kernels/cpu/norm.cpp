#include <ATen/Dispatch.h>
#include <ATen/record_function.h>
#include <torch/autograd.h>

#include <cmath>
#include <vector>

#include "engine/kernels/cpu/by_graph.h"
#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/norm_statistics.h"
#include "engine/kernels/cpu/parallel.h"
#include "engine/kernels/full_precision.h"
#include "engine/kernels/noise_keys.h"
#include "engine/kernels/norm_function.h"

namespace kdgat::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Sums over rows of `count` numbers each, block by block and then over blocks, in this order
/// whatever the threads. body(first_row, rows, partial).
template <class T, class Body>
std::vector<double> reduce_rows(int64_t rows, int64_t columns, int64_t count, const Body& body) {
  const int64_t blocks = row_blocks(rows);
  const at::Tensor partials =
      at::empty({blocks, count}, at::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value));
  T* partial = partials.data_ptr<T>();
  for_blocks(blocks, rows * columns, [&](int64_t b) {
    const int64_t first = b * kBlockRows;
    body(first, std::min(kBlockRows, rows - first), partial + b * count);
  });
  std::vector<double> out(static_cast<std::size_t>(count), 0.0);
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t c = 0; c < count; ++c) {
      out[static_cast<std::size_t>(c)] += static_cast<double>(partial[b * count + c]);
    }
  }
  return out;
}

/// Of the columns of x, block by block in the order of rows whatever the threads. Squares are
/// around the mean of their block, which is in the cache then: x is read once.
template <class T>
cpu::Moments moments(const at::Tensor& x_NC) {
  const int64_t rows = x_NC.size(0), columns = x_NC.size(1), blocks = row_blocks(rows);
  const at::Tensor parts = at::empty({blocks, 2, columns}, x_NC.options());
  const auto rows_of = [&](int64_t block) {
    return std::min(kBlockRows, rows - block * kBlockRows);
  };
  for_blocks(blocks, 2 * x_NC.numel(), [&](int64_t block) {
    const isa::NormTable<T>& table = loops<T>().norm;
    const T* from = x_NC.const_data_ptr<T>() + block * kBlockRows * columns;
    T* mean = parts.data_ptr<T>() + block * 2 * columns;
    table.mean_rows(from, 0, rows_of(block), columns, mean);
    table.column_sums(from, mean, rows_of(block), columns, 2, mean + columns);
  });
  cpu::Moments all(columns);
  for (int64_t block = 0; block < blocks; ++block) {
    const T* mean = parts.const_data_ptr<T>() + block * 2 * columns;
    all.add(mean, mean + columns, rows_of(block));
  }
  return all;
}

struct NormReluDropout : torch::autograd::Function<NormReluDropout> {
  /// `mean` and `variance` [C]: read in eval mode, written in training mode, as are `all_rows`, the
  /// rows they are of.
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, at::Tensor mean, at::Tensor variance,
                            double* all_rows, bool training, double eps, double p, uint32_t layer,
                            const BatchTensors& batch) {
    RECORD_FUNCTION("kdgat::norm", std::vector<c10::IValue>{input});
    const at::Tensor x = input.contiguous();
    at::Tensor out = at::empty_like(x);
    const int64_t columns = x.size(1);
    const std::vector<isa::DropKey> keys = drop_keys(batch, layer, p);
    const std::vector<int64_t> blocks = graph_blocks(batch, kBlockRows);
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "norm_relu_dropout", [&] {
      const isa::NormTable<scalar_t>& table = loops<scalar_t>().norm;
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      scalar_t* to = out.data_ptr<scalar_t>();
      scalar_t* centre = mean.data_ptr<scalar_t>();
      scalar_t* spread = variance.data_ptr<scalar_t>();
      if (training) {
        *all_rows = moments<scalar_t>(x).of_all(batch.exchange, centre, spread);
      }
      const cpu::NormLine<scalar_t> line(weight, bias, centre, spread, eps);
      for_blocks(static_cast<int64_t>(blocks.size()) - 1, x.numel(), [&](int64_t b) {
        const auto at = static_cast<std::size_t>(b);
        for (int64_t g = blocks[at]; g < blocks[at + 1]; ++g) {
          const int64_t first = node_ptr[g] * columns;
          table.norm_relu_drop(
              from + first, line.gain.data(), line.shift.data(), node_ptr[g + 1] - node_ptr[g],
              columns, keys[static_cast<std::size_t>(g)], scalar_t(1 / (1 - p)), to + first);
        }
      });
    });
    NormMode{training, batch.exchange, eps, 1 / (1 - p)}.save(ctx, x, out, weight, mean, variance);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &out = saved[1], &weight = saved[2];
    const NormMode mode = NormMode::saved(ctx);
    const at::Tensor grad_x = cpu::room_of(grads[0]);
    const at::Tensor grad = grads[0].contiguous();
    variable_list result(11);
    const int64_t rows = x.size(0), columns = x.size(1);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "norm_relu_dropout", [&] {
      const isa::NormTable<scalar_t>& table = loops<scalar_t>().norm;
      const auto scale = static_cast<scalar_t>(mode.scale);
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      const scalar_t* kept = out.const_data_ptr<scalar_t>();
      const scalar_t* given = grad.const_data_ptr<scalar_t>();
      const scalar_t* mean = saved[3].const_data_ptr<scalar_t>();
      const scalar_t* variance = saved[4].const_data_ptr<scalar_t>();
      const std::vector<double> sums = reduce_rows<scalar_t>(
          rows, 3 * columns, 2 * columns, [&](int64_t first, int64_t count, scalar_t* partial) {
            const int64_t at = first * columns;
            table.norm_grad_sums(from + at, mean, kept + at, given + at, scale, count, columns,
                                 partial, partial + columns);
          });
      const cpu::NormSlopes<scalar_t> slopes(weight, variance, mode.eps, mode.training,
                                             mode.exchange, rows, sums);
      result[1] = slopes.grad_weight;
      result[2] = slopes.grad_bias;
      for_blocks(row_blocks(rows), 2 * x.numel(), [&](int64_t block) {
        const int64_t first = block * kBlockRows, at = first * columns;
        table.norm_grad(from + at, mean, kept + at, given + at, scale, slopes.a.data(),
                        slopes.b.data(), slopes.c.data(), std::min(kBlockRows, rows - first),
                        columns, grad_x.data_ptr<scalar_t>() + at);
      });
    });
    result[0] = grad_x;
    return result;
  }
};

constexpr NormKernels kNorm = {batch_norm_by<NormReluDropout>, cpu::graph_norm, cpu::relu_dropout,
                               cpu::uniform, cpu::mean_pool};

}  // namespace

const NormKernels& NormKernels::cpu() { return kNorm; }

}  // namespace kdgat::kernels
