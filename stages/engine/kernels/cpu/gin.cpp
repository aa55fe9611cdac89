#include "engine/kernels/gin.h"

#include <ATen/Dispatch.h>
#include <ATen/record_function.h>
#include <torch/autograd.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/norm_statistics.h"
#include "engine/kernels/cpu/parallel.h"
#include "engine/kernels/full_precision.h"
#include "engine/kernels/noise_keys.h"
#include "engine/kernels/norm.h"

// Rows are worked on in pieces that stay in the first cache from one loop to the next. A run of
// whole graphs is what one thread takes: sums over neighbours stay in it. Runs are fixed by the
// batch, so that results do not depend on the number of threads.
//
// A norm takes away what a bias adds, so products here have none: means are those without it, and
// in training its gradient is zero, not what rounding leaves of zero.
namespace kdgat::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kPieceRows = 96;  // a multiple of the rows of a tile (isa/product_loops.h)
constexpr int64_t kRunRows = 2 * kPieceRows;

/// What the layer is of, and how.
struct GinForm {
  bool training = false;
  double eps_inner = 0, eps_outer = 0;  ///< of the norms
  double p = 0;
  uint32_t layer = 0;
};

/// Mean (without the bias) and variance of what enters a norm, [C]: of the batch, or in eval mode
/// the running ones as they are now.
struct GinStatistics {
  GinStatistics(const torch::nn::BatchNorm1dImpl& norm, const at::Tensor& bias, bool training)
      : mean(training ? at::empty_like(norm.running_mean) : norm.running_mean - bias),
        variance(training ? at::empty_like(norm.running_var) : norm.running_var.clone()) {}
  at::Tensor mean, variance;
};

/// Numbers of a thread's own, not set.
template <class T>
std::unique_ptr<T[]> scratch(std::size_t count) {
  return std::make_unique_for_overwrite<T[]>(count);
}

/// The places of what is kept for backward.
enum Kept : std::size_t {
  kInput,
  kSummed,  ///< not without messages: the input is
  kHidden,
  kResult,
  kOut,
  kWeight1,
  kWeight2,
  kInnerWeight,
  kInnerBias,
  kOuterWeight,
  kMean1,
  kVariance1,
  kMean2,
  kVariance2,
  kInPtr,
  kSource,
  kEps,
  kKept
};

/// Calls body(begin, rows) for the pieces of the rows [begin, end).
template <class Body>
void for_pieces(int64_t begin, int64_t end, const Body& body) {
  for (int64_t at = begin; at < end; at += kPieceRows) body(at, std::min(kPieceRows, end - at));
}

/// c = a b of matrices [rows, inner] and [inner, columns].
template <class T>
void multiply(const T* a, const T* b, T* c, int64_t rows, int64_t columns, int64_t inner) {
  loops<T>().product.product({a, inner, 1, b, columns, c, columns, rows, columns, inner, false});
}
/// a^T b of [rows, left] and [rows, right], added to c [left, right].
template <class T>
void multiply_transposed(const T* a, const T* b, T* c, int64_t rows, int64_t left, int64_t right) {
  loops<T>().product.product({a, 1, left, b, right, c, right, left, right, rows, true});
}

template <class T>
std::vector<T> turned(const at::Tensor& weight) {
  std::vector<T> out(static_cast<std::size_t>(weight.numel()));
  loops<T>().product.transpose(weight.const_data_ptr<T>(), weight.size(1), out.data(),
                               weight.size(0), weight.size(0), weight.size(1));
  return out;
}

/// A piece's rows enter the moments of their run. `work`: two rows.
template <class T>
void observe(const T* x, int64_t rows, int64_t columns, T* work, cpu::Moments& moments) {
  T *mean = work, *squares = mean + columns;
  loops<T>().norm.mean_rows(x, 0, rows, columns, mean);
  loops<T>().norm.column_sums(x, mean, rows, columns, 2, squares);
  moments.add(mean, squares, rows);
}

/// The moments of all runs, in their order.
template <class T>
double join_moments(const std::vector<cpu::Moments>& runs, graph::Exchange* exchange,
                    const GinStatistics& to) {
  cpu::Moments all(to.mean.numel());
  for (const cpu::Moments& run : runs) all.add(run);
  return all.of_all(exchange, to.mean.data_ptr<T>(), to.variance.data_ptr<T>());
}

/// The sum of arrays of `count`, one after another, in their order.
template <class T>
std::vector<double> sum_of(const std::vector<T>& arrays, int64_t count) {
  std::vector<double> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    out[i % out.size()] += static_cast<double>(arrays[i]);
  }
  return out;
}

/// The rows of `partials` [runs, count] added up into the first, in their order.
template <class T>
const T* add_up(const at::Tensor& partials) {
  T* const to = partials.data_ptr<T>();
  const int64_t count = partials.size(1);
  for (int64_t run = 1; run < partials.size(0); ++run) {
    const T* from = to + run * count;
    for (int64_t i = 0; i < count; ++i) to[i] += from[i];
  }
  return to;
}

/// Of a bias that goes into a norm.
template <class T>
at::Tensor grad_of_bias(const cpu::NormSlopes<T>& norm, bool training) {
  if (training) return at::zeros_like(norm.grad_bias);
  at::Tensor out = norm.grad_bias.clone();
  for (std::size_t c = 0; c < norm.a.size(); ++c) out.data_ptr<T>()[c] *= norm.a[c];
  return out;
}

struct GinLayer : torch::autograd::Function<GinLayer> {
  /// `weights`: weight and bias of the first product, the inner norm, the second product and the
  /// outer norm; eps. Statistics are read in eval mode and written in training mode, as are
  /// `all_rows`, the rows they are of.
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, at::TensorList weights,
                            const GinStatistics& inner, const GinStatistics& outer,
                            double* all_rows, const GinForm& form, const BatchTensors& batch) {
    RECORD_FUNCTION("kdgat::gin", std::vector<c10::IValue>{input});
    const at::Tensor x = input.contiguous(), weight_1 = weights[0].contiguous(),
                     weight_2 = weights[4].contiguous();
    const bool has_messages = weights.size() > 8;
    const at::Tensor eps = has_messages ? weights[8] : at::Tensor();
    const int64_t inputs = x.size(1), width = weight_1.size(0);
    const at::Tensor summed = has_messages ? at::empty_like(x) : x;
    const at::Tensor hidden = at::empty({x.size(0), width}, x.options());
    const at::Tensor result = at::empty_like(hidden);
    at::Tensor out = at::empty_like(hidden);

    const std::vector<int64_t> graphs = graph_blocks(batch, std::max({kRunRows, inputs, width}));
    const auto* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
    std::vector<int64_t> rows;
    rows.reserve(graphs.size());
    for (const int64_t g : graphs) rows.push_back(node_ptr[g]);
    const auto runs = static_cast<int64_t>(graphs.size()) - 1;
    const std::vector<isa::DropKey> keys =
        form.p > 0 ? drop_keys(batch, form.layer, form.p) : std::vector<isa::DropKey>();

    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gin_layer", [&] {
      using T = scalar_t;
      const isa::Tables<T>& table = loops<T>();
      T *const s = summed.data_ptr<T>(), *const h = hidden.data_ptr<T>(),
               *const o = result.data_ptr<T>();
      const auto columns = static_cast<std::size_t>(width);
      std::vector<cpu::Moments> moments(static_cast<std::size_t>(runs), cpu::Moments(width));

      const std::vector<T> turned_1 = turned<T>(weight_1);
      const isa::SumArgs<T> sums = {batch.in_ptr_N1.const_data_ptr<int32_t>(),
                                    batch.in_source_E.const_data_ptr<int32_t>(),
                                    x.const_data_ptr<T>(),
                                    s,
                                    inputs,
                                    has_messages ? 1 + eps.const_data_ptr<T>()[0] : T(0),
                                    0};
      for_blocks(runs, 2 * x.size(0) * (inputs + width), [&](int64_t run) {
        const auto at = static_cast<std::size_t>(run);
        const auto work = scratch<T>(2 * columns);
        for_pieces(rows[at], rows[at + 1], [&](int64_t first, int64_t count) {
          if (has_messages) table.sum.gather(sums, first, first + count);
          T* to = h + first * width;
          multiply(s + first * inputs, turned_1.data(), to, count, width, inputs);
          if (form.training) observe(to, count, width, work.get(), moments[at]);
        });
      });
      if (form.training) *all_rows = join_moments<T>(moments, batch.exchange, inner);

      const cpu::NormLine<T> line_1(weights[2], weights[3], inner.mean.const_data_ptr<T>(),
                                    inner.variance.const_data_ptr<T>(), form.eps_inner);
      const std::vector<T> turned_2 = turned<T>(weight_2);
      std::fill(moments.begin(), moments.end(), cpu::Moments(width));
      for_blocks(runs, 4 * x.size(0) * width, [&](int64_t run) {
        const auto at = static_cast<std::size_t>(run);
        const auto work = scratch<T>(2 * columns), relu = scratch<T>(kPieceRows * columns);
        for_pieces(rows[at], rows[at + 1], [&](int64_t first, int64_t count) {
          T* to = o + first * width;
          table.norm.norm_relu(h + first * width, line_1.gain.data(), line_1.shift.data(), count,
                               width, relu.get());
          multiply(relu.get(), turned_2.data(), to, count, width, width);
          if (form.training) observe(to, count, width, work.get(), moments[at]);
        });
      });
      if (form.training) join_moments<T>(moments, batch.exchange, outer);

      const cpu::NormLine<T> line_2(weights[6], weights[7], outer.mean.const_data_ptr<T>(),
                                    outer.variance.const_data_ptr<T>(), form.eps_outer);
      T* const y = out.data_ptr<T>();
      for_blocks(runs, x.size(0) * width, [&](int64_t run) {
        const auto at = static_cast<std::size_t>(run);
        if (keys.empty()) {
          const int64_t first = rows[at] * width;
          return table.norm.norm_relu(o + first, line_2.gain.data(), line_2.shift.data(),
                                      rows[at + 1] - rows[at], width, y + first);
        }
        for (int64_t g = graphs[at]; g < graphs[at + 1]; ++g) {
          const int64_t first = node_ptr[g] * width;
          table.norm.norm_relu_drop(
              o + first, line_2.gain.data(), line_2.shift.data(), node_ptr[g + 1] - node_ptr[g],
              width, keys[static_cast<std::size_t>(g)], T(1 / (1 - form.p)), y + first);
        }
      });
    });

    variable_list kept(kKept);
    kept[kInput] = x;
    if (has_messages) {
      kept[kSummed] = summed;
      kept[kEps] = eps;
      kept[kInPtr] = batch.in_ptr_N1;
      kept[kSource] = batch.in_source_E;
    }
    kept[kHidden] = hidden;
    kept[kResult] = result;
    kept[kOut] = out;
    kept[kWeight1] = weight_1;
    kept[kWeight2] = weight_2;
    kept[kInnerWeight] = weights[2];
    kept[kInnerBias] = weights[3];
    kept[kOuterWeight] = weights[6];
    kept[kMean1] = inner.mean;
    kept[kVariance1] = inner.variance;
    kept[kMean2] = outer.mean;
    kept[kVariance2] = outer.variance;
    ctx->save_for_backward(std::move(kept));
    ctx->saved_data["rows"] = rows;
    ctx->saved_data["training"] = form.training;
    ctx->saved_data["exchange"] = reinterpret_cast<int64_t>(batch.exchange);
    ctx->saved_data["eps_inner"] = form.eps_inner;
    ctx->saved_data["eps_outer"] = form.eps_outer;
    ctx->saved_data["scale"] = 1 / (1 - form.p);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list kept = ctx->get_saved_variables();
    const bool has_messages = kept[kSummed].defined(),
               training = ctx->saved_data["training"].toBool();
    const std::vector<int64_t> rows = ctx->saved_data["rows"].toIntVector();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): autograd keeps numbers, no pointers
    auto* exchange = reinterpret_cast<graph::Exchange*>(ctx->saved_data["exchange"].toInt());
    const double scale_of_kept = ctx->saved_data["scale"].toDouble();
    const double eps_inner = ctx->saved_data["eps_inner"].toDouble(),
                 eps_outer = ctx->saved_data["eps_outer"].toDouble();
    const at::Tensor &x = kept[kInput], &weight_1 = kept[kWeight1], &weight_2 = kept[kWeight2];
    const at::Tensor& summed = has_messages ? kept[kSummed] : x;
    const at::Tensor grad = grads[0].contiguous();
    const int64_t nodes = x.size(0), inputs = x.size(1), width = weight_1.size(0);
    const auto runs = static_cast<int64_t>(rows.size()) - 1;
    const auto columns = static_cast<std::size_t>(width);
    const bool wants_x = ctx->needs_input_grad(0);

    variable_list out(1 + (has_messages ? 9 : 8) + 5);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gin_layer", [&] {
      using T = scalar_t;
      const isa::Tables<T>& table = loops<T>();
      const auto scale = static_cast<T>(scale_of_kept);
      const T *const h = kept[kHidden].const_data_ptr<T>(),
                     *const o = kept[kResult].const_data_ptr<T>(),
                     *const y = kept[kOut].const_data_ptr<T>(),
                     *const given = grad.const_data_ptr<T>(), *const s = summed.const_data_ptr<T>();
      const T *const mean_1 = kept[kMean1].const_data_ptr<T>(),
                     *const variance_1 = kept[kVariance1].const_data_ptr<T>(),
                     *const mean_2 = kept[kMean2].const_data_ptr<T>(),
                     *const variance_2 = kept[kVariance2].const_data_ptr<T>();
      const cpu::NormLine<T> line_1(kept[kInnerWeight], kept[kInnerBias], mean_1, variance_1,
                                    eps_inner);
      std::vector<double> sums(static_cast<std::size_t>(runs) * 2 * columns);
      const auto add_sums = [&](std::size_t run, const std::vector<T>& piece) {
        double* to = sums.data() + run * 2 * columns;
        for (std::size_t c = 0; c < piece.size(); ++c) to[c] += static_cast<double>(piece[c]);
      };

      // Of the outer norm, what all rows have in common.
      for_blocks(runs, 3 * nodes * width, [&](int64_t run) {
        const auto at = static_cast<std::size_t>(run);
        std::vector<T> piece(2 * columns);
        for_pieces(rows[at], rows[at + 1], [&](int64_t row, int64_t count) {
          const int64_t first = row * width;
          table.norm.norm_grad_sums(o + first, mean_2, y + first, given + first, scale, count,
                                    width, piece.data(), piece.data() + width);
          add_sums(at, piece);
        });
      });
      const cpu::NormSlopes<T> slopes_2(kept[kOuterWeight], variance_2, eps_outer, training,
                                        exchange, nodes, sum_of(sums, 2 * width));
      out[6] = grad_of_bias(slopes_2, training);
      out[7] = slopes_2.grad_weight;
      out[8] = slopes_2.grad_bias;

      // Through the outer norm and the second product.
      const at::Tensor grad_relu = at::empty({nodes, width}, x.options());
      T* const g = grad_relu.data_ptr<T>();
      {
        const at::Tensor partials = at::zeros({runs, width * width}, x.options());
        std::fill(sums.begin(), sums.end(), 0.0);
        for_blocks(runs, 8 * nodes * width, [&](int64_t run) {
          const auto at = static_cast<std::size_t>(run);
          T* const weight = partials.data_ptr<T>() + run * partials.size(1);
          std::vector<T> piece(2 * columns);
          const auto relu = scratch<T>(kPieceRows * columns),
                     back = scratch<T>(kPieceRows * columns);
          for_pieces(rows[at], rows[at + 1], [&](int64_t row, int64_t count) {
            const int64_t first = row * width;
            table.norm.norm_grad(o + first, mean_2, y + first, given + first, scale,
                                 slopes_2.a.data(), slopes_2.b.data(), slopes_2.c.data(), count,
                                 width, back.get());
            table.norm.norm_relu(h + first, line_1.gain.data(), line_1.shift.data(), count, width,
                                 relu.get());
            multiply_transposed(back.get(), relu.get(), weight, count, width, width);
            multiply(back.get(), weight_2.const_data_ptr<T>(), g + first, count, width, width);
            table.norm.norm_grad_sums(h + first, mean_1, relu.get(), g + first, T(1), count, width,
                                      piece.data(), piece.data() + width);
            add_sums(at, piece);
          });
        });
        out[5] = at::empty_like(weight_2);
        std::copy_n(add_up<T>(partials), width * width, out[5].data_ptr<T>());
      }
      const cpu::NormSlopes<T> slopes_1(kept[kInnerWeight], variance_1, eps_inner, training,
                                        exchange, nodes, sum_of(sums, 2 * width));
      out[2] = grad_of_bias(slopes_1, training);
      out[3] = slopes_1.grad_weight;
      out[4] = slopes_1.grad_bias;

      // Through the inner norm, the first product and the sums over neighbours. Where the input
      // needs no gradient, that of eps is by x^T g of the products' inputs: less than g W.
      const bool by_weight = has_messages && !wants_x;
      const int64_t area = inputs * width;
      if (wants_x) out[0] = at::empty_like(x);
      const at::Tensor partials = at::zeros({runs, (by_weight ? 2 : 1) * area}, x.options());
      std::vector<double> of_eps(static_cast<std::size_t>(runs));
      isa::SumArgs<T> scatter = {};
      if (has_messages) {
        scatter = {kept[kInPtr].const_data_ptr<int32_t>(),
                   kept[kSource].const_data_ptr<int32_t>(),
                   nullptr,
                   wants_x ? out[0].data_ptr<T>() : nullptr,
                   inputs,
                   1 + kept[kEps].const_data_ptr<T>()[0],
                   0};
      }
      for_blocks(runs, 4 * nodes * (inputs + width), [&](int64_t run) {
        const auto at = static_cast<std::size_t>(run);
        T* const weight = partials.data_ptr<T>() + run * partials.size(1);
        const auto relu = scratch<T>(kPieceRows * columns), back = scratch<T>(kPieceRows * columns),
                   through = scratch<T>(static_cast<std::size_t>(kPieceRows * inputs));
        if (wants_x && has_messages) {
          std::fill(out[0].data_ptr<T>() + rows[at] * inputs,
                    out[0].data_ptr<T>() + rows[at + 1] * inputs, T(0));
        }
        for_pieces(rows[at], rows[at + 1], [&](int64_t row, int64_t count) {
          const int64_t first = row * width;
          const T* const from = x.const_data_ptr<T>() + row * inputs;
          table.norm.norm_relu(h + first, line_1.gain.data(), line_1.shift.data(), count, width,
                               relu.get());
          table.norm.norm_grad(h + first, mean_1, relu.get(), g + first, T(1), slopes_1.a.data(),
                               slopes_1.b.data(), slopes_1.c.data(), count, width, back.get());
          multiply_transposed(s + row * inputs, back.get(), weight, count, inputs, width);
          if (by_weight) multiply_transposed(from, back.get(), weight + area, count, inputs, width);
          if (!wants_x) return;
          T* const to = has_messages ? through.get() : out[0].data_ptr<T>() + row * inputs;
          multiply(back.get(), weight_1.const_data_ptr<T>(), to, count, inputs, width);
          if (!has_messages) return;
          of_eps[at] += static_cast<double>(table.product.dot(to, from, count * inputs));
          isa::SumArgs<T> args = scatter;
          args.x = to;
          args.first = row;
          table.sum.scatter(args, row, row + count);
        });
      });
      const T* all = add_up<T>(partials);
      out[1] = at::empty_like(weight_1);
      table.product.transpose(all, width, out[1].data_ptr<T>(), inputs, inputs, width);
      if (has_messages) {
        double total = sum_of(of_eps, 1)[0];
        if (by_weight) {
          const std::vector<T> across = turned<T>(weight_1);
          total = static_cast<double>(table.product.dot(all + area, across.data(), area));
        }
        out[9] = at::full({1}, total, x.options());
      }
    });
    return out;
  }
};

at::Tensor gin_layer_of_rows(const at::Tensor& given_NF, const GinWeights& weights, double p,
                             uint32_t layer, const BatchTensors& batch, bool update_running) {
  const bool training = weights.inner.is_training();
  const auto [inner, outer] = [&] {
    const at::NoGradGuard no_grad;
    return std::pair(GinStatistics(weights.inner, weights.bias_1, training),
                     GinStatistics(weights.outer, weights.bias_2, training));
  }();
  std::vector<at::Tensor> learned = {weights.weight_1,     weights.bias_1,    weights.inner.weight,
                                     weights.inner.bias,   weights.weight_2,  weights.bias_2,
                                     weights.outer.weight, weights.outer.bias};
  if (weights.eps.defined()) learned.push_back(weights.eps);
  double rows = 0;
  const GinForm form{training, weights.inner.options.eps(), weights.outer.options.eps(), p, layer};
  at::Tensor out =
      GinLayer::apply(full(given_NF), at::TensorList(learned), inner, outer, &rows, form, batch);
  if (training && update_running) {
    const at::NoGradGuard no_grad;
    update_running_statistics(weights.inner, inner.mean + weights.bias_1, inner.variance, rows);
    update_running_statistics(weights.outer, outer.mean + weights.bias_2, outer.variance, rows);
  }
  return out;
}

constexpr GinKernels kGin = {gin_layer_of_rows};

}  // namespace

const GinKernels& GinKernels::cpu() { return kGin; }

}  // namespace kdgat::kernels
