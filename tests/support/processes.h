// What /proc says of other processes, which may end at any time.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/system/owned_fd.h"

namespace kdgat::test {

/// A file of a process; empty once the process has ended. Not by a stream: libstdc++ throws where
/// the process ends between open and read.
inline std::string process_file(const std::string& pid, const std::string& name) {
  const OwnedFd file(::open(("/proc/" + pid + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  char part[4096];
  if (file.get() < 0) return out;
  for (ssize_t size = 0; (size = ::read(file.get(), part, sizeof part)) > 0;)
    out.append(part, static_cast<std::size_t>(size));
  return out;
}

/// The number of every process that runs, and its command line, words parted by NULs.
inline std::vector<std::pair<std::string, std::string>> command_lines() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    out.emplace_back(pid, process_file(pid, "cmdline"));
  }
  return out;
}

}  // namespace kdgat::test
