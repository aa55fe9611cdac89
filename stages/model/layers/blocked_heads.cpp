#include "model/layers/blocked_heads.h"

#include <ATen/record_function.h>
#include <torch/autograd.h>

#include <algorithm>
#include <vector>

#include "model/kernels/isa.h"
#include "model/kernels/kernels.h"
#include "model/kernels/parallel.h"
#include "model/layers/full_precision.h"
#include "model/layers/gat_reference.h"

namespace kdgat::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The cells wanted of each row, compressed: ids [ptr[i], ptr[i+1]) of row i, each once.
struct Wanted {
  std::vector<int32_t> ptr, ids;
};

Wanted targets_of(const at::Tensor& target_N) {
  const int64_t rows = target_N.size(0);
  const int32_t* target = target_N.const_data_ptr<int32_t>();
  Wanted out;
  out.ptr.resize(static_cast<std::size_t>(rows) + 1);
  for (std::size_t i = 0; i < out.ptr.size(); ++i) out.ptr[i] = static_cast<int32_t>(i);
  out.ids.assign(target, target + rows);
  return out;
}

Wanted neighbours_of(const BatchTensors& batch) {
  const auto nodes = static_cast<std::size_t>(batch.nodes);
  const int32_t* in_ptr = batch.in_ptr_N1.const_data_ptr<int32_t>();
  const int32_t* source = batch.in_source_E.const_data_ptr<int32_t>();
  const int32_t* id = batch.id_N.const_data_ptr<int32_t>();
  std::vector<int32_t> first(nodes + 2, 0), all(static_cast<std::size_t>(batch.edges));
  for (int64_t e = 0; e < batch.edges; ++e) ++first[static_cast<std::size_t>(source[e]) + 2];
  for (std::size_t i = 2; i < first.size(); ++i) first[i] += first[i - 1];
  for (std::size_t j = 0; j < nodes; ++j) {
    for (int32_t e = in_ptr[j]; e < in_ptr[j + 1]; ++e) {
      int32_t& at = first[static_cast<std::size_t>(source[e]) + 1];
      all[static_cast<std::size_t>(at++)] = id[j];
    }
  }
  Wanted out;
  out.ptr.reserve(nodes + 1);
  out.ids.reserve(all.size());
  out.ptr.push_back(0);
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto begin = all.begin() + first[i], end = all.begin() + first[i + 1];
    std::sort(begin, end);
    std::unique_copy(begin, end, std::back_inserter(out.ids));
    out.ptr.push_back(static_cast<int32_t>(out.ids.size()));
  }
  return out;
}

enum class Head { kSoftmax, kSigmoid };

struct Result {
  at::Tensor loss_N, grad_z, grad_weight, grad_bias;
};

constexpr int64_t kRows = 32;         // of a block: its cells stay in a core's L2 cache
constexpr int64_t kGroupRows = 1024;  // rows that share one sum of weight gradients, at least
constexpr int64_t kMaxGroups = 16;

/// A head's weights as the kernels want them: [inputs, columns], padded with columns that say
/// nothing.
struct Weights {
  at::Tensor weight, bias;

  Weights(const at::Tensor& weight_VL, const at::Tensor& bias_V) {
    const int64_t outputs = weight_VL.size(0);
    const int64_t columns =
        (outputs + kernels::kHeadPadding - 1) / kernels::kHeadPadding * kernels::kHeadPadding;
    weight = at::zeros({weight_VL.size(1), columns}, weight_VL.options());
    weight.slice(1, 0, outputs).copy_(weight_VL.t());
    bias = at::full({columns}, -1e30, weight_VL.options());
    bias.slice(0, 0, outputs).copy_(bias_V);
  }
};

/// Rows [begin, end), block by block. `sums` [inputs+1, columns] receives the gradients of the
/// weights and, last, of the bias; undefined: no gradients.
template <class T>
void run_group(Head head, const at::Tensor& z, const Weights& w, const Wanted& wanted,
               int64_t begin, int64_t end, Result& result, const at::Tensor& sums) {
  const auto& table = kernel_table<T>();
  const bool with_grad = sums.defined();
  const int64_t inputs = z.size(1), columns = w.weight.size(1);
  const at::Tensor block = at::empty({kRows, columns}, z.options());
  const at::Tensor small = at::empty({kRows, inputs + 3}, z.options());
  T* cells = block.data_ptr<T>();
  T* log_sum = small.data_ptr<T>();
  T* inverse = log_sum + kRows;
  T* scaled = inverse + kRows;  // [kRows, inputs+1]; the column of ones yields the bias' gradient
  const T* weight = w.weight.const_data_ptr<T>();
  const T* bias = w.bias.const_data_ptr<T>();
  T* loss = result.loss_N.data_ptr<T>();
  for (int64_t first = begin; first < end; first += kRows) {
    const int64_t rows = std::min(kRows, end - first);
    const T* z_rows = z.const_data_ptr<T>() + first * inputs;
    const auto for_wanted = [&](const auto& visit) {
      for (int64_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::size_t>(first + r);
        for (int32_t k = wanted.ptr[row]; k < wanted.ptr[row + 1]; ++k) {
          visit(r, static_cast<int64_t>(wanted.ids[static_cast<std::size_t>(k)]));
        }
      }
    };
    table.head_logits(z_rows, weight, bias, rows, inputs, columns, cells);
    for (int64_t r = 0; r < rows; ++r) loss[first + r] = 0;
    for_wanted([&](int64_t r, int64_t id) { loss[first + r] -= cells[r * columns + id]; });
    if (head == Head::kSoftmax) {
      table.softmax_rows(cells, rows, columns, log_sum, inverse);
    } else {
      table.sigmoid_rows(cells, rows, columns, log_sum);
      std::fill(inverse, inverse + rows, T(1));
    }
    for (int64_t r = 0; r < rows; ++r) loss[first + r] += log_sum[r];
    if (!with_grad) continue;

    for_wanted([&](int64_t r, int64_t id) { cells[r * columns + id] -= 1 / inverse[r]; });
    for (int64_t r = 0; r < rows; ++r) {
      T* to = scaled + r * (inputs + 1);
      for (int64_t c = 0; c < inputs; ++c) to[c] = z_rows[r * inputs + c] * inverse[r];
      to[inputs] = inverse[r];
    }
    T* grad_rows = result.grad_z.data_ptr<T>() + first * inputs;
    table.head_grad_rows(cells, weight, rows, inputs, columns, grad_rows);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < inputs; ++c) grad_rows[r * inputs + c] *= inverse[r];
    }
    table.head_grad_weights(cells, scaled, rows, inputs + 1, columns, sums.data_ptr<T>());
  }
}

Result run_cpu(Head head, const at::Tensor& z_NL, const at::Tensor& weight_VL,
               const at::Tensor& bias_V, const Wanted& wanted, bool with_grad) {
  RECORD_FUNCTION("kdgat::head", std::vector<c10::IValue>{z_NL, weight_VL, with_grad});
  const at::NoGradGuard no_grad;
  const at::Tensor z = z_NL.detach().to(weight_VL.scalar_type()).contiguous();
  const Weights weights(weight_VL.detach(), bias_V.detach());
  const int64_t rows = z.size(0), inputs = z.size(1), outputs = weight_VL.size(0);
  const int64_t groups = std::clamp<int64_t>(rows / kGroupRows, 1, kMaxGroups);
  Result result;
  result.loss_N = at::empty({rows}, z.options());
  at::Tensor sums;
  if (with_grad) {
    result.grad_z = at::empty_like(z);
    sums = at::zeros({groups, inputs + 1, weights.weight.size(1)}, z.options());
  }
  for_blocks(groups, rows * outputs, [&](int64_t g) {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "blocked_heads", [&] {
      run_group<scalar_t>(head, z, weights, wanted, rows * g / groups, rows * (g + 1) / groups,
                          result, with_grad ? sums.select(0, g) : at::Tensor());
    });
  });
  if (with_grad) {
    const at::Tensor sum = sums.sum(0).slice(1, 0, outputs);
    result.grad_weight = sum.slice(0, 0, inputs).t().contiguous();
    result.grad_bias = sum.select(0, inputs).contiguous();
  }
  return result;
}

/// In plain tensor operations, for devices without kernels. `row_E`, `id_E`: the wanted cells,
/// possibly repeated.
Result run_plain(Head head, const at::Tensor& z_NL, const at::Tensor& weight_VL,
                 const at::Tensor& bias_V, const at::Tensor& row_E, const at::Tensor& id_E,
                 bool with_grad) {
  const at::Tensor z = z_NL.detach().to(weight_VL.scalar_type());
  const at::Tensor weight = weight_VL.detach(), bias = bias_V.detach();
  constexpr int64_t kPlainRows = 1024;
  Result result;
  result.loss_N = at::empty({z.size(0)}, z.options());
  if (with_grad) {
    result.grad_z = at::empty_like(z);
    result.grad_weight = at::zeros_like(weight);
    result.grad_bias = at::zeros_like(bias);
  }
  for (int64_t first = 0; first < z.size(0); first += kPlainRows) {
    const int64_t rows = std::min(kPlainRows, z.size(0) - first);
    const at::Tensor z_block = z.narrow(0, first, rows);
    const at::Tensor logits = at::addmm(bias, z_block, weight.t());
    const at::Tensor here = row_E.ge(first).logical_and_(row_E.lt(first + rows));
    const at::Tensor cells = at::zeros_like(logits);
    cells.index_put_({row_E.masked_select(here) - first, id_E.masked_select(here)},
                     at::ones({}, z.options()));
    const at::Tensor sums = head == Head::kSoftmax
                                ? logits.logsumexp({1})
                                : at::softplus(logits, 1, 1e9).sum(1);  // never cut to linear
    result.loss_N.narrow(0, first, rows).copy_(sums - (logits * cells).sum(1));
    if (!with_grad) continue;
    const at::Tensor grad =
        (head == Head::kSoftmax ? logits.softmax(1) : logits.sigmoid()).sub_(cells);
    result.grad_z.narrow(0, first, rows).copy_(grad.mm(weight));
    result.grad_weight.addmm_(grad.t(), z_block);
    result.grad_bias.add_(grad.sum(0));
  }
  return result;
}

/// What a head is to say: one id a row, or (`batch`) the ids of each node's successors. Not a
/// tensor in a list of arguments, where autograd would look for gradients.
struct Target {
  at::Tensor id_N;
  const BatchTensors* batch = nullptr;
};

Result run(Head head, const at::Tensor& z, const at::Tensor& weight, const at::Tensor& bias,
           const Target& target, bool with_grad) {
  const FullPrecision exact;
  if (z.is_cpu()) {
    const Wanted wanted =
        target.batch == nullptr ? targets_of(target.id_N) : neighbours_of(*target.batch);
    return run_cpu(head, z, weight, bias, wanted, with_grad);
  }
  const at::NoGradGuard no_grad;
  if (target.batch == nullptr) {
    return run_plain(head, z, weight, bias, at::arange(z.size(0), z.options().dtype(at::kLong)),
                     target.id_N.to(at::kLong), with_grad);
  }
  const BatchTensors& batch = *target.batch;
  return run_plain(head, z, weight, bias, batch.in_source_E.to(at::kLong),
                   batch.id_N.to(at::kLong).index_select(0, edge_targets(batch)), with_grad);
}

struct HeadSum : torch::autograd::Function<HeadSum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& z, const at::Tensor& weight,
                            const at::Tensor& bias, Head head, const Target& target) {
    const Result result = run(head, z, weight, bias, target, true);
    ctx->save_for_backward({result.grad_z, result.grad_weight, result.grad_bias});
    return result.loss_N.sum();
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    return {saved[0] * grads[0], saved[1] * grads[0], saved[2] * grads[0], at::Tensor(),
            at::Tensor()};
  }
};

at::Tensor head_sum(Head head, const at::Tensor& z, const at::Tensor& weight,
                    const at::Tensor& bias, const Target& target) {
  const bool with_grad = at::GradMode::is_enabled() &&
                         (z.requires_grad() || weight.requires_grad() || bias.requires_grad());
  if (with_grad) return HeadSum::apply(z, weight, bias, head, target);
  return run(head, z, weight, bias, target, false).loss_N.sum();
}

}  // namespace

at::Tensor softmax_ce_sum(const at::Tensor& z_NL, const at::Tensor& weight_VL,
                          const at::Tensor& bias_V, const at::Tensor& target_N) {
  return head_sum(Head::kSoftmax, z_NL, weight_VL, bias_V, {target_N});
}

at::Tensor softmax_ce_per_node(const at::Tensor& z_NL, const at::Tensor& weight_VL,
                               const at::Tensor& bias_V, const at::Tensor& target_N) {
  return run(Head::kSoftmax, z_NL, weight_VL, bias_V, {target_N}, false).loss_N;
}

at::Tensor bce_neighbour_sum(const at::Tensor& h_NL, const at::Tensor& weight_VL,
                             const at::Tensor& bias_V, const BatchTensors& batch) {
  return head_sum(Head::kSigmoid, h_NL, weight_VL, bias_V, {{}, &batch});
}

at::Tensor bce_neighbour_per_node(const at::Tensor& h_NL, const at::Tensor& weight_VL,
                                  const at::Tensor& bias_V, const BatchTensors& batch) {
  return run(Head::kSigmoid, h_NL, weight_VL, bias_V, {{}, &batch}, false).loss_N;
}

}  // namespace kdgat::model
