// Weights in safetensors files: every parameter and buffer under its module path, the frozen
// configuration in the metadata.
#pragma once

#include <torch/nn/module.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "graph/safetensors.h"

namespace kdgat::model {

/// Writes atomically; metadata "model" = name, "config" = the configuration.
void save_model(const std::filesystem::path& path, const torch::nn::Module& module,
                const std::string& name, const nlohmann::json& config);

/// Copies the file's tensors into the module, on its device. Names, shapes and dtypes must agree
/// exactly; Error(kData) names every missing, unexpected and differing tensor, and the module stays
/// unchanged.
void load_weights(torch::nn::Module& module, const graph::SafetensorsFile& file);

/// Metadata "model" and "config"; Error(kData) if one is missing or malformed.
struct ModelHeader {
  std::string name;
  nlohmann::json config;
};
ModelHeader load_header(const graph::SafetensorsFile& file);

}  // namespace kdgat::model
