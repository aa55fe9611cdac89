#include "engine/kernels/paths.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "engine/kernels/cuda/device.h"
#include "engine/kernels/cuda/launch/norm_launches.h"
#include "engine/kernels/cuda/launch/path_launches.h"

namespace kdgat::kernels {

namespace cuda {
namespace {

/// Arrays of a chunk in one copy to the device, and where each begins.
class ChunkOnDevice {
 public:
  ChunkOnDevice(std::initializer_list<std::pair<const arrays::Buffer<int32_t>*, int64_t>> arrays,
                at::Device device) {
    int64_t size = 0;
    for (const auto& [array, count] : arrays) {
      first_.push_back(size);
      size += count;
    }
    const at::Tensor all = at::empty({size}, at::kInt);
    std::size_t k = 0;
    for (const auto& [array, count] : arrays) {
      std::copy_n(array->data(), count, all.data_ptr<int32_t>() + first_[k++]);
    }
    all_ = all.to(device);
  }
  const int32_t* at(std::size_t array) const {
    return all_.const_data_ptr<int32_t>() + first_[array];
  }

 private:
  std::vector<int64_t> first_;
  at::Tensor all_;
};

PathFeatures path_features(const at::Tensor& pos_N3, const arrays::PathChunk& chunk) {
  const at::Tensor pos = pos_N3.contiguous();
  const ChunkOnDevice arrays({{&chunk.i, chunk.arcs},
                              {&chunk.j, chunk.arcs},
                              {&chunk.triplet_ptr, chunk.arcs + 1},
                              {&chunk.k, chunk.triplets},
                              {&chunk.path_ptr, chunk.triplets + 1},
                              {&chunk.p, chunk.paths}},
                             pos.device());
  const auto made = [&](int64_t size) { return at::empty({size}, pos.options()); };
  PathFeatures out{made(chunk.arcs),  made(chunk.triplets), made(chunk.triplets),
                   made(chunk.paths), made(chunk.paths),    made(chunk.paths)};
  const OnDevice on(pos);
  AT_DISPATCH_FLOATING_TYPES(pos.scalar_type(), "path_features", [&] {
    path_geometry<scalar_t>(
        on.launcher(),
        {chunk.arcs, chunk.triplets, chunk.paths, arrays.at(0), arrays.at(1), arrays.at(2),
         arrays.at(3), arrays.at(4), arrays.at(5), pos.const_data_ptr<scalar_t>(),
         out.d_ij.data_ptr<scalar_t>(), out.d_jk.data_ptr<scalar_t>(),
         out.theta_ijk.data_ptr<scalar_t>(), out.d_jp.data_ptr<scalar_t>(),
         out.theta_ijp.data_ptr<scalar_t>(), out.phi.data_ptr<scalar_t>()});
  });
  return out;
}

void smear_columns(const at::Tensor& x, const Gaussians& gaussians, const at::Tensor& out,
                   int64_t first) {
  const at::Tensor from = x.contiguous();
  const OnDevice on(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "smear", [&] {
    smear<scalar_t>(on.launcher(),
                    {x.size(0), gaussians.centres, out.stride(0), scalar_t(gaussians.spacing),
                     scalar_t(gaussians.period), from.const_data_ptr<scalar_t>(),
                     out.data_ptr<scalar_t>() + first});
  });
}

/// Numbers 0, 1 .. by the node each has, and where those of each node begin.
struct ByNode {
  ByNode(const at::Tensor& node, int64_t nodes) {
    const auto [sorted, numbers] = at::sort(node, std::optional<bool>(true), 0, false);
    order = numbers;
    ptr = at::searchsorted(sorted, at::arange(nodes + 1, sorted.options()), /*out_int32=*/true);
  }
  at::Tensor order, ptr;
};

template <class T>
RunArgs<T> run_args(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& table_NC) {
  RunArgs<T> out{};
  out.runs = runs.ptr.size(0) - 1;
  out.columns = x_RC.size(1);
  out.ptr = runs.ptr.const_data_ptr<int32_t>();
  out.node = runs.node.const_data_ptr<int32_t>();
  out.x = x_RC.data_ptr<T>();
  out.nodes = table_NC.size(0);
  out.stride = table_NC.stride(0);
  out.table = table_NC.data_ptr<T>();
  return out;
}

void add_runs(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& of_run_UC,
              const at::Tensor& table_NC, bool relu) {
  const OnDevice on(x_RC);
  AT_DISPATCH_FLOATING_TYPES(x_RC.scalar_type(), "add_runs", [&] {
    RunArgs<scalar_t> args = run_args<scalar_t>(x_RC, runs, table_NC);
    args.of_run = of_run_UC.const_data_ptr<scalar_t>();
    args.relu = relu;
    run_adds(on.launcher(), args);
  });
}

at::Tensor sum_runs(at::Tensor& grad_RC, const at::Tensor& out_RC, const RowRuns& runs,
                    const at::Tensor& table_NC) {
  at::Tensor sums = at::empty({runs.ptr.size(0) - 1, grad_RC.size(1)}, grad_RC.options());
  const ByNode by_node(runs.node, table_NC.size(0));
  const OnDevice on(grad_RC);
  AT_DISPATCH_FLOATING_TYPES(grad_RC.scalar_type(), "sum_runs", [&] {
    RunArgs<scalar_t> args = run_args<scalar_t>(grad_RC, runs, table_NC);
    args.relu = out_RC.defined();
    if (args.relu) args.out = out_RC.const_data_ptr<scalar_t>();
    args.sums = sums.data_ptr<scalar_t>();
    args.by_node = by_node.order.const_data_ptr<int64_t>();
    args.by_node_ptr = by_node.ptr.const_data_ptr<int32_t>();
    run_sums(on.launcher(), args);
  });
  return sums;
}

template <class T>
StartArgs<T> start_args(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C) {
  StartArgs<T> out{};
  out.runs = runs.node.size(0);
  out.columns = x_RC.size(1);
  out.ptr = runs.ptr.const_data_ptr<int32_t>();
  out.node = runs.node.const_data_ptr<int32_t>();
  out.x = x_RC.data_ptr<T>();
  out.bias = bias_C.const_data_ptr<T>();
  return out;
}

void relu_sum(const at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
              at::Tensor& sums_NC) {
  const ByNode by_node(runs.node, sums_NC.size(0));
  const OnDevice on(x_RC);
  AT_DISPATCH_FLOATING_TYPES(x_RC.scalar_type(), "relu_sum", [&] {
    StartArgs<scalar_t> args = start_args<scalar_t>(x_RC, runs, bias_C);
    args.nodes = sums_NC.size(0);
    args.by_node = by_node.order.const_data_ptr<int64_t>();
    args.by_node_ptr = by_node.ptr.const_data_ptr<int32_t>();
    args.sums = sums_NC.data_ptr<scalar_t>();
    start_sums(on.launcher(), args);
  });
}

void relu_sum_backward(at::Tensor& x_RC, const RowRuns& runs, const at::Tensor& bias_C,
                       const at::Tensor& grad_sums_NC, at::Tensor& grad_bias_C) {
  const int64_t rows = x_RC.size(0), columns = x_RC.size(1);
  const at::Tensor partials = at::empty({row_blocks(rows), columns}, x_RC.options());
  const OnDevice on(x_RC);
  AT_DISPATCH_FLOATING_TYPES(x_RC.scalar_type(), "relu_sum_backward", [&] {
    StartArgs<scalar_t> args = start_args<scalar_t>(x_RC, runs, bias_C);
    args.grad_sums = grad_sums_NC.const_data_ptr<scalar_t>();
    start_grads(on.launcher(), args);
    column_sums<scalar_t>(on.launcher(), {rows, columns, x_RC.const_data_ptr<scalar_t>(), nullptr,
                                          partials.data_ptr<scalar_t>()});
  });
  grad_bias_C.add_(partials.sum(0));
}

}  // namespace
}  // namespace cuda

const PathKernels& PathKernels::cuda() {
  static constexpr PathKernels kPaths = {cuda::path_features, cuda::smear_columns,
                                         cuda::add_runs,      cuda::sum_runs,
                                         cuda::relu_sum,      cuda::relu_sum_backward};
  return kPaths;
}

}  // namespace kdgat::kernels
