// Mixed precision: matrix products of a loss in 16 bits, and the scaling of losses that keeps small
// gradients in the range of fp16. What stays in 32 bits under it is up to the models
// (model/layers/full_precision.h); parameters and their gradients always do.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <nlohmann/json.hpp>
#include <string>

#include "engine/train/optimizer.h"

namespace kdgat::train {

/// While it lives, matrix products of this thread on `device` round their inputs and results to 16
/// bits; kdgat's own (ProductKernels, HeadKernels) their inputs alone. `precision` is that of
/// TrainOptions: bf16-mixed, 16-mixed (fp16), else nothing changes.
/// Wraps the loss, not backward(), whose products follow those of the loss. Nothing is cached, so
/// that no step sees the rounded weights of another.
class Autocast {
 public:
  Autocast(const std::string& precision, c10::Device device);
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast();

 private:
  c10::DeviceType device_;
  bool was_enabled_, was_cached_;
  at::ScalarType type_;
};

/// Dynamic loss scaling (Micikevicius et al., arXiv 1710.03740), with PyTorch's numbers: 65536 at
/// first, half of it after a step with a gradient that is not finite, which is skipped, and twice
/// after 2000 good steps in a row. Nothing waits for the device but report().
class GradScaler {
 public:
  /// Scales for 16-mixed; bf16 has the range of float, so for any other precision step() is clip
  /// and step, and there is no state.
  GradScaler(const std::string& precision, c10::Device device);

  /// The loss to call backward() on.
  at::Tensor scale(const at::Tensor& loss) const;
  /// Undoes the scale of the gradients, clips and steps; or skips the step, which then changes
  /// neither weights nor moments nor step counts.
  void step(Optimizer& optimizer, double max_norm, double lr);

  /// For checkpoints; shares memory with the scaler's own.
  NamedTensors state() const;
  /// For the journal: {"loss_scale", "skipped_steps"} so far, or nothing. Throws
  /// Error(kStageFailed) when no scale helps.
  nlohmann::json report() const;

 private:
  at::Tensor scale_;    ///< float; undefined: no scaling
  at::Tensor good_;     ///< int32, good steps since the scale changed
  at::Tensor skipped_;  ///< int64
};

}  // namespace kdgat::train
