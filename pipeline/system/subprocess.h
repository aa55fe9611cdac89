// A process beside the run (never a stage, see child.h): it is spoken to over its standard input,
// answers on its standard output, and ends when its input is closed. Owns the process and the
// host's ends of the pipes.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/system/owned_fd.h"

namespace kdgat {

using Deadline = std::chrono::steady_clock::time_point;
/// So many seconds from now.
Deadline deadline_in(double seconds);

/// A process that could not be started.
class StartError : public Error {
 public:
  /// `number`: what errno says.
  StartError(const std::string& what, int number)
      : Error(ExitCode::kStageFailed, what + ": " + std::strerror(number)), number_(number) {}
  /// Whether the machine lacks something just now that it may have later.
  bool may_pass() const {
    return number_ == EAGAIN || number_ == ENOMEM || number_ == EMFILE || number_ == ENFILE;
  }

 private:
  int number_;
};

class Subprocess {
 public:
  /// The executable and its arguments; `environment`: "NAME=value", set on top of this process's.
  /// In a process group of its own, so that a Ctrl-C is not for it; its standard error is thrown
  /// away. Throws Error(kStageFailed) if it cannot be started.
  explicit Subprocess(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment = {});
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;
  /// Kills the process if it still runs.
  ~Subprocess();

  /// False if the process does not take all of it in time, or no longer reads.
  bool write(std::string_view text, Deadline until);
  /// The next line, without its end; nullopt if none comes in time, before the process ends, or
  /// within `most` bytes, or once `give_up` says so (asked ten times a second).
  std::optional<std::string> read_line(
      Deadline until, std::size_t most = std::size_t{16} << 20,
      const std::function<bool()>& give_up = [] { return false; });
  /// What comes until the process closes its output; no more than about `most` bytes, and what has
  /// come by the deadline.
  std::string read_all(Deadline until, std::size_t most);
  void close_input() { input_.reset(); }

 private:
  /// False at the end of the output, at the deadline, or once `give_up` says so.
  bool read_more(Deadline until, const std::function<bool()>& give_up);

  pid_t pid_ = -1;
  OwnedFd input_, output_;
  std::string partial_;
};

/// Of this process, with these "NAME=value" in the place of its own of that name.
std::vector<std::string> environment_with(const std::vector<std::string>& extra);

/// As posix_spawn() takes them, with a null at the end; into `words`, which must last as long.
std::vector<char*> null_ended(std::vector<std::string>& words);

/// A file beside this executable.
std::filesystem::path beside_executable(const std::string& name);

}  // namespace kdgat
