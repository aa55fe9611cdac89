// The end of a stage that trains.
#pragma once

#include <torch/nn/module.h>

#include "engine/model/model_file.h"
#include "kdgat/stage.h"

namespace kdgat::setup {

/// Writes model.safetensors into request.run_dir, then removes what only the training needed: its
/// checkpoint, and the outputs of a teacher.
void finish(const Request& request, const torch::nn::Module& module,
            const model::ModelHeader& header);

}  // namespace kdgat::setup
