#include "engine/train/precision.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "kdgat/error.h"

namespace kdgat::train {
namespace {

constexpr double kFirstScale = 65536, kGrowth = 2, kBackoff = 0.5;
constexpr int64_t kGrowthInterval = 2000;
// Some 40 steps without a good one: the gradients themselves are not finite.
constexpr double kLeastScale = 1e-7;

}  // namespace

Autocast::Autocast(const std::string& precision, c10::Device device)
    : device_(device.type()),
      was_enabled_(at::autocast::is_autocast_enabled(device_)),
      was_cached_(at::autocast::is_autocast_cache_enabled()),
      type_(at::autocast::get_autocast_dtype(device_)) {
  const bool is_half = precision == "16-mixed";
  if (!is_half && precision != "bf16-mixed") return;
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, is_half ? at::kHalf : at::kBFloat16);
  at::autocast::set_autocast_cache_enabled(false);
}

Autocast::~Autocast() {
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, type_);
  at::autocast::set_autocast_cache_enabled(was_cached_);
}

GradScaler::GradScaler(const std::string& precision, c10::Device device) {
  if (precision != "16-mixed") return;
  const at::TensorOptions options = at::TensorOptions().device(device);
  scale_ = at::full({}, kFirstScale, options.dtype(at::kFloat));
  good_ = at::zeros({}, options.dtype(at::kInt));
  skipped_ = at::zeros({}, options.dtype(at::kLong));
}

at::Tensor GradScaler::scale(const at::Tensor& loss) const {
  return scale_.defined() ? loss * scale_ : loss;
}

void GradScaler::step(Optimizer& optimizer, double max_norm, double lr) {
  at::Tensor overflow;
  if (scale_.defined()) {
    const at::NoGradGuard no_grad;
    overflow = at::zeros_like(scale_);
    at::_amp_foreach_non_finite_check_and_unscale_(optimizer.gradients(), overflow,
                                                   scale_.reciprocal());
    at::_amp_update_scale_(scale_, good_, overflow, kGrowth, kBackoff, kGrowthInterval);
    skipped_.add_(overflow.to(at::kLong));
  }
  optimizer.clip(max_norm);
  optimizer.step(lr, overflow);
}

NamedTensors GradScaler::state() const {
  if (!scale_.defined()) return {};
  return {{"scale", scale_}, {"good_steps", good_}, {"skipped_steps", skipped_}};
}

nlohmann::json GradScaler::report() const {
  if (!scale_.defined()) return nlohmann::json::object();
  const double scale = scale_.item<double>();
  if (scale < kLeastScale) {
    throw Error(ExitCode::kStageFailed,
                "no gradient of the last steps was finite at any loss scale",
                "lower lr, or use precision=bf16-mixed");
  }
  return {{"loss_scale", scale}, {"skipped_steps", skipped_.item<int64_t>()}};
}

}  // namespace kdgat::train
