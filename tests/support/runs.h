// Runs of the executable that are to succeed, and where their results are.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "support/command.h"

namespace kdgat::test {

/// The executable as a word of a shell.
inline std::string kdgat_word() {
  return "'" + std::filesystem::absolute(kdgat_binary()).string() + "'";
}

/// As run_kdgat(), and fails the test with what was said if it did not end well.
inline CommandResult must_kdgat(const std::string& words, const std::filesystem::path& folder) {
  CommandResult result = run_kdgat(words, folder);
  INFO(words << "\n" << result.err);
  REQUIRE(result.exit_code == 0);
  return result;
}

/// The newest run below `folder`, <root>/<data set>; of those with a step `step`, if one is named.
inline std::filesystem::path newest_run(const std::filesystem::path& folder,
                                        const std::string& step = "") {
  std::filesystem::path out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool is_run = std::filesystem::exists(entry.path() / "run.json") &&
                        std::filesystem::exists(entry.path() / step);
    if (is_run) out = std::max(out, entry.path());  // their names sort by time
  }
  INFO("runs below " << folder);
  REQUIRE_FALSE(out.empty());
  return out;
}

}  // namespace kdgat::test
