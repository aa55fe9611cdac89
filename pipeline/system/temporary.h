// Folders that are there for a while only, and what is left when a process is killed. Whose a
// temporary folder is, its lock says: its maker holds it, and it ends with that process however it
// dies. On file systems without locks nothing is taken for nobody's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/system/owned_fd.h"

namespace kdgat {

/// A new folder inside `parent`, `prefix` and six letters, removed with everything in it at the
/// end. Throws Error(kData) if it cannot be made.
class TemporaryFolder {
 public:
  TemporaryFolder(const std::filesystem::path& parent, const std::string& prefix);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  OwnedFd lock_;
};

/// The lock of a folder itself, or none if another process holds it or there is no such folder.
OwnedFd lock_folder(const std::filesystem::path& folder);

/// Removes from `folder`, not from what is below it, what killed processes left: temporary folders
/// of these prefixes, and the temporary files of AtomicFile whose writers this machine does not
/// know. What a process still holds stays, as does everything of another name; nothing is done
/// where another process has the lock of the folder itself, as imports do. Never throws.
void clear_leftovers(const std::filesystem::path& folder,
                     const std::vector<std::string>& prefixes = {});

}  // namespace kdgat
