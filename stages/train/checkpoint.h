// A checkpoint file: named tensors and a JSON state in one safetensors file, complete or absent.
// Knows nothing about what the tensors are.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "train/optimizer.h"

namespace kdgat::train {

/// Writes atomically. Tensors on a device are copied to the host first.
void save_checkpoint(const std::filesystem::path& path, const NamedTensors& tensors,
                     const nlohmann::json& state);

/// The state of the file, or nothing if there is none. Tensors are not touched.
std::optional<nlohmann::json> read_checkpoint_state(const std::filesystem::path& path);

/// Copies the file's tensors into `tensors`, in place. Throws Error(kData) naming the file and the
/// tensor if one is missing, left over or of another shape; then none was changed.
void load_checkpoint(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace kdgat::train
