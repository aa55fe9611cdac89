#include "engine/arrays/column.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "kdgat/error.h"

namespace kdgat::arrays {
namespace {

constexpr std::size_t kPage = std::size_t{1} << 21;  // a file grows by whole ones
constexpr std::size_t kLeastGrowth = std::size_t{16} << 20;

[[noreturn]] void fail(const std::filesystem::path& folder, int error) {
  throw Error(ExitCode::kData, "cannot write in " + folder.string() + ": " + std::strerror(error),
              "data larger than the memory stand in a file there while they are put together");
}

/// A file without a name: it is gone with its last owner.
int open_nameless(const std::filesystem::path& folder) {
#ifdef O_TMPFILE
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
#endif
  std::string name = (folder / ".column.XXXXXX").string();  // where a file system has none, as NFS
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named < 0) fail(folder, errno);
  ::unlink(name.c_str());
  return named;
}

}  // namespace

ColumnBytes::~ColumnBytes() { release(); }

void ColumnBytes::release() {
  if (fd_ >= 0) {
    ::munmap(data_, capacity_);
    ::close(fd_);
  } else {
    std::free(data_);
  }
}

void ColumnBytes::swap(ColumnBytes& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  std::swap(most_, other.most_);
  std::swap(folder_, other.folder_);
  std::swap(fd_, other.fd_);
}

void ColumnBytes::spill_to(const std::filesystem::path& folder, std::size_t most) {
  folder_ = folder.empty() ? "." : folder;
  most_ = most;
}

void ColumnBytes::grow(std::size_t bytes, std::size_t used) {
  if (fd_ >= 0 || (!folder_.empty() && bytes > most_)) {
    grow_file(bytes, used);
    return;
  }
  const std::size_t room = std::max(bytes, 2 * capacity_);
  void* moved = std::realloc(data_, room);
  if (moved == nullptr) throw std::bad_alloc();
  data_ = moved;
  capacity_ = room;
}

void ColumnBytes::grow_file(std::size_t bytes, std::size_t used) {
  std::size_t room = std::max(bytes, std::max(capacity_ + capacity_ / 4, capacity_ + kLeastGrowth));
  room = (room + kPage - 1) / kPage * kPage;
  const int fd = fd_ >= 0 ? fd_ : open_nameless(folder_);
  const bool is_new = fd_ < 0;
  // The disk is asked for the room now: a write to a mapping without any would end the process.
  const std::size_t from = is_new ? 0 : capacity_;
  const int failure =
      ::posix_fallocate(fd, static_cast<off_t>(from), static_cast<off_t>(room - from));
  void* mapped = MAP_FAILED;
  int error = failure;
  if (failure == 0) {
    mapped = is_new ? ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                    : ::mremap(data_, capacity_, room, MREMAP_MAYMOVE);
    error = errno;
  }
  if (mapped == MAP_FAILED) {
    if (is_new) ::close(fd);
    fail(folder_, error);
  }
  if (is_new) {
    if (used > 0) std::memcpy(mapped, data_, used);
    std::free(data_);
    fd_ = fd;
  } else {
    // What was written so far is not looked at soon: its pages are the system's to take.
    ::madvise(mapped, used / kPage * kPage, MADV_DONTNEED);
  }
  data_ = mapped;
  capacity_ = room;
}

}  // namespace kdgat::arrays
