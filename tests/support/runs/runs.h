// Runs of the executable that are to succeed, and where their results are.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/programs/command.h"

namespace kdgat::test {

/// The executable as a word of a shell.
inline std::string kdgat_word() {
  return "'" + std::filesystem::absolute(kdgat_binary()).string() + "'";
}

/// Whether the program has this stage. A build may leave out the stages of fields (KDGAT_FIELDS).
inline bool has_stage(const std::string& name) {
  return std::filesystem::exists(build_folder() / "plugins" / ("kdgat_" + name + ".json"));
}

/// Those of `names` that the program has.
inline std::vector<std::string> existing_stages(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return !has_stage(name); });
  return names;
}

/// Whether the program has every field. What is about all of them is skipped where it has not.
inline bool has_all_fields() {
  const std::vector<std::string> of_fields = {"equivariant", "finetune", "graphsage", "textgcn"};
  if (existing_stages(of_fields) == of_fields) return true;
  WARN("skipped: this build leaves out fields");
  return false;
}

/// As run_kdgat(), and fails the test with what was said if it did not end well.
inline CommandResult must_kdgat(const std::string& words, const std::filesystem::path& folder) {
  CommandResult result = run_kdgat(words, folder);
  INFO(words << "\n" << result.err);
  REQUIRE(result.exit_code == 0);
  return result;
}

/// Of plans that are to be refused: words, and a part of what is said.
inline void check_refused(const std::vector<std::pair<std::string, std::string>>& plans,
                          const std::string& data, const std::filesystem::path& folder) {
  for (const auto& [words, reason] : plans) {
    INFO(words);
    const CommandResult refused = run_kdgat("plan " + words + " --data " + data, folder);
    CHECK(refused.exit_code != 0);
    CHECK_THAT(refused.err, Catch::Contains(reason));
  }
}

/// The folders of all runs below `folder`, however deep.
inline std::vector<std::filesystem::path> runs_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "run.json") out.push_back(entry.path().parent_path());
  }
  return out;
}

/// The newest run below `folder`, <root>/<data set>, of those of which `is_meant` says so.
inline std::filesystem::path newest_run(
    const std::filesystem::path& folder,
    const std::function<bool(const std::filesystem::path& run)>& is_meant) {
  std::filesystem::path out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool is_run = std::filesystem::exists(entry.path() / "run.json");
    if (is_run && is_meant(entry.path())) out = std::max(out, entry.path());  // names sort by time
  }
  INFO("runs below " << folder);
  REQUIRE_FALSE(out.empty());
  return out;
}

/// The same of all, or of those with a step `step`.
inline std::filesystem::path newest_run(const std::filesystem::path& folder,
                                        const std::string& step = "") {
  return newest_run(folder, [&](const std::filesystem::path& run) {
    return std::filesystem::exists(run / step);
  });
}

}  // namespace kdgat::test
