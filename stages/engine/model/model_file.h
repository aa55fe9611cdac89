// Weights in safetensors files: every parameter and buffer under its module path, and what
// model_header.h says beside them.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <filesystem>
#include <string>

#include "engine/file/safetensors.h"
#include "engine/model/config/model_header.h"

namespace kdgat::model {

/// Writes atomically; the header as metadata.
void save_model(const std::filesystem::path& path, const torch::nn::Module& module,
                const ModelHeader& header);

/// Copies the file's tensors into the module, on its device. Names, shapes and dtypes must agree
/// exactly and numbers be finite; Error(kData) names every missing, unexpected and differing
/// tensor, and the module stays unchanged.
void load_weights(torch::nn::Module& module, const file::SafetensorsFile& file);

/// The values of a tensor, a view into the file. Error(kData) if there is no such tensor or a
/// number in it is not finite.
at::Tensor finite_tensor(const file::SafetensorsFile& file, const std::string& name);

/// Numbers that are trained; running statistics of norms are not.
int64_t count_parameters(const torch::nn::Module& module);

}  // namespace kdgat::model
