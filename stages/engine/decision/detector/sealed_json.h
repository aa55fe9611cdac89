// JSON files that hold a hash of their own content, as the member "hash": xxh3-128 of the content
// without it, written by nlohmann with sorted names and no blanks. A damaged or edited file is
// noticed; one that was forged with a hash of its own is not.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kdgat/stage.h"

namespace kdgat::decision {

/// Takes what a file is read in spite of; empty: nobody listens.
using Warn = std::function<void(const std::string& warning)>;

/// The text of a file with `content`, an object, and its hash.
std::string sealed_text(nlohmann::json content);

/// Checks the hash of `content`, the object that `file` holds, and takes it out. Where it has none,
/// `warn` is told: an earlier version wrote the file. Throws Error(kData) where the hash is
/// another, or `content` has a member that is none of `members`: a name that was damaged would
/// count as missing.
void check_seal(nlohmann::json& content, const std::filesystem::path& file,
                std::initializer_list<std::string_view> members, const Warn& warn);

/// Warnings to whoever started a stage.
inline Warn warning_to(const Host& host) {
  return [&host](const std::string& warning) { host.log("warning", warning); };
}

}  // namespace kdgat::decision
