// Writes a file so that it is complete or absent: temporary name, fsync, rename, fsync of the
// folder. Two writers of the same path do not disturb each other; the last rename wins with a whole
// file. A path that is a device or a pipe is written in place: a rename would put a plain file
// where /dev/null was.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
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
    if (is_stream()) {
      fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd_ < 0) fail("cannot open");
      return;
    }
    // Processes of two containers, or of one that is started again, may have one number: then the
    // names are told apart by where counting begins, and a name that is taken is left alone.
    static std::atomic<unsigned> counter{random_start()};
    do {
      temporary_ = path_;
      temporary_ += ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter++);
      fd_ = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
    } while (fd_ < 0 && errno == EEXIST);
    if (fd_ < 0) fail("cannot create");
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!committed_ && !in_place()) ::unlink(temporary_.c_str());
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
    // A device or a pipe has nothing to make durable, and says EINVAL.
    if (!in_place() && ::fsync(fd_) != 0) fail("cannot write");
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0) fail("cannot write");
    if (in_place()) return;
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
  /// Of nine digits at most, with room to count.
  static unsigned random_start() {
    unsigned out = 0;
    if (::getentropy(&out, sizeof out) != 0) out = 0;
    return out % 900'000'000U;
  }
  /// A device, a pipe, or one of the links in /dev, such as stdout.
  bool is_stream() const {
    struct stat found = {};
    if (::stat(path_.c_str(), &found) != 0) return false;
    if (path_.parent_path() == "/dev" && std::filesystem::is_symlink(path_)) return true;
    return !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
  }
  bool in_place() const { return temporary_.empty(); }
  [[noreturn]] void fail(const char* what) const {
    throw Error(ExitCode::kData,
                std::string(what) + " " + path_.string() + ": " + std::strerror(errno));
  }

  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< empty: path_ itself is written
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
