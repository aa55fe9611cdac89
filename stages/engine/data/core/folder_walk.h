// The files below a folder, as every kind of data finds them.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/data/core/note.h"

namespace kdgat::data {

/// Whether its name begins with a dot.
bool is_hidden(const std::filesystem::path& path);

struct FolderWalk {
  /// Files and links to files; each path begins with that of the folder. In no order.
  std::vector<std::filesystem::path> files;
  /// Links that lead nowhere or to a folder that is read without them.
  Notes notes;
};

/// All files below `root` but hidden ones and those in hidden folders. A link to a folder is
/// followed, unless the folder is read anyway, has been read through another link, or holds `root`.
/// Throws Error(kData) for a folder that cannot be read.
FolderWalk walk_folder(const std::filesystem::path& root);

}  // namespace kdgat::data
