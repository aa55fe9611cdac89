// What /proc says of other processes, which may end at any time.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace kdgat::test {

/// A file of a process; empty once the process has ended. Not by a stream: libstdc++ throws where
/// the process ends between open and read.
inline std::string process_file(const std::string& pid, const std::string& name) {
  const int file = ::open(("/proc/" + pid + "/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  std::string out;
  char part[4096];
  if (file < 0) return out;
  for (ssize_t size = 0; (size = ::read(file, part, sizeof part)) > 0;)
    out.append(part, static_cast<std::size_t>(size));
  ::close(file);
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

/// State ('Z' = a zombie) and parent of a process; ' ' and 0 once it is gone.
inline std::pair<char, pid_t> state_and_parent(const std::string& pid) {
  const std::string text = process_file(pid, "stat");
  const std::size_t name = text.rfind(')');  // a name may hold anything
  std::istringstream rest(name == std::string::npos ? "" : text.substr(name + 1));
  char state = ' ';
  pid_t parent = 0;
  rest >> state >> parent;
  return {state, parent};
}

/// Whether a process works or waits; one that ended and was not waited for yet does not.
inline bool is_running(pid_t pid) {
  const char state = state_and_parent(std::to_string(pid)).first;
  return state != ' ' && state != 'Z' && state != 'X';
}

/// The processes that `parent` started and that still run, `word` in their command lines.
inline std::vector<pid_t> children_of(pid_t parent, const std::string& word = "") {
  std::vector<pid_t> out;
  for (const auto& [number, words] : command_lines()) {
    const auto [state, of] = state_and_parent(number);
    if (of != parent || state == 'Z' || words.find(word) == std::string::npos) continue;
    out.push_back(std::stoi(number));
  }
  return out;
}

/// Whether a signal was sent to a process that has not taken it yet: two of a kind that wait are
/// one.
inline bool has_pending(pid_t pid, int signal) {
  std::istringstream status(process_file(std::to_string(pid), "status"));
  for (std::string key; status >> key;) {
    if (key != "SigPnd:" && key != "ShdPnd:") continue;
    uint64_t mask = 0;
    status >> std::hex >> mask >> std::dec;
    if ((mask >> (signal - 1) & 1) != 0) return true;
  }
  return false;
}

/// Whether a process has this file open.
inline bool has_open(pid_t pid, const std::filesystem::path& file) {
  std::error_code ended;
  const std::filesystem::path folder = "/proc/" + std::to_string(pid) + "/fd";
  for (auto at = std::filesystem::directory_iterator(folder, ended);
       !ended && at != std::filesystem::directory_iterator(); at.increment(ended)) {
    std::error_code closed;
    if (std::filesystem::read_symlink(at->path(), closed) == file) return true;
  }
  return false;
}

}  // namespace kdgat::test
