// Which store a path names, and of which kind it is. Private to pipeline/data.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/data/data.h"

namespace kdgat {

inline constexpr const char* kStore = "graphs.safetensors";
inline constexpr const char* kSplit = "split.safetensors";

/// A kind of graph whose parts stand with it in one file.
struct OneFileKind {
  bool (*is_store)(const std::filesystem::path& store);
  PreparedData (*open)(const std::filesystem::path& store);
  nlohmann::json (*inspect)(const std::filesystem::path& store);
  std::vector<Diagnostic> (*verify)(const std::filesystem::path& store);
  const char* source;  ///< what it is made of
};

/// The kind of `store`, a file; null = a graph store with its split beside it. Throws Error(kData)
/// if it is missing or damaged.
const OneFileKind* one_file_kind(const std::filesystem::path& store);

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
