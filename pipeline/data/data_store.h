// Stores, inputs and temporary folders on the disk. Private to pipeline/data.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/data/data.h"

namespace kdgat {

inline constexpr const char* kStore = "graphs.safetensors";
inline constexpr const char* kSplit = "split.safetensors";

/// The store a path names: the file itself or the one in the folder; empty if neither.
std::filesystem::path store_of(const std::filesystem::path& path);

/// Throws Error(kData) unless there is such a file or folder; "-" is standard input.
void require_input(const std::filesystem::path& path);

/// A new folder inside `parent`, removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder(const std::filesystem::path& parent, const std::string& prefix);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kdgat
