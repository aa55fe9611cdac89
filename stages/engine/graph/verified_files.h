// Files whose data were found to agree with their hashes, remembered for a day and for all
// processes of a user in the cache folder ($XDG_CACHE_HOME or ~/.cache, kdgat/verified): reading a
// large file as a whole is not repeated at each opening.
#pragma once

#include <filesystem>
#include <string>

namespace kdgat::graph {

/// A file as it is at a moment: inode, size, and the times of its last write and of its last change
/// of any kind; `hash`, of its header, keeps files of two file systems apart. "" if there is none.
std::string identity_of(const std::filesystem::path& file, const std::string& hash);

/// Whether this identity was remembered, not longer than a day ago: a disk may lose a bit without
/// any trace in the identity.
bool is_verified(const std::string& identity);

/// Best effort: without a cache folder the data are read again next time.
void remember_verified(const std::string& identity);

}  // namespace kdgat::graph
