// Gradient checkpointing: keep a layer's input, compute the layer again in backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace kdgat::model {

/// body(input, first): the layer; `first` is false when it is computed again, so that it updates no
/// statistics. `parameters`: all that body reads and needs gradients. What body captures must live
/// until backward has run. Without gradients this is body(input, true).
at::Tensor checkpoint(const at::Tensor& input, const std::vector<at::Tensor>& parameters,
                      std::function<at::Tensor(const at::Tensor& input, bool first)> body);

}  // namespace kdgat::model
