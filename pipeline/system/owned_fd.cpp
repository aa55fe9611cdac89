#include "pipeline/system/owned_fd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "kdgat/error.h"
#include "pipeline/system/subprocess.h"

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

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw StartError("cannot make a pipe", errno);
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
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
