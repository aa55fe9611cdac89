#include "engine/train/named_tensors.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <map>

namespace kdgat::train {

NamedTensors parameters_of(const torch::nn::Module& module) {
  NamedTensors out;
  for (const auto& item : module.named_parameters()) out.emplace_back(item.key(), item.value());
  return out;
}

NamedTensors buffers_of(const torch::nn::Module& module) {
  NamedTensors out;
  for (const auto& item : module.named_buffers()) out.emplace_back(item.key(), item.value());
  return out;
}

NamedTensors weights_of(const torch::nn::Module& module) {
  NamedTensors out = parameters_of(module);
  for (auto& item : buffers_of(module)) out.push_back(std::move(item));
  return out;
}

NamedTensors clones(const NamedTensors& tensors) {
  NamedTensors out;
  for (const auto& [name, tensor] : tensors) out.emplace_back(name, tensor.detach().clone());
  return out;
}

void copy(const NamedTensors& from, const NamedTensors& to) {
  const at::NoGradGuard no_grad;
  std::map<at::ScalarType, std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>>> alike;
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto& [to_all, from_all] = alike[from[i].second.scalar_type()];
    to_all.push_back(to[i].second);
    from_all.push_back(from[i].second);
  }
  for (auto& [type, lists] : alike) at::_foreach_copy_(lists.first, lists.second);
}

void add_group(NamedTensors& out, const std::string& group, const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    out.emplace_back(std::string(group).append(".").append(name), tensor);
  }
}

}  // namespace kdgat::train
