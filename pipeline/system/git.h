// The state of a Git working tree: the commit, and whether files differ from it. Commit and branch
// are read from .git itself. Whether files differ is asked of git, without the configuration of the
// repository: that names programs, and a folder from somebody else must not run any.
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
  /// A file under version control differs from the commit, or the index does. Files of submodules,
  /// untracked files and the executable bit do not count; no filter is run, so that a file whose
  /// stamp is not that of the index is compared as it lies on the disk. None if there is no git, it
  /// fails, or it has no answer within half a minute.
  std::optional<bool> is_dirty;
};

/// Reads the working tree that `folder` lies in; nullopt if there is none, or no commit in it, or
/// it cannot be read (as references in the form "reftable"). Never throws.
std::optional<GitState> read_git(const std::filesystem::path& folder);
/// The same with another program in the place of git; for tests.
std::optional<GitState> read_git(const std::filesystem::path& folder, const RunProgram& run);

}  // namespace kdgat
