#include <ATen/Dispatch.h>
#include <ATen/record_function.h>
#include <torch/autograd.h>

#include <cmath>
#include <vector>

#include "model/kernels/cpu/by_graph.h"
#include "model/kernels/cpu/isa/level.h"
#include "model/kernels/cpu/parallel.h"
#include "model/kernels/full_precision.h"
#include "model/kernels/noise_keys.h"
#include "model/kernels/norm_function.h"

namespace kdgat::model {

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

/// Sums over the rows of this process's batch become those of the whole step; returns its rows.
double join(graph::Exchange* exchange, int64_t rows, std::vector<double>& sums) {
  if (exchange == nullptr) return static_cast<double>(rows);
  sums.push_back(static_cast<double>(rows));
  exchange->sum(sums);
  const double all = sums.back();
  sums.pop_back();
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
    const int64_t rows = x.size(0), columns = x.size(1);
    const std::vector<kernels::DropKey> keys = drop_keys(batch, layer, p);
    const std::vector<int64_t> blocks = graph_blocks(batch, kBlockRows);
    const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "norm_relu_dropout", [&] {
      const kernels::NormTable<scalar_t>& table = loops<scalar_t>().norm;
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      scalar_t* to = out.data_ptr<scalar_t>();
      scalar_t* centre = mean.data_ptr<scalar_t>();
      scalar_t* spread = variance.data_ptr<scalar_t>();
      if (training) {
        for (const int power : {1, 2}) {
          std::vector<double> sums = reduce_rows<scalar_t>(
              rows, columns, columns, [&](int64_t first, int64_t count, scalar_t* partial) {
                table.column_sums(from + first * columns, centre, count, columns, power, partial);
              });
          *all_rows = join(batch.exchange, rows, sums);
          for (int64_t c = 0; c < columns; ++c) {
            (power == 1 ? centre : spread)[c] =
                static_cast<scalar_t>(sums[static_cast<std::size_t>(c)] / *all_rows);
          }
        }
      }
      std::vector<scalar_t> gain(static_cast<std::size_t>(columns)), shift(gain.size());
      for (std::size_t c = 0; c < gain.size(); ++c) {
        gain[c] = weight.const_data_ptr<scalar_t>()[c] /
                  std::sqrt(spread[c] + static_cast<scalar_t>(eps));
        shift[c] = bias.const_data_ptr<scalar_t>()[c] - centre[c] * gain[c];
      }
      for_blocks(static_cast<int64_t>(blocks.size()) - 1, x.numel(), [&](int64_t b) {
        const auto at = static_cast<std::size_t>(b);
        for (int64_t g = blocks[at]; g < blocks[at + 1]; ++g) {
          const int64_t first = node_ptr[g] * columns;
          table.norm_relu_drop(
              from + first, gain.data(), shift.data(), node_ptr[g + 1] - node_ptr[g], columns,
              keys[static_cast<std::size_t>(g)], scalar_t(1 / (1 - p)), to + first);
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
    const at::Tensor grad = grads[0].contiguous();
    const at::Tensor grad_x = at::empty_like(x);
    const at::Tensor grad_weight = at::empty_like(weight), grad_bias = at::empty_like(weight);
    const int64_t rows = x.size(0), columns = x.size(1);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "norm_relu_dropout", [&] {
      const kernels::NormTable<scalar_t>& table = loops<scalar_t>().norm;
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
      const auto width = static_cast<std::size_t>(columns);
      std::vector<scalar_t> a(width), b(width, 0), c(width, 0);
      std::vector<double> all = sums;
      const double n = mode.training ? join(mode.exchange, rows, all) : static_cast<double>(rows);
      for (std::size_t k = 0; k < width; ++k) {
        const double inverse = 1 / std::sqrt(static_cast<double>(variance[k]) + mode.eps);
        const double gain = static_cast<double>(weight.const_data_ptr<scalar_t>()[k]) * inverse;
        a[k] = static_cast<scalar_t>(gain);
        if (mode.training) {
          b[k] = static_cast<scalar_t>(gain * inverse * inverse * all[width + k] / n);
          c[k] = static_cast<scalar_t>(gain * all[k] / n);
        }
        grad_weight.data_ptr<scalar_t>()[k] = static_cast<scalar_t>(sums[width + k] * inverse);
        grad_bias.data_ptr<scalar_t>()[k] = static_cast<scalar_t>(sums[k]);
      }
      for_blocks(row_blocks(rows), 2 * x.numel(), [&](int64_t block) {
        const int64_t first = block * kBlockRows, at = first * columns;
        table.norm_grad(from + at, mean, kept + at, given + at, scale, a.data(), b.data(), c.data(),
                        std::min(kBlockRows, rows - first), columns,
                        grad_x.data_ptr<scalar_t>() + at);
      });
    });
    variable_list result(11);
    result[0] = grad_x;
    result[1] = grad_weight;
    result[2] = grad_bias;
    return result;
  }
};

constexpr NormKernels kNorm = {batch_norm_by<NormReluDropout>, cpu::graph_norm, cpu::relu_dropout,
                               cpu::uniform, cpu::mean_pool};

}  // namespace

const NormKernels& NormKernels::cpu() { return kNorm; }

}  // namespace kdgat::model
