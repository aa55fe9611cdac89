// What kdgat run does, for verbs that do the same under another name: profile, data, plan, run
// folder, stages, and the tables at the end.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pipeline/execute/run_options.h"

namespace kdgat {

/// What a run, or an earlier one of which all is kept, has left.
struct RunOutcome {
  std::map<std::string, std::filesystem::path> models;  ///< file of each step that made one
};

/// How a verb is called and what it has of its own.
struct RunStyle {
  RunFlags flags;
  /// Of a run that went well, before its end is told: returns what to type next. Empty: the words
  /// of kdgat run.
  std::function<std::string(const RunOutcome&)> finish{};
  /// Of a run that is a replicate of another: the id of that one, and what was typed. Such a run
  /// has a folder even if all its steps are kept, and no name.
  std::string replicate_of{}, command{};
  /// Told the id of the run once it has a folder.
  std::function<void(const std::string& run)> on_begin{};
};

/// Returns the exit code; throws Error as kdgat run ends with one. `style` outlives the call.
int run_words(Context& context, const std::vector<std::string>& words, const RunStyle& style);

}  // namespace kdgat
