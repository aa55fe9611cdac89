// Tensors with names: what a module has, and lists of such that are copied and kept.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <string>
#include <utility>
#include <vector>

namespace kdgat::train {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

NamedTensors parameters_of(const torch::nn::Module& module);
NamedTensors buffers_of(const torch::nn::Module& module);
/// Parameters, then buffers.
NamedTensors weights_of(const torch::nn::Module& module);

/// Copies with memory of their own.
NamedTensors clones(const NamedTensors& tensors);
/// Values of `from` into `to`, by place; a device copies those of a type at once.
void copy(const NamedTensors& from, const NamedTensors& to);
/// Appends them as "group.name".
void add_group(NamedTensors& out, const std::string& group, const NamedTensors& tensors);

}  // namespace kdgat::train
