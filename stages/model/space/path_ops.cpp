#include "model/space/path_ops.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>

#include "model/kernels/isa.h"
#include "model/kernels/kernels.h"
#include "model/kernels/parallel.h"

namespace kdgat::model {

namespace {

constexpr int64_t kColumns = 64;  // that a thread takes at once: whole cache lines of each row

/// body(begin, end) for ranges of columns: threads share columns, not rows, so that no two add to
/// the same number and sums do not depend on how many there are.
template <class Body>
void for_columns(int64_t rows, int64_t columns, const Body& body) {
  for_blocks((columns + kColumns - 1) / kColumns, rows * columns, [&](int64_t block) {
    body(block * kColumns, std::min(columns, (block + 1) * kColumns));
  });
}

template <class T>
kernels::RunArgs<T> run_args(const at::Tensor& x_RC, const RowRuns& runs,
                             const at::Tensor& of_run_UC, const at::Tensor& table_NC, bool relu) {
  return {runs.ptr.const_data_ptr<int32_t>(),
          runs.node.const_data_ptr<int32_t>(),
          of_run_UC.size(0),
          x_RC.size(1),
          const_cast<T*>(x_RC.const_data_ptr<T>()),
          const_cast<T*>(of_run_UC.const_data_ptr<T>()),
          const_cast<T*>(table_NC.const_data_ptr<T>()),
          table_NC.stride(0),
          relu};
}

template <class T>
kernels::StartArgs<T> start_args(const at::Tensor& x_RC, const RowRuns& runs,
                                 const at::Tensor& bias_C) {
  return {runs.ptr.const_data_ptr<int32_t>(),
          runs.node.const_data_ptr<int32_t>(),
          runs.node.size(0),
          x_RC.size(1),
          const_cast<T*>(x_RC.const_data_ptr<T>()),
          bias_C.const_data_ptr<T>()};
}

/// Run of each row.
at::Tensor run_of(const RowRuns& runs, int64_t rows) {
  return at::repeat_interleave(runs.ptr.diff().to(at::kLong), std::optional<int64_t>(rows));
}

at::Tensor view(const graph::Buffer<int32_t>& buffer, int64_t size) {
  return at::from_blob(const_cast<int32_t*>(buffer.data()), {size}, at::kInt);
}

}  // namespace

ChunkIndex::ChunkIndex(const graph::PathChunk& chunk, at::Device device)
    : arcs(chunk.arcs),
      triplets(chunk.triplets),
      paths(chunk.paths),
      i_A(view(chunk.i, arcs)),
      j_A(view(chunk.j, arcs)),
      triplet_ptr_A1(view(chunk.triplet_ptr, arcs + 1)),
      k_T(view(chunk.k, triplets)),
      path_ptr_T1(view(chunk.path_ptr, triplets + 1)),
      p_P(view(chunk.p, paths)) {
  path_ptr_A1 = path_ptr_T1.index_select(0, triplet_ptr_A1);
  if (device.is_cpu()) return;
  for (at::Tensor* t : {&i_A, &j_A, &triplet_ptr_A1, &k_T, &path_ptr_T1, &p_P, &path_ptr_A1}) {
    *t = t->to(device);
  }
}

namespace plain {

void add_runs(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& of_run_UC,
              const at::Tensor& table_NC, bool relu) {
  x_RC.add_(of_run_UC.index_select(0, run_of(runs, x_RC.size(0))));
  x_RC.add_(table_NC.index_select(0, runs.node));
  if (relu) x_RC.relu_();
}

at::Tensor sum_runs(at::Tensor& grad_RC, const at::Tensor& out_RC, const RowRuns& runs,
                    const at::Tensor& table_NC) {
  if (out_RC.defined()) grad_RC.mul_(out_RC.gt(0));
  table_NC.index_add_(0, runs.node, grad_RC);
  const at::Tensor sums = at::zeros({runs.ptr.size(0) - 1, grad_RC.size(1)}, grad_RC.options());
  return sums.index_add(0, run_of(runs, grad_RC.size(0)), grad_RC);
}

void relu_sum(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
              at::Tensor& sums_NC) {
  const at::Tensor start_R = runs.node.index_select(0, run_of(runs, x_RC.size(0)));
  sums_NC.index_add_(0, start_R, (x_RC + bias_C).relu_());
}

void relu_sum_backward(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
                       const at::Tensor& grad_sums_NC, at::Tensor& grad_bias_C) {
  const at::Tensor start_R = runs.node.index_select(0, run_of(runs, x_RC.size(0)));
  x_RC = (x_RC + bias_C).gt(0) * grad_sums_NC.index_select(0, start_R);
  grad_bias_C.add_(x_RC.sum(0));
}

}  // namespace plain

void add_runs(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& of_run_UC,
              const at::Tensor& table_NC, bool relu) {
  if (!x_RC.is_cpu()) return plain::add_runs(x_RC, runs, of_run_UC, table_NC, relu);
  AT_DISPATCH_FLOATING_TYPES(x_RC.scalar_type(), "add_runs", [&] {
    const auto args = run_args<scalar_t>(x_RC, runs, of_run_UC, table_NC, relu);
    for_columns(x_RC.size(0), x_RC.size(1), [&](int64_t begin, int64_t end) {
      kernel_table<scalar_t>().add_runs(args, begin, end);
    });
  });
}

at::Tensor sum_runs(at::Tensor& grad_RC, const at::Tensor& out_RC, const RowRuns& runs,
                    const at::Tensor& table_NC) {
  if (!grad_RC.is_cpu()) return plain::sum_runs(grad_RC, out_RC, runs, table_NC);
  const bool relu = out_RC.defined();
  at::Tensor sums = at::empty({runs.ptr.size(0) - 1, grad_RC.size(1)}, grad_RC.options());
  AT_DISPATCH_FLOATING_TYPES(grad_RC.scalar_type(), "sum_runs", [&] {
    const auto args = run_args<scalar_t>(grad_RC, runs, sums, table_NC, relu);
    const scalar_t* out = relu ? out_RC.const_data_ptr<scalar_t>() : nullptr;
    for_columns(grad_RC.size(0), grad_RC.size(1), [&](int64_t begin, int64_t end) {
      kernel_table<scalar_t>().sum_runs(args, out, begin, end);
    });
  });
  return sums;
}

void relu_sum(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
              at::Tensor& sums_NC) {
  if (!x_RC.is_cpu()) return plain::relu_sum(x_RC, runs, bias_C, sums_NC);
  AT_DISPATCH_FLOATING_TYPES(x_RC.scalar_type(), "relu_sum", [&] {
    const auto args = start_args<scalar_t>(x_RC, runs, bias_C);
    for_columns(x_RC.size(0), x_RC.size(1), [&](int64_t begin, int64_t end) {
      kernel_table<scalar_t>().relu_sum(args, sums_NC.data_ptr<scalar_t>(), begin, end);
    });
  });
}

void relu_sum_backward(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
                       const at::Tensor& grad_sums_NC, at::Tensor& grad_bias_C) {
  if (!x_RC.is_cpu()) {
    return plain::relu_sum_backward(x_RC, runs, bias_C, grad_sums_NC, grad_bias_C);
  }
  AT_DISPATCH_FLOATING_TYPES(x_RC.scalar_type(), "relu_sum_backward", [&] {
    const auto args = start_args<scalar_t>(x_RC, runs, bias_C);
    for_columns(x_RC.size(0), x_RC.size(1), [&](int64_t begin, int64_t end) {
      kernel_table<scalar_t>().relu_sum_backward(args, grad_sums_NC.const_data_ptr<scalar_t>(),
                                                 grad_bias_C.data_ptr<scalar_t>(), begin, end);
    });
  });
}

}  // namespace kdgat::model
