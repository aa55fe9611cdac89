// Finds the Python that tests compare files with, where one is installed.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "support/command.h"

namespace kdgat::test {

/// $KDGAT_PYTHON or python3 if it can import safetensors and numpy; else says that the test is
/// skipped.
inline std::optional<std::string> python_with_safetensors() {
  const char* chosen = std::getenv("KDGAT_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "python3";
  const std::string probe = python + " -c 'import safetensors.numpy'";
  if (run_shell(probe, std::filesystem::temp_directory_path()).exit_code == 0) return python;
  std::puts("skipped: Python's safetensors is not installed ($KDGAT_PYTHON names another Python)");
  return std::nullopt;
}

}  // namespace kdgat::test
