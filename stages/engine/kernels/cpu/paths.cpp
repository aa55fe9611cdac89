#include "engine/kernels/paths.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/parallel.h"
#include "engine/kernels/cpu/path_geometry.h"

namespace kdgat::kernels {

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
isa::RunArgs<T> run_args(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& of_run_UC,
                         const at::Tensor& table_NC, bool relu) {
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
isa::StartArgs<T> start_args(const at::Tensor& x_RC, const RowRuns& runs,
                             const at::Tensor& bias_C) {
  return {runs.ptr.const_data_ptr<int32_t>(),
          runs.node.const_data_ptr<int32_t>(),
          runs.node.size(0),
          x_RC.size(1),
          const_cast<T*>(x_RC.const_data_ptr<T>()),
          bias_C.const_data_ptr<T>()};
}

void smear(const at::Tensor& x, const Gaussians& gaussians, const at::Tensor& out, int64_t first) {
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "smear", [&] {
    const isa::SmearArgs<scalar_t> args{x.const_data_ptr<scalar_t>(),
                                        out.data_ptr<scalar_t>() + first,
                                        out.size(1),
                                        gaussians.centres,
                                        static_cast<scalar_t>(gaussians.spacing),
                                        static_cast<scalar_t>(gaussians.period)};
    for_blocks(row_blocks(x.size(0)), 4 * x.size(0) * args.centres, [&](int64_t block) {
      loops<scalar_t>().path.smear(args, block * kBlockRows,
                                   std::min(x.size(0), (block + 1) * kBlockRows));
    });
  });
}

void add_runs(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& of_run_UC,
              const at::Tensor& table_NC, bool relu) {
  AT_DISPATCH_FLOATING_TYPES(x_RC.scalar_type(), "add_runs", [&] {
    const auto args = run_args<scalar_t>(x_RC, runs, of_run_UC, table_NC, relu);
    for_columns(x_RC.size(0), x_RC.size(1), [&](int64_t begin, int64_t end) {
      loops<scalar_t>().path.add_runs(args, begin, end);
    });
  });
}

at::Tensor sum_runs(at::Tensor& grad_RC, const at::Tensor& out_RC, const RowRuns& runs,
                    const at::Tensor& table_NC) {
  const bool relu = out_RC.defined();
  at::Tensor sums = at::empty({runs.ptr.size(0) - 1, grad_RC.size(1)}, grad_RC.options());
  AT_DISPATCH_FLOATING_TYPES(grad_RC.scalar_type(), "sum_runs", [&] {
    const auto args = run_args<scalar_t>(grad_RC, runs, sums, table_NC, relu);
    const scalar_t* out = relu ? out_RC.const_data_ptr<scalar_t>() : nullptr;
    for_columns(grad_RC.size(0), grad_RC.size(1), [&](int64_t begin, int64_t end) {
      loops<scalar_t>().path.sum_runs(args, out, begin, end);
    });
  });
  return sums;
}

void relu_sum(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
              at::Tensor& sums_NC) {
  AT_DISPATCH_FLOATING_TYPES(x_RC.scalar_type(), "relu_sum", [&] {
    const auto args = start_args<scalar_t>(x_RC, runs, bias_C);
    for_columns(x_RC.size(0), x_RC.size(1), [&](int64_t begin, int64_t end) {
      loops<scalar_t>().path.relu_sum(args, sums_NC.data_ptr<scalar_t>(), begin, end);
    });
  });
}

void relu_sum_backward(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
                       const at::Tensor& grad_sums_NC, at::Tensor& grad_bias_C) {
  AT_DISPATCH_FLOATING_TYPES(x_RC.scalar_type(), "relu_sum_backward", [&] {
    const auto args = start_args<scalar_t>(x_RC, runs, bias_C);
    for_columns(x_RC.size(0), x_RC.size(1), [&](int64_t begin, int64_t end) {
      loops<scalar_t>().path.relu_sum_backward(args, grad_sums_NC.const_data_ptr<scalar_t>(),
                                               grad_bias_C.data_ptr<scalar_t>(), begin, end);
    });
  });
}

constexpr PathKernels kPaths = {cpu::path_features, smear,    add_runs,
                                sum_runs,           relu_sum, relu_sum_backward};

}  // namespace

const PathKernels& PathKernels::cpu() { return kPaths; }

}  // namespace kdgat::kernels
