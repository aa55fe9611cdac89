// Writes a file so that it is complete or absent: temporary name, fsync, rename, fsync of the
// folder. Two writers of the same path do not disturb each other; the last rename wins with a whole
// file.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "kdgat/error.h"

namespace kdgat {

/// Owns the temporary file until commit(); a destructor without commit() removes it. Every failure
/// (full disk, no permission) throws Error(kData) naming the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
    static std::atomic<unsigned> counter{0};
    temporary_ = path_;
    temporary_ += ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter++);
    fd_ = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
    if (fd_ < 0) fail("cannot create");
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!committed_) ::unlink(temporary_.c_str());
  }

  int fd() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }

  void write(const void* data, std::size_t bytes) {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t done = ::write(fd_, at, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("cannot write");
      at += done;
      bytes -= static_cast<std::size_t>(done);
    }
  }
  void write(std::string_view text) { write(text.data(), text.size()); }

  void write_at(std::size_t offset, const void* data, std::size_t bytes) {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t done = ::pwrite(fd_, at, bytes, static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("cannot write");
      at += done;
      offset += static_cast<std::size_t>(done);
      bytes -= static_cast<std::size_t>(done);
    }
  }

  /// After this the file stands under its name, whatever happens to the machine.
  void commit() {
    if (::fsync(fd_) != 0) fail("cannot write");
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0) fail("cannot write");
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot rename");
    committed_ = true;
    const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
    const int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) {
      ::fsync(dir);
      ::close(dir);
    }
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(ExitCode::kData,
                std::string(what) + " " + path_.string() + ": " + std::strerror(errno));
  }

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  bool committed_ = false;
};

/// Replaces the contents of `path` with `text`, atomically.
inline void write_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace kdgat
