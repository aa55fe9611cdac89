// Runs the built executable as a person would and hands back what it said.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace kdgat::test {

/// A folder of its own, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kdgat-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed: " + name);
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct CommandResult {
  int exit_code = -1;  ///< 128 + n when killed by signal n
  std::string out, err;
};

/// What stands in a folder.
inline std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Runs `line` in bash inside `folder`, without standard input, and waits.
inline CommandResult run_shell(const std::string& line, const std::filesystem::path& folder) {
  const ScratchFolder scratch;
  const std::string out = (scratch / "out").string(), err = (scratch / "err").string();
  std::fflush(nullptr);  // or the child writes what waits in the parent's buffers again
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(folder.c_str()) != 0) ::_exit(126);
    if (std::freopen("/dev/null", "r", stdin) == nullptr ||
        std::freopen(out.c_str(), "w", stdout) == nullptr ||
        std::freopen(err.c_str(), "w", stderr) == nullptr) {
      ::_exit(126);
    }
    ::execl("/bin/bash", "bash", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CommandResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_text(out);
  result.err = read_text(err);
  return result;
}

/// The build folder, which is where the test program is. Asked for at run time, so that the same
/// test compiled in another folder is the same object.
inline std::filesystem::path build_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/// The executable under test: $KDGAT_BINARY, or what CMake built.
inline std::string kdgat_binary() {
  if (const char* named = std::getenv("KDGAT_BINARY")) return named;
  return (build_folder() / "kdgat").string();
}

/// `kdgat <words>` in `folder`, quoted as written by the caller.
inline CommandResult run_kdgat(const std::string& words, const std::filesystem::path& folder) {
  return run_shell("'" + std::filesystem::absolute(kdgat_binary()).string() + "' " + words, folder);
}

}  // namespace kdgat::test
