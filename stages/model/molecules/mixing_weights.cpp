#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "model/molecules/product_parts.h"

namespace kdgat::model {
namespace {

/// The block of a path in w3 as [in, out, H], and in b3 as [in, out].
at::Tensor block_of(const at::Tensor& w3, const TensorPath& path) {
  return w3.narrow(0, path.first, path.in * path.out).view({path.in, path.out, w3.size(1)});
}
at::Tensor bias_of(const at::Tensor& b3, const TensorPath& path) {
  return b3.narrow(0, path.first, path.in * path.out).view({path.in, path.out});
}

constexpr int64_t kPiece = 16384;  // edges

}  // namespace

MixingWeights::MixingWeights(const ProductPlan& plan, const RadialWeights& weights) {
  const int64_t width = weights.w3.size(1);
  for (std::size_t l = 0; l < 3; ++l) {
    std::vector<at::Tensor> of_target, target_biases, of_source, source_biases;
    for (const TargetPath& one : plan.targets) {
      if (one.path.l3 != l) continue;
      of_target.push_back(
          block_of(weights.w3, one.path).transpose(1, 2).reshape({-1, one.path.out}));
      target_biases.push_back(bias_of(weights.b3, one.path));
    }
    for (const SourcePath& one : plan.sources) {
      if (one.path.l1 != l) continue;
      of_source.push_back(block_of(weights.w3, one.path).transpose(1, 2));
      source_biases.push_back(bias_of(weights.b3, one.path));
    }
    if (!of_target.empty()) {
      target[l] = at::cat(of_target, 0);
      target_bias[l] = at::cat(target_biases, 0);
    }
    if (!of_source.empty()) {
      source[l] = at::cat(of_source, 2).reshape({-1, width * plan.source_channels[l]});
      source_bias[l] = at::cat(source_biases, 1);
    }
  }
}

MixingWeights MixingWeights::zeros() const {
  MixingWeights out;
  const auto same = [](const std::array<at::Tensor, 3>& from, std::array<at::Tensor, 3>& to) {
    for (std::size_t l = 0; l < 3; ++l) {
      if (from[l].defined()) to[l] = at::zeros_like(from[l]);
    }
  };
  same(target, out.target);
  same(target_bias, out.target_bias);
  same(source, out.source);
  same(source_bias, out.source_bias);
  return out;
}

void MixingWeights::add(const MixingWeights& other) {
  const auto grow = [](std::array<at::Tensor, 3>& to, const std::array<at::Tensor, 3>& from) {
    for (std::size_t l = 0; l < 3; ++l) {
      if (to[l].defined()) to[l].add_(from[l]);
    }
  };
  grow(target, other.target);
  grow(target_bias, other.target_bias);
  grow(source, other.source);
  grow(source_bias, other.source_bias);
}

std::pair<at::Tensor, at::Tensor> MixingWeights::to_edge_weights(
    const ProductPlan& plan, const RadialWeights& weights) const {
  at::Tensor w3 = at::zeros_like(weights.w3), b3 = at::zeros_like(weights.b3);
  const int64_t width = weights.w3.size(1);
  for (const TargetPath& one : plan.targets) {
    const TensorPath& path = one.path;
    const at::Tensor own = target[path.l3].narrow(0, one.column * width, path.in * width);
    block_of(w3, path).copy_(own.view({path.in, width, path.out}).transpose(1, 2));
    bias_of(b3, path).copy_(target_bias[path.l3].narrow(0, one.column, path.in));
  }
  for (const SourcePath& one : plan.sources) {
    const TensorPath& path = one.path;
    const at::Tensor all = source[path.l1].view({path.in, width, plan.source_channels[path.l1]});
    block_of(w3, path).copy_(all.narrow(2, one.column, path.out).transpose(1, 2));
    bias_of(b3, path).copy_(source_bias[path.l1].narrow(1, one.column, path.out));
  }
  return {w3, b3};
}

std::vector<at::Tensor> radial_gradients(const at::Tensor& radial, const RadialWeights& weights,
                                         const at::Tensor& grad_hidden) {
  std::vector<at::Tensor> leaves;
  for (const at::Tensor& weight : {weights.w1, weights.b1, weights.w2, weights.b2}) {
    leaves.push_back(weight.detach().requires_grad_());
  }
  std::vector<at::Tensor> out;
  for (const at::Tensor& leaf : leaves) out.push_back(at::zeros_like(leaf));
  const at::AutoGradMode grad_mode(true);
  for (int64_t begin = 0; begin < radial.size(0); begin += kPiece) {
    const int64_t size = std::min(kPiece, radial.size(0) - begin);
    const at::Tensor hidden = radial_hidden(radial.narrow(0, begin, size),
                                            {leaves[0], leaves[1], leaves[2], leaves[3], {}, {}});
    const auto grads =
        torch::autograd::grad({hidden}, leaves, {grad_hidden.narrow(0, begin, size)});
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < out.size(); ++i) out[i].add_(grads[i]);
  }
  return out;
}

}  // namespace kdgat::model
