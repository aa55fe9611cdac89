// Adam and AdamW on a fixed list of parameters, and gradient clipping. Owns the moments. Knows no
// schedule, loss or file. Nothing waits for the device.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/train/named_tensors.h"

namespace kdgat::train {

/// Adam (Kingma and Ba, arXiv 1412.6980; weight decay as an L2 term) or AdamW (Loshchilov and
/// Hutter, arXiv 1711.05101), betas 0.9 and 0.999, eps 1e-8. All parameters on one device.
class Optimizer {
 public:
  Optimizer(NamedTensors parameters, bool decoupled, double weight_decay);

  void zero_grad();
  /// Scales the gradients so that their common norm is at most `max_norm`; 0 = leaves them.
  void clip(double max_norm);
  /// Parameters without a gradient keep their value and moments. With `skip` (a float scalar on the
  /// device: 0 or 1) at 1 nothing changes at all.
  void step(double lr, const at::Tensor& skip = {});

  const NamedTensors& parameters() const { return parameters_; }
  /// Those there are, in the order of the parameters.
  std::vector<at::Tensor> gradients() const;

  /// The moments and step counts, by parameter name; share memory with the optimizer's own.
  NamedTensors state() const;

 private:
  NamedTensors parameters_;
  std::vector<at::Tensor> mean_, square_, steps_;
  bool decoupled_;
  double weight_decay_;
};

}  // namespace kdgat::train
