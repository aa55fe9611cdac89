#include "engine/model/networks/fusion_net.h"

#include <cmath>
#include <string>

#include "engine/model/layers/generator_lock.h"
#include "kdgat/error.h"

namespace kdgat::model {

namespace {

constexpr double kErrorWeights[] = {0.4, 0.35, 0.25};
constexpr double kFarthest = 10;  // graphs unlike any seen must not drown the other numbers

}  // namespace

FusionNetImpl::FusionNetImpl(const FusionConfig& config) : config_(config) {
  const std::string& method = config.method;
  if (method != "dqn" && method != "bandit" && method != "mlp" && method != "weighted") {
    throw Error(ExitCode::kData, "model configuration: unknown method '" + method + "'",
                "known are dqn, bandit, mlp and weighted");
  }
  mean_S_ = register_buffer("scale_mean", at::zeros({state().size()}));
  deviation_S_ = register_buffer("scale_deviation", at::ones({state().size()}));
  usual_errors_ = register_buffer("scale_errors", at::ones({state().errors}));
  if (method == "weighted") {
    fixed_alpha = register_buffer("alpha", at::full({}, 0.85));
    return;
  }
  int64_t width = state().size();
  for (int64_t i = 0; i < config.layers; ++i) {
    linears_.push_back(
        register_module(std::to_string(4 * i), torch::nn::Linear(width, config.hidden)));
    norms_.push_back(register_module(std::to_string(4 * i + 1),
                                     torch::nn::LayerNorm(std::vector<int64_t>{config.hidden})));
    width = config.hidden;
  }
  last_ = register_module(std::to_string(4 * config.layers),
                          torch::nn::Linear(width, method == "mlp" ? 1 : config.alpha_steps));
}

void FusionNetImpl::set_scale(const at::Tensor& states_GS, const at::Tensor& benign_GS,
                              double quantile) {
  const at::NoGradGuard no_grad;
  mean_S_.copy_(states_GS.mean(0));
  deviation_S_.copy_(states_GS.std(0, /*unbiased=*/false).clamp_min(1e-6));
  const at::Tensor errors = benign_GS.slice(1, 0, state().errors);
  const auto rank = std::llround(quantile * static_cast<double>(benign_GS.size(0) - 1));
  usual_errors_.copy_(std::get<0>(errors.sort(0)).select(0, rank).clamp_min(1e-12));
}

at::Tensor FusionNetImpl::anomaly(const at::Tensor& states_GS) const {
  at::Tensor sum = at::zeros({states_GS.size(0)}, states_GS.options());
  double whole = 0;
  for (int64_t i = 0; i < state().errors; ++i) whole += kErrorWeights[i];
  for (int64_t i = 0; i < state().errors; ++i) {
    sum =
        sum + (kErrorWeights[i] / whole / 2) * states_GS.select(1, i) / usual_errors_.select(0, i);
  }
  return sum.clamp(0, 1);
}

at::Tensor FusionNetImpl::hidden(const at::Tensor& states_GS) {
  at::Tensor h = ((states_GS - mean_S_) / deviation_S_).clamp(-kFarthest, kFarthest);
  for (std::size_t i = 0; i < linears_.size(); ++i) {
    h = norms_[i]->forward(linears_[i]->forward(h)).relu();
    if (is_training() && config_.dropout > 0) {
      const double kept = 1 - config_.dropout;
      h = h * at::empty_like(h).bernoulli_(kept, dropout) / kept;
    }
  }
  return h;
}

at::Tensor FusionNetImpl::forward(const at::Tensor& states_GS) {
  return last_->forward(hidden(states_GS));
}

at::Tensor FusionNetImpl::alpha(const at::Tensor& states_GS) {
  if (config_.method == "weighted") return fixed_alpha.expand({states_GS.size(0)});
  return forward(states_GS).argmax(1).to(states_GS.scalar_type()) /
         static_cast<double>(config_.alpha_steps - 1);
}

at::Tensor FusionNetImpl::fused(const at::Tensor& states_GS, const at::Tensor& alpha_G) const {
  return (1 - alpha_G) * anomaly(states_GS) + alpha_G * states_GS.select(1, state().attack());
}

at::Tensor FusionNetImpl::score(const at::Tensor& states_GS) {
  if (config_.method == "mlp") return forward(states_GS).squeeze(1).sigmoid();
  return fused(states_GS, alpha(states_GS));
}

FusionNet make_model(const FusionConfig& config) {
  const GeneratorLock generator = hold_generator();
  return FusionNet(config);
}

}  // namespace kdgat::model
