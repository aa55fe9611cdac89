// Background: the executable running next to the test, and waiting for what it writes. Work that a
// test interrupts is held: it has no end of its own, or it waits for a file that the test makes.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "support/programs/command.h"
#include "support/programs/processes.h"
#include "support/programs/wait.h"

namespace kdgat::test {

/// `kdgat <words>` in `folder`, which gets its output as `out` and `err`; killed at the end, with
/// the processes that it started.
class Background {
 public:
  Background(const std::string& words, const std::filesystem::path& folder) {
    const std::string line = "exec '" + std::filesystem::absolute(kdgat_binary()).string() +
                             "' < /dev/null " + words + " > out 2> err";
    for (const char* old : {"out", "err"}) {
      // What an earlier one left there must not be taken for its own.
      if (std::filesystem::is_regular_file(folder / old)) std::filesystem::remove(folder / old);
    }
    std::fflush(nullptr);  // or the child writes what waits in the parent's buffers again
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves nothing behind
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
    if (pid_ <= 0) return;
    const std::vector<pid_t> children = children_of(pid_);
    ::kill(pid_, SIGKILL);
    for (const pid_t child : children) ::kill(child, SIGKILL);
    wait();
  }

  pid_t pid() const { return pid_; }
  /// Returns once the process has taken the signal, or has ended.
  void signal(int number) const {
    ::kill(pid_, number);
    comes_true([&] { return !is_running(pid_) || !has_pending(pid_, number); });
  }
  /// Its exit code, 128 + n when killed by signal n; killed if it never ends.
  int wait() {
    if (pid_ <= 0) return -1;
    int status = 0;
    if (!comes_true([&] { return ::waitpid(pid_, &status, WNOHANG) != 0; })) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
    }
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

/// Waits until a file holds a text.
inline bool holds(const std::filesystem::path& file, const std::string& text) {
  return comes_true([&] { return read_text(file).find(text) != std::string::npos; });
}

/// How often files of this name below `folder`, in which others work, hold `text`.
inline std::size_t count_in(const std::filesystem::path& folder, const std::string& name,
                            const std::string& text) {
  namespace fs = std::filesystem;
  std::size_t found = 0;
  std::error_code changing;
  for (auto at = fs::recursive_directory_iterator(folder, changing);
       !changing && at != fs::recursive_directory_iterator(); at.increment(changing)) {
    if (at->path().filename() != name) continue;
    const std::string content = read_text(at->path());
    for (std::size_t at_text = content.find(text); at_text != std::string::npos;
         at_text = content.find(text, at_text + 1)) {
      ++found;
    }
  }
  return found;
}

/// Waits until files of this name below `folder` hold `text` so often.
inline bool wait_for(const std::filesystem::path& folder, const std::string& name,
                     const std::string& text, std::size_t times = 1) {
  return comes_true([&] { return count_in(folder, name, text) >= times; });
}

}  // namespace kdgat::test
