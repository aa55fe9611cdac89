#include "engine/file/random_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "kdgat/error.h"

namespace kdgat::file {
namespace {

constexpr std::size_t kInMemory = std::size_t{8} << 20;
constexpr std::size_t kCopied = std::size_t{1} << 20;

}  // namespace

RandomBytes::RandomBytes(ByteReader bytes) : bytes_(std::move(bytes)), fd_(bytes_.plain_file()) {
  if (fd_ < 0) {
    copy();
    return;
  }
  struct stat facts {};
  ::fstat(fd_, &facts);
  size_ = static_cast<uint64_t>(facts.st_size);
}

RandomBytes::~RandomBytes() {
  if (is_copied_ && fd_ >= 0) ::close(fd_);
}

void RandomBytes::copy() {
  is_copied_ = true;
  std::vector<uint8_t> block(kCopied);
  for (;;) {
    const std::size_t got = bytes_.read(reinterpret_cast<char*>(block.data()), block.size());
    if (got == 0) return;
    if (fd_ < 0 && memory_.size() + got <= kInMemory) {
      memory_.insert(memory_.end(), block.begin(),
                     block.begin() + static_cast<std::ptrdiff_t>(got));
    } else {
      spill(block.data(), got);
    }
    size_ += got;
  }
}

void RandomBytes::spill(const uint8_t* from, std::size_t bytes) {
  const char* named = std::getenv("TMPDIR");
  const std::string folder = named == nullptr || *named == '\0' ? "/tmp" : named;
  const auto fail = [&](const std::string& why) {
    throw Error(ExitCode::kData,
                "no room in " + folder + " for what " + name() + " unpacks to: " + why,
                "unpack it by hand, or set TMPDIR to a larger folder");
  };
  if (fd_ < 0) {
    std::string path = folder + "/kdgat-XXXXXX";
    fd_ = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd_ < 0) fail(std::strerror(errno));
    ::unlink(path.c_str());
    const std::vector<uint8_t> first = std::move(memory_);
    memory_.clear();
    if (!first.empty()) spill(first.data(), first.size());
  }
  struct statvfs disk {};
  if (::fstatvfs(fd_, &disk) == 0 && disk.f_bavail < disk.f_blocks / 10) {
    fail("less than a tenth of the disk is free");
  }
  while (bytes > 0) {
    const ssize_t done = ::write(fd_, from, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(std::strerror(errno));
    from += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

std::size_t RandomBytes::read(uint64_t offset, uint8_t* to, std::size_t bytes) const {
  if (offset >= size_) return 0;
  bytes = static_cast<std::size_t>(std::min<uint64_t>(bytes, size_ - offset));
  if (fd_ < 0) {
    std::copy_n(memory_.data() + offset, bytes, to);
    return bytes;
  }
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(fd_, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(ExitCode::kData, "cannot read " + name() + ": " + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace kdgat::file
