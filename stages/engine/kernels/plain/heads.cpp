#include "engine/kernels/heads.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace kdgat::kernels {

namespace {

/// `row_E`, `id_E`: the wanted cells, possibly repeated.
HeadResult losses_of(Head head, const at::Tensor& z_NL, const at::Tensor& weight_VL,
                     const at::Tensor& bias_V, const at::Tensor& row_E, const at::Tensor& id_E,
                     bool with_grad) {
  const at::Tensor z = z_NL.detach().to(weight_VL.scalar_type());
  const at::Tensor weight = weight_VL.detach(), bias = bias_V.detach();
  const int64_t most = rows_of_logits(weight.size(0), z.size(0));
  HeadResult result;
  result.loss_N = at::empty({z.size(0)}, z.options());
  if (with_grad) {
    result.grad_z = at::empty_like(z);
    result.grad_weight = at::zeros_like(weight);
    result.grad_bias = at::zeros_like(bias);
  }
  for (int64_t first = 0; first < z.size(0); first += most) {
    const int64_t rows = std::min(most, z.size(0) - first);
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

HeadResult losses(Head head, const at::Tensor& z, const at::Tensor& weight, const at::Tensor& bias,
                  const HeadTarget& target, bool with_grad, bool /*in_bfloat16*/) {
  const at::NoGradGuard no_grad;
  if (target.batch == nullptr) {
    return losses_of(head, z, weight, bias, at::arange(z.size(0), z.options().dtype(at::kLong)),
                     target.id_N.to(at::kLong), with_grad);
  }
  const BatchTensors& batch = *target.batch;
  return losses_of(head, z, weight, bias, batch.in_source_E.to(at::kLong),
                   batch.id_N.to(at::kLong).index_select(0, edge_targets(batch)), with_grad);
}

constexpr HeadKernels kHeads = {losses};

}  // namespace

const HeadKernels& HeadKernels::plain() { return kHeads; }

}  // namespace kdgat::kernels
