// What of a Git working tree names its state: the commit, and whether files differ from it. Commit
// and branch are read from .git itself; no program is needed for them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "pipeline/system/program.h"

namespace kdgat {

struct GitState {
  std::filesystem::path folder;  ///< of the working tree
  std::string commit;            ///< 40 or 64 hex digits
  std::string branch;            ///< "" where none is checked out
  /// Files under version control differ from the commit; none where no program `git` can tell.
  std::optional<bool> is_dirty;
};

/// Of the working tree that `folder` lies in; nullopt if there is none, or no commit in it, or it
/// cannot be read. Never throws.
std::optional<GitState> read_git(const std::filesystem::path& folder,
                                 const RunProgram& run = run_program);

}  // namespace kdgat
