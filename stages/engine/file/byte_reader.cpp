#include "engine/file/byte_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "kdgat/error.h"

namespace kdgat::file {
namespace {

constexpr std::size_t kStoredBlock = std::size_t{1} << 18;
constexpr int kPollMilliseconds = 100;
constexpr std::size_t kUnpackedBetweenAsking = std::size_t{1} << 22;

[[noreturn]] void fail(const std::string& name, const std::string& reason) {
  throw Error(ExitCode::kData, "cannot read " + name + ": " + reason);
}

}  // namespace

/// What gzread() would give, but as soon as it is there: gzread() waits until a buffer is full.
class ByteReader::Impl {
 public:
  Impl(const std::filesystem::path& path, std::string name, std::function<bool()> cancelled)
      : name_(std::move(name)), cancelled_(std::move(cancelled)), stored_(kStoredBlock) {
    // Not blocking: opening a pipe would wait for its writer, and no signal could end that.
    fd_ = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0) fail(name_, std::strerror(errno));
  }
  Impl(std::string name, std::string_view bytes)
      : name_(std::move(name)),
        stored_(std::max<std::size_t>(bytes.size(), kZstdMagic.size())),
        end_(bytes.size()),
        stored_bytes_(static_cast<int64_t>(bytes.size())) {
    std::copy(bytes.begin(), bytes.end(), stored_.begin());
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (packing_ == Packing::kGzip) inflateEnd(&stream_);
    ZSTD_freeDStream(zstd_);
    if (fd_ >= 0) ::close(fd_);
  }

  /// At least one byte, at most `room`; 0 at the end.
  std::size_t read(char* to, std::size_t room) {
    if (!is_known_) recognise();
    if (packing_ != Packing::kNone) {
      // A little that is stored may be very much unpacked.
      if (unpacked_ >= kUnpackedBetweenAsking) stop_if_cancelled();
      const std::size_t bytes =
          packing_ == Packing::kGzip ? unpack_gzip(to, room) : unpack_zstd(to, room);
      unpacked_ += bytes;
      return bytes;
    }
    if (begin_ == end_) return read_file(to, room);
    const std::size_t bytes = std::min(room, end_ - begin_);
    std::copy_n(stored_.data() + begin_, bytes, to);
    begin_ += bytes;
    return bytes;
  }
  int64_t stored_bytes() const { return stored_bytes_; }
  void on_cut(std::function<void(const std::string& what)> told) { on_cut_ = std::move(told); }
  int plain_file() {
    if (!is_known_) recognise();
    struct stat facts {};
    const bool is_plain = fd_ >= 0 && packing_ == Packing::kNone && ::fstat(fd_, &facts) == 0 &&
                          S_ISREG(facts.st_mode);
    return is_plain ? fd_ : -1;
  }
  bool is_live() const {
    struct stat facts {};
    return fd_ >= 0 && ::fstat(fd_, &facts) == 0 && !S_ISREG(facts.st_mode);
  }

 private:
  enum class Packing { kNone, kGzip, kZstd };
  static constexpr std::string_view kGzipMagic = "\x1f\x8b", kZstdMagic = "\x28\xb5\x2f\xfd";

  void recognise() {
    while (end_ < kZstdMagic.size() && refill()) continue;
    is_known_ = true;
    if (starts_with(kGzipMagic)) {
      if (inflateInit2(&stream_, 15 + 16) != Z_OK) fail(name_, "out of memory");
      packing_ = Packing::kGzip;
    } else if (starts_with(kZstdMagic)) {
      zstd_ = ZSTD_createDStream();
      if (zstd_ == nullptr) fail(name_, "out of memory");
      packing_ = Packing::kZstd;
    }
  }

  bool starts_with(std::string_view magic) const {
    return std::string_view(stored_.data() + begin_, end_ - begin_).starts_with(magic);
  }

  /// Of packed data that is whole or may be cut.
  std::size_t end(const char* what_is_cut) const {
    if (member_ended_) return 0;
    if (!on_cut_) fail(name_, what_is_cut);
    on_cut_(what_is_cut);
    return 0;
  }

  /// Memory is bounded by the library: it refuses windows of more than 128 MiB.
  std::size_t unpack_zstd(char* to, std::size_t room) {
    ZSTD_outBuffer out{to, room, 0};
    while (out.pos == 0) {
      if (begin_ == end_ && !has_more_ && !refill()) {
        return end("the zstd data ends too early");
      }
      ZSTD_inBuffer in{stored_.data() + begin_, end_ - begin_, 0};
      const std::size_t left = ZSTD_decompressStream(zstd_, &out, &in);
      begin_ += in.pos;
      if (ZSTD_isError(left) != 0) {
        fail(name_, std::string("damaged zstd data: ") + ZSTD_getErrorName(left));
      }
      member_ended_ = left == 0;  // another one may follow
      has_more_ = out.pos == room && !member_ended_;
    }
    return out.pos;
  }

  std::size_t unpack_gzip(char* to, std::size_t room) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out == room) {
      if (begin_ == end_ && !refill()) {
        return end("the gzip data ends too early");
      }
      if (member_ended_) {  // another member may follow; anything else after the end is ignored
        while (end_ - begin_ < kGzipMagic.size() && refill()) continue;
        if (!starts_with(kGzipMagic)) {
          begin_ = end_;
          continue;
        }
        inflateReset(&stream_);
        member_ended_ = false;
      }
      stream_.next_in = reinterpret_cast<Bytef*>(stored_.data() + begin_);
      stream_.avail_in = static_cast<uInt>(end_ - begin_);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      begin_ = end_ - stream_.avail_in;
      if (code == Z_STREAM_END) {
        member_ended_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        fail(name_, std::string("damaged gzip data: ") +
                        (stream_.msg == nullptr ? "unknown reason" : stream_.msg));
      }
    }
    return room - stream_.avail_out;
  }

  /// More stored bytes behind those not used; false at the end.
  bool refill() {
    std::copy(stored_.data() + begin_, stored_.data() + end_, stored_.data());
    end_ -= begin_;
    begin_ = 0;
    const std::size_t bytes = read_file(stored_.data() + end_, stored_.size() - end_);
    end_ += bytes;
    return bytes > 0;
  }

  std::size_t read_file(char* to, std::size_t room) {
    if (fd_ < 0) return 0;  // all of it was given
    for (;;) {
      wait();
      const ssize_t bytes = ::read(fd_, to, room);
      if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (bytes < 0) fail(name_, std::strerror(errno));
      stored_bytes_ += bytes;
      return static_cast<std::size_t>(bytes);
    }
  }

  /// Until there is something to read.
  void wait() {
    pollfd wanted{fd_, POLLIN, 0};
    do {
      stop_if_cancelled();
    } while (::poll(&wanted, 1, kPollMilliseconds) <= 0);
  }

  void stop_if_cancelled() {
    unpacked_ = 0;
    if (!cancelled_ || !cancelled_()) return;
    throw Error(ExitCode::kInterrupted, "interrupted while reading " + name_);
  }

  std::string name_;
  std::function<bool()> cancelled_;
  std::function<void(const std::string& what)> on_cut_;
  int fd_ = -1;
  std::vector<char> stored_;  // [begin_, end_) is not yet used
  std::size_t begin_ = 0, end_ = 0;
  int64_t stored_bytes_ = 0;
  std::size_t unpacked_ = 0;  // since `cancelled` was asked
  bool is_known_ = false, member_ended_ = false;
  bool has_more_ = false;  // zstd: unpacked, and there was no room for it
  Packing packing_ = Packing::kNone;
  z_stream stream_{};
  ZSTD_DStream* zstd_ = nullptr;
};

ByteReader::ByteReader(const std::filesystem::path& path, std::function<bool()> cancelled)
    : name_(path == "-" ? "standard input" : path.string()),
      impl_(std::make_unique<Impl>(path, name_, std::move(cancelled))) {}
ByteReader::ByteReader(std::string name, std::string_view bytes)
    : name_(std::move(name)), impl_(std::make_unique<Impl>(name_, bytes)) {}
ByteReader::ByteReader(ByteReader&&) noexcept = default;
ByteReader::~ByteReader() = default;

std::size_t ByteReader::read(char* to, std::size_t room) {
  if (used_ == peeked_.size()) return impl_->read(to, room);
  const std::size_t bytes = peeked_.copy(to, room, used_);
  used_ += bytes;
  return bytes;
}

std::string_view ByteReader::peek(std::size_t least, std::size_t most) {
  std::size_t size = peeked_.size();
  peeked_.resize(std::max(size, most));
  while (size < least) {
    const std::size_t more = impl_->read(peeked_.data() + size, most - size);
    if (more == 0) break;
    size += more;
  }
  peeked_.resize(size);
  return peeked_;
}

void ByteReader::on_cut(std::function<void(const std::string& what)> told) {
  impl_->on_cut(std::move(told));
}
bool ByteReader::is_live() const { return impl_->is_live(); }
int ByteReader::plain_file() { return impl_->plain_file(); }
int64_t ByteReader::stored_bytes() const { return impl_->stored_bytes(); }

std::string head_of(const std::filesystem::path& path, std::size_t most) {
  ByteReader bytes(path);
  std::string head(most, '\0');
  std::size_t size = 0;
  while (size < head.size()) {
    const std::size_t more = bytes.read(head.data() + size, head.size() - size);
    if (more == 0) break;
    size += more;
  }
  head.resize(size);
  return head;
}

}  // namespace kdgat::file
