// xxh3-128, as 32 hex digits: names contents in fingerprints and plugin descriptions.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kdgat {

std::string hash_text(std::string_view text);

/// Throws Error(kPlugin) naming the path if it cannot be read.
std::string hash_file(const std::filesystem::path& path);

}  // namespace kdgat
