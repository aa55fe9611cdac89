// Finds the Python that tests compare files with, where one is installed.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "support/command.h"

namespace kdgat::test {

/// $KDGAT_PYTHON or python3 if it can import `modules` ("torch, numpy"); else says that the test is
/// skipped.
inline std::optional<std::string> python_with(const std::string& modules) {
  const char* chosen = std::getenv("KDGAT_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "python3";
  const std::string probe = python + " -c 'import " + modules + "'";
  if (run_shell(probe, std::filesystem::temp_directory_path()).exit_code == 0) return python;
  std::printf("skipped: Python cannot import %s ($KDGAT_PYTHON names another Python)\n",
              modules.c_str());
  return std::nullopt;
}

/// For tests that only read files.
inline std::optional<std::string> python_with_safetensors() {
  return python_with("safetensors.numpy");
}

}  // namespace kdgat::test
