// A program on a terminal of its own, typed to as a person would.
#pragma once

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/programs/wait.h"

namespace kdgat::test {

class ShellOnTerminal {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  ShellOnTerminal(const std::vector<std::string>& words, const std::filesystem::path& folder,
                  const Variables& variables) {
    winsize size{24, 200, 0, 0};
    child_ = ::forkpty(&fd_, nullptr, nullptr, &size);
    if (child_ < 0) throw std::runtime_error("no terminal");
    if (child_ > 0) return;
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (::chdir(folder.c_str()) == 0) ::execvp(arguments.front(), arguments.data());
    ::_exit(127);
  }
  ShellOnTerminal(const ShellOnTerminal&) = delete;
  ShellOnTerminal& operator=(const ShellOnTerminal&) = delete;
  ~ShellOnTerminal() {
    if (child_ > 0) ends_by(SIGKILL);
    ::close(fd_);
  }

  void type(const std::string& text) {
    shown_.clear();
    if (::write(fd_, text.data(), text.size()) < 0) throw std::runtime_error("no terminal");
  }
  /// What it showed since the last words that were typed.
  const std::string& shown() const { return shown_; }
  /// Takes what it shows until `is_so`; false where that never comes true.
  bool waits_until(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + kHangLimit;
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      pollfd ready{fd_, POLLIN, 0};
      char part[4096];
      if (::poll(&ready, 1, 20) <= 0) continue;
      const ssize_t size = ::read(fd_, part, sizeof part);
      if (size <= 0) return is_so();  // it has ended
      shown_.append(part, static_cast<std::size_t>(size));
    }
    return true;
  }
  /// Its exit code after this signal; 1000 more than a shell tells if it was killed.
  int ends_by(int signal) {
    int status = 0;
    ::kill(child_, signal);
    ::waitpid(std::exchange(child_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1128 + WTERMSIG(status);
  }
  bool shows(const std::string& text) {
    return waits_until([&] { return shown_.find(text) != std::string::npos; });
  }

 private:
  int fd_ = -1;
  pid_t child_ = -1;
  std::string shown_;
};

}  // namespace kdgat::test
