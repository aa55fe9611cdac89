// The words in the head of a file of tensors (safetensors): a length of 8 bytes, a JSON object.
// Knows nothing of tensors.
#pragma once

#include <filesystem>
#include <string>

namespace kdgat {

/// An entry of the head's metadata; "" where there is none, and of a file of another form.
std::string tensor_metadata(const std::filesystem::path& file, const std::string& key);

}  // namespace kdgat
