#include "engine/kernels/paths.h"

#include <ATen/ATen.h>

#include <optional>

namespace kdgat::kernels {

namespace {

PathFeatures features(const at::Tensor& pos_N3, const arrays::PathChunk& chunk) {
  const auto on_device = [&](const arrays::Buffer<int32_t>& buffer, int64_t size) {
    return at::from_blob(const_cast<int32_t*>(buffer.data()), {size}, at::kInt)
        .to(pos_N3.device(), at::kLong);
  };
  const auto lengths = [&](const arrays::Buffer<int32_t>& ptr, int64_t runs) {
    return on_device(ptr, runs + 1).diff();
  };
  const auto total = [](int64_t rows) { return std::optional<int64_t>(rows); };
  const at::Tensor arc_T =
      at::repeat_interleave(lengths(chunk.triplet_ptr, chunk.arcs), total(chunk.triplets));
  const at::Tensor triplet_P =
      at::repeat_interleave(lengths(chunk.path_ptr, chunk.triplets), total(chunk.paths));
  const at::Tensor j = pos_N3.index_select(0, on_device(chunk.j, chunk.arcs));
  const at::Tensor a = j - pos_N3.index_select(0, on_device(chunk.i, chunk.arcs));
  const at::Tensor j_T = j.index_select(0, arc_T), a_T = a.index_select(0, arc_T);
  const at::Tensor b = pos_N3.index_select(0, on_device(chunk.k, chunk.triplets)) - j_T;
  const at::Tensor n1 = at::linalg_cross(a_T, b);
  const at::Tensor a_P = a_T.index_select(0, triplet_P);
  const at::Tensor c =
      pos_N3.index_select(0, on_device(chunk.p, chunk.paths)) - j_T.index_select(0, triplet_P);
  const at::Tensor normal_P = n1.index_select(0, triplet_P), n2 = at::linalg_cross(a_P, c);
  const auto norm = [](const at::Tensor& x) { return x.square().sum(1).sqrt(); };
  const auto inner = [](const at::Tensor& x, const at::Tensor& y) { return (x * y).sum(1); };
  return {norm(a),
          norm(b),
          at::atan2(norm(n1), inner(a_T, b)),
          norm(c),
          at::atan2(norm(n2), inner(a_P, c)),
          at::atan2(norm(a_P) * inner(normal_P, c) + 0.0, inner(normal_P, n2))};
}

void smear(const at::Tensor& x, const Gaussians& gaussians, const at::Tensor& out, int64_t first) {
  const auto& [centres, spacing, period] = gaussians;
  const at::Tensor centre = at::arange(centres, x.options()) * spacing;
  at::Tensor difference = x.unsqueeze(1) - centre;
  if (period > 0) difference -= period * (difference / period + 0.5).floor();
  out.narrow(1, first, centres).copy_(at::exp((difference / spacing).square() * -0.5));
}

/// Run of each row.
at::Tensor run_of(const RowRuns& runs, int64_t rows) {
  return at::repeat_interleave(runs.ptr.diff().to(at::kLong), std::optional<int64_t>(rows));
}

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

constexpr PathKernels kPaths = {features, smear, add_runs, sum_runs, relu_sum, relu_sum_backward};

}  // namespace

const PathKernels& PathKernels::plain() { return kPaths; }

}  // namespace kdgat::kernels
