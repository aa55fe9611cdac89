// Options whose names end in _path: what they name is an input of the step, like a file another
// step made.
#pragma once

#include "pipeline/profile/profile.h"

namespace kdgat {

/// Makes each such value of every step absolute (relative ones lie in the working directory of the
/// command) and puts the hash of its content into StepSpec::contents: of a file, of the
/// model.safetensors in a folder, or of those in the step folders of a run. Throws Error(kUsage)
/// with every one that names nothing.
void resolve_path_options(Profile& profile);

/// Whether a file is PyTorch's, by its name: .pt, .pth or .ckpt. What it holds is not read here;
/// scripts/convert_checkpoint makes a model of a checkpoint.
bool is_pytorch_file(const std::filesystem::path& file);

}  // namespace kdgat
