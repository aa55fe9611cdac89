// A network of `kdgat score` as LibTorch computes it: the scorer of a model file, and what the file
// says of the windows it wants.
#pragma once

#include <filesystem>

#include "engine/decision/stream/window_network.h"
#include "engine/train/objective.h"

namespace kdgat::score {

/// Throws Error(kData) for what is no model of windows, or does not say how they were cut.
decision::WindowNetwork load_network(const std::filesystem::path& given, torch::Device device);

}  // namespace kdgat::score
