// File descriptors with an owner, and what is written to one. Knows no folder and no process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace kdgat {

/// A file descriptor that is closed.
class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept;
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() { reset(); }
  void reset();
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  OwnedFd read, write;
};
/// Closed in programs that are started. Throws StartError, see system/subprocess.h.
Pipe make_pipe();

/// Writes all of the text. False where the descriptor takes no more: errno says why.
bool write_all(int fd, std::string_view text);

/// Opens or makes a file. Throws Error(kData) naming it and the system's reason.
OwnedFd open_file(const std::filesystem::path& path, int flags);

/// A file in memory with this text, read from its start. Throws Error(kStageFailed).
OwnedFd memory_file(const std::string& text);

}  // namespace kdgat
