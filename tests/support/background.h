// Background: the executable running beside the test, and waiting for what it writes.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>

#include "support/command.h"

namespace kdgat::test {

/// `kdgat <words>` in `folder`, which gets its output as `out` and `err`; killed at the end.
class Background {
 public:
  Background(const std::string& words, const std::filesystem::path& folder) {
    const std::string line = "exec '" + std::filesystem::absolute(kdgat_binary()).string() + "' " +
                             words + " > out 2> err";
    pid_ = ::fork();
    if (pid_ == 0) {
      // Who runs the tests may ignore these, as nohup and shells do.
      for (const int number : {SIGHUP, SIGINT, SIGQUIT}) std::signal(number, SIG_DFL);
      if (::chdir(folder.c_str()) != 0) ::_exit(126);
      ::execl("/bin/bash", "bash", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }

  pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }
  /// Its exit code, 128 + n when killed by signal n.
  int wait() {
    if (pid_ <= 0) return -1;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int end(int number) {
    signal(number);
    return wait();
  }

 private:
  pid_t pid_ = -1;
};

/// Waits until files of this name below `folder` say `text` so often; false after a minute.
inline bool wait_for(const std::filesystem::path& folder, const std::string& name,
                     const std::string& text, std::size_t times = 1) {
  namespace fs = std::filesystem;
  for (int i = 0; i < 6000; ++i, ::usleep(10'000)) {
    std::size_t found = 0;
    std::error_code changing;
    for (auto at = fs::recursive_directory_iterator(folder, changing);
         at != fs::recursive_directory_iterator(); at.increment(changing)) {
      if (changing) break;
      if (at->path().filename() != name) continue;
      const std::string content = read_text(at->path());
      for (std::size_t at_text = content.find(text); at_text != std::string::npos;
           at_text = content.find(text, at_text + 1)) {
        ++found;
      }
    }
    if (found >= times) return true;
  }
  return false;
}

}  // namespace kdgat::test
