// Finds the Python that tests compare files with, where one is installed.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "support/programs/command.h"

namespace kdgat::test {

/// The folder of programs of the environment scripts/setup --peers makes.
inline std::filesystem::path peers_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base =
      cache != nullptr && *cache != '\0'
          ? std::filesystem::path(cache)
          : std::filesystem::path(home == nullptr ? "/" : home) / ".cache";
  return base / "kdgat/peers/bin";
}

/// The first of $KDGAT_PYTHON, the peers' and python3 that can import `modules` ("torch, numpy");
/// else says that the test is skipped.
inline std::optional<std::string> python_with(const std::string& modules) {
  const char* chosen = std::getenv("KDGAT_PYTHON");
  const std::filesystem::path peer = peers_folder() / "python3";
  for (const std::string& python :
       {std::string(chosen == nullptr ? "" : chosen), peer.string(), std::string("python3")}) {
    if (python.empty()) continue;
    const std::string probe = python + " -c 'import " + modules + "'";
    if (run_shell(probe, std::filesystem::temp_directory_path()).exit_code == 0) return python;
  }
  std::printf(
      "skipped: Python cannot import %s (scripts/setup --peers installs it; $KDGAT_PYTHON "
      "names another Python)\n",
      modules.c_str());
  return std::nullopt;
}

/// For tests that only read files.
inline std::optional<std::string> python_with_safetensors() {
  return python_with("safetensors.numpy");
}

}  // namespace kdgat::test
