#include "fusion/lin_ucb.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace kdgat::fusion {

namespace {

constexpr int64_t kBlock = 64;

}  // namespace

LinUcb::LinUcb(int64_t arms, int64_t width, double ridge)
    : inverse_KDD_((at::eye(width, at::kDouble) / ridge).repeat({arms, 1, 1})),
      sum_KD_(at::zeros({arms, width}, at::kDouble)) {}

at::Tensor LinUcb::choose(const at::Tensor& phi_ND, double exploration) const {
  at::Tensor value_KN = theta().matmul(phi_ND.t());
  if (exploration > 0) {
    const at::Tensor spread_KND = at::matmul(phi_ND, inverse_KDD_.to(phi_ND.scalar_type()));
    value_KN = value_KN + exploration * (spread_KND * phi_ND).sum(2).clamp_min(0).sqrt();
  }
  return value_KN.argmax(0);
}

void LinUcb::update(const at::Tensor& phi_ND, const at::Tensor& arm_N, const at::Tensor& reward_N) {
  const at::Tensor phi = phi_ND.to(at::kDouble), reward = reward_N.to(at::kDouble);
  sum_KD_.index_add_(0, arm_N, reward.unsqueeze(1) * phi);
  for (int64_t arm = 0; arm < sum_KD_.size(0); ++arm) {
    at::Tensor inverse_DD = inverse_KDD_.select(0, arm);
    const at::Tensor own_ND = phi.index_select(0, arm_N.eq(arm).nonzero().squeeze(1));
    for (int64_t at = 0; at < own_ND.size(0); at += kBlock) {
      const at::Tensor block_BD = own_ND.slice(0, at, at + kBlock);
      const at::Tensor left_BD = block_BD.matmul(inverse_DD);
      const at::Tensor inner_BB =
          left_BD.matmul(block_BD.t()) + at::eye(block_BD.size(0), at::kDouble);
      inverse_DD -= left_BD.t().matmul(
          at::cholesky_solve(left_BD, std::get<0>(at::linalg_cholesky_ex(inner_BB))));
    }
  }
}

at::Tensor LinUcb::theta() const {
  return at::matmul(inverse_KDD_, sum_KD_.unsqueeze(2)).squeeze(2).to(at::kFloat);
}

}  // namespace kdgat::fusion
