#include "pipeline/system/owned_fd.h"

#include <fcntl.h>
#include <sys/mman.h>
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

OwnedFd memory_file(const std::string& text) {
  const auto fail = [](const std::string& what) {
    throw Error(ExitCode::kStageFailed,
                "cannot " + what + " a file in memory: " + std::strerror(errno));
  };
  OwnedFd fd(::memfd_create("kdgat-request", MFD_CLOEXEC));
  if (fd.get() < 0) fail("make");
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote =
        ::pwrite(fd.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (wrote < 0) fail("write");
    done += static_cast<std::size_t>(wrote);
  }
  return fd;
}

}  // namespace kdgat
