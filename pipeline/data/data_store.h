// Stores and inputs on the disk. Private to pipeline/data.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/data/data.h"

namespace kdgat {

inline constexpr const char* kStore = "graphs.safetensors";
inline constexpr const char* kSplit = "split.safetensors";

/// The store a path names: the file itself or the one in the folder; empty if neither.
std::filesystem::path store_of(const std::filesystem::path& path);

}  // namespace kdgat
