// Stores that are opened once in a process and shared by all who ask.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>

namespace kdgat::graph {

/// Store has open(path) and mapped_bytes(); copies of one share its mapping. Any thread.
template <class Store>
class SharedStores {
 public:
  /// Those of this process.
  static SharedStores& all() {
    static SharedStores stores;
    return stores;
  }

  Store get(const std::filesystem::path& path) {
    const std::lock_guard lock(guard_);
    const FileIdentity key = identity_of(path);
    const auto found = stores_.find(key);
    return found != stores_.end() ? found->second
                                  : stores_.emplace(key, Store::open(path)).first->second;
  }
  int64_t bytes(const std::filesystem::path& path) {  ///< 0 = not opened
    const std::lock_guard lock(guard_);
    const auto found = stores_.find(identity_of(path));
    return found == stores_.end() ? 0 : found->second.mapped_bytes();
  }
  void forget() {
    const std::lock_guard lock(guard_);
    stores_.clear();
  }

 private:
  /// Which file a path names: another one under the same name is another key.
  using FileIdentity = std::array<int64_t, 5>;

  static FileIdentity identity_of(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};  // who opens it says what is wrong
    return {static_cast<int64_t>(status.st_dev), static_cast<int64_t>(status.st_ino),
            static_cast<int64_t>(status.st_size), static_cast<int64_t>(status.st_mtim.tv_sec),
            static_cast<int64_t>(status.st_mtim.tv_nsec)};
  }

  std::mutex guard_;
  std::map<FileIdentity, Store> stores_;
};

}  // namespace kdgat::graph
