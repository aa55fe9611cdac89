// Rebuilds a trained model and its score from a model file.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/train/objective.h"

namespace kdgat::objective {

/// From the frozen configuration in the file's metadata, never from defaults; weights strictly.
/// Model "vgae" gives an AutoencoderObjective, "gat" a ClassifierObjective, "fusion" a FusionScorer
/// (its two models stand beside the file), in eval mode. Throws Error(kData) naming the file and
/// all that is wrong.
std::unique_ptr<train::Scorer> load_scorer(const std::filesystem::path& model_file,
                                           torch::Device device);

}  // namespace kdgat::objective
