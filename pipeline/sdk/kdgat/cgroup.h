// The control groups of this process: version 1, version 2 or both, every level from its own group
// up to the top that can be seen from here. A limit of any level binds, so who asks for a limit
// asks all of them. What the files of a level mean is not known here.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kdgat {

/// One level. `name`: the group as the system calls it, "/user/job", from the top of the mount.
struct CgroupLevel {
  std::filesystem::path folder;
  std::string name;
  bool is_v2 = false;
};

namespace detail {

/// Where a hierarchy is mounted, and which of its groups stands at the mount point.
struct CgroupMount {
  std::filesystem::path folder;
  std::string group = "/";
};

/// The mount of version 2 (`controller` empty) or of a controller of version 1. Where /proc does
/// not say it, the usual place.
inline CgroupMount cgroup_mount(const std::filesystem::path& root, const std::string& controller) {
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    // id, parent, device, root, mount point, options, ...  - type, source, options of the mount
    std::istringstream head(line), tail(line.substr(dash + 3));
    std::string skipped, group, folder, type, options;
    head >> skipped >> skipped >> skipped >> group >> folder;
    tail >> type >> skipped >> options;
    const bool fits = controller.empty()
                          ? type == "cgroup2"
                          : type == "cgroup" &&
                                ("," + options + ",").find("," + controller + ",") != options.npos;
    if (fits) return {root / std::filesystem::path(folder).relative_path(), group};
  }
  return {root / "sys/fs/cgroup" / controller, "/"};
}

/// The path of a group below its mount point; empty for the group that stands there, and for one
/// that cannot be seen from here: a container is shown its own group at the top.
inline std::filesystem::path below_mount(const std::string& group, const CgroupMount& mount) {
  const std::string top = mount.group == "/" ? "" : mount.group;
  if (group.find("..") != std::string::npos || !(group + "/").starts_with(top + "/")) return {};
  const std::filesystem::path path = std::filesystem::path(group.substr(top.size()));
  std::error_code ignored;
  const bool is_there = std::filesystem::is_directory(mount.folder / path.relative_path(), ignored);
  return is_there ? path.relative_path() : std::filesystem::path();
}

}  // namespace detail

/// The levels that bind this process for a controller ("memory", "cpu"), its own group first; none
/// where there are no control groups. `root` stands before /proc and /sys.
inline std::vector<CgroupLevel> cgroup_levels(const std::filesystem::path& root,
                                              const std::string& controller) {
  std::vector<CgroupLevel> out;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/job", "0::/job"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_v2 = names == ",,";
    if (!is_v2 && names.find("," + controller + ",") == std::string::npos) continue;
    const detail::CgroupMount mount = detail::cgroup_mount(root, is_v2 ? "" : controller);
    for (std::filesystem::path at = detail::below_mount(line.substr(second + 1), mount);;
         at = at.parent_path()) {
      const bool is_top = at.empty();
      out.push_back({is_top ? mount.folder : mount.folder / at, "/" + at.string(), is_v2});
      if (is_top) break;
    }
  }
  return out;
}

/// The number that a file begins with; nullopt if it is not there or begins with a word ("max").
inline std::optional<uint64_t> number_of_file(const std::filesystem::path& file) {
  std::ifstream in(file);
  uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

/// The number behind `key` (or "key:") in a file of lines "key number"; nullopt if it is not there.
inline std::optional<uint64_t> number_of_file(const std::filesystem::path& file,
                                              const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t value = 0;
    if (words >> name >> value && (name == key || name == key + ":")) return value;
  }
  return std::nullopt;
}

}  // namespace kdgat
