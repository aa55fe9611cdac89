// One stage in a process of its own: `kdgat stage-child`, its request on standard input, events as
// JSON lines over a pipe, cancellation over another. Owns the process and the host's ends of the
// pipes; knows nothing of plans and folders.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/system/owned_fd.h"

namespace kdgat {

/// Where the child finds its ends.
inline constexpr int kEventsFd = 3;
inline constexpr int kCancelFd = 4;
inline constexpr int kLockFd = 5;

struct ChildSpec {
  std::string verb = "stage-child";
  std::filesystem::path executable = "/proc/self/exe";
  int request_fd = -1;  ///< becomes standard input
  int output_fd = -1;   ///< becomes standard output and error; -1: the host's error
  int lock_fd = -1;     ///< kept open by the child; -1: none
  std::vector<std::string> environment{};  ///< "NAME=value", set on top of the host's
};

struct ChildEnd {
  int exit_code = 0;
  int signal = 0;  ///< that killed it, or 0
  uint64_t peak_resident_bytes = 0;
};

class Child {
 public:
  /// Throws Error(kStageFailed) if no process can be started.
  explicit Child(const ChildSpec& spec);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Kills the process and its group if it still runs.
  ~Child();

  pid_t pid() const { return pid_; }
  /// Waits up to `milliseconds` for lines and hands over each whole one. False once the process has
  /// ended and every line was handed over.
  bool poll(int milliseconds, const std::function<void(std::string_view)>& on_line);
  /// Asks the stage to leave with this exit code after a checkpoint.
  void cancel(int exit_code);
  void kill();
  /// Valid after poll() returned false.
  const ChildEnd& end() const { return end_; }

 private:
  bool reap(bool wait);

  pid_t pid_ = -1;
  bool is_running_ = false;
  OwnedFd events_, cancel_;
  std::vector<char> buffer_ = std::vector<char>(1 << 16);  // too large for a small stack
  std::string partial_;
  ChildEnd end_;
};

}  // namespace kdgat
