// RoundedModel: the model that C sources with int8 compute: the same one with the weights that
// their bytes stand for.
#pragma once

#include <filesystem>

#include "engine/export/c/network_code.h"
#include "engine/file/safetensors.h"
#include "engine/model/config/model_header.h"

namespace kdgat::exporting {

/// A safetensors file of the model with the tensors that `code` has rounded; a hashed embedding has
/// become a table. Throws Error(kData) where the file cannot be written.
void write_rounded(const file::SafetensorsFile& file, const model::ModelHeader& header,
                   const NetworkCode& code, const std::filesystem::path& path);

}  // namespace kdgat::exporting
