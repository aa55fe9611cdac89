// A log without an end, for programs that a test stops while they read.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>

#include "support/programs/wait.h"

namespace kdgat::test {

/// A FIFO that a program reads. It gets what is written and then waits for more until it is
/// stopped.
class HeldPipe {
 public:
  explicit HeldPipe(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::remove(path_);
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
  }
  HeldPipe(const HeldPipe&) = delete;
  HeldPipe& operator=(const HeldPipe&) = delete;
  ~HeldPipe() {
    if (fd_ >= 0) ::close(fd_);
    std::filesystem::remove(path_);
  }
  /// Returns once all is read but the 64 KiB that a pipe holds.
  void write(const std::string& text) {
    // There is no pipe to open before its reader has opened it.
    if (fd_ < 0) {
      REQUIRE(comes_true([&] {
        fd_ = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        return fd_ >= 0;
      }));
      ::fcntl(fd_, F_SETFL, O_WRONLY);
    }
    REQUIRE(::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace kdgat::test
