// Background: the executable running beside the test.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

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

}  // namespace kdgat::test
