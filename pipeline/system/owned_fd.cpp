#include "pipeline/system/owned_fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kdgat/error.h"

namespace kdgat {

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void OwnedFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

OwnedFd open_file(const std::filesystem::path& path, int flags) {
  OwnedFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (fd.get() < 0) {
    throw Error(ExitCode::kData, "cannot open " + path.string() + ": " + std::strerror(errno));
  }
  return fd;
}

}  // namespace kdgat
