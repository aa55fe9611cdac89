#include "engine/data/core/folder_walk.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace kdgat::data {

namespace fs = std::filesystem;

namespace {

/// What tells a folder from all others, whatever path leads to it.
using Identity = std::pair<dev_t, ino_t>;

Identity identity_of(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

class Walker {
 public:
  explicit Walker(const fs::path& root) : root_(root) {
    std::error_code ignored;
    for (fs::path holder = fs::canonical(root, ignored); holder.has_relative_path();) {
      seen_.insert(identity_of(holder));
      holder = holder.parent_path();
    }
    seen_.insert(identity_of("/"));
  }

  FolderWalk walk() {
    read(root_);
    // Links come last: what is read without them keeps the name that it has without them.
    while (!links_.empty()) {
      std::vector<fs::path> links = std::exchange(links_, {});
      std::sort(links.begin(), links.end());
      for (const fs::path& link : links) follow(link);
    }
    return std::move(out_);
  }

 private:
  void read(const fs::path& folder) {
    std::error_code failure;
    for (fs::directory_iterator entries(folder, failure), end; !failure && entries != end;
         entries.increment(failure)) {
      if (!is_hidden(entries->path())) add(*entries);
    }
    if (failure) throw Error(ExitCode::kData, folder.string() + ": " + failure.message());
  }

  void add(const fs::directory_entry& entry) {
    std::error_code ignored;
    const bool is_link = entry.is_symlink(ignored);
    if (entry.is_directory(ignored)) {
      if (is_link) {
        links_.push_back(entry.path());
      } else if (seen_.insert(identity_of(entry.path())).second) {
        read(entry.path());
      }
    } else if (entry.is_regular_file(ignored)) {
      out_.files.push_back(entry.path());
    } else if (is_link) {
      out_.notes.push_back(
          {entry.path().string(), "left out: a link that leads to no file", "", "link", 1});
    }
  }

  void follow(const fs::path& link) {
    if (seen_.insert(identity_of(link)).second) return read(link);
    out_.notes.push_back({link.string(),
                          "left out: a link to a folder that is read under another name, or that "
                          "holds the one that is read",
                          "", "link", 1});
  }

  const fs::path& root_;
  FolderWalk out_;
  std::set<Identity> seen_;  // folders
  std::vector<fs::path> links_;
};

}  // namespace

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

FolderWalk walk_folder(const fs::path& root) { return Walker(root).walk(); }

}  // namespace kdgat::data
