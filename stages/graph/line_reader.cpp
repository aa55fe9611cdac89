#include "graph/line_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kdgat/error.h"

namespace kdgat::graph {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kCompressedBlock = std::size_t{1} << 18;
constexpr int kPollMilliseconds = 100;

[[noreturn]] void fail(const std::string& name, const std::string& reason) {
  throw Error(ExitCode::kData, "cannot read " + name + ": " + reason);
}

}  // namespace

/// What gzread() would give, but as soon as it is there: gzread() waits until a buffer is full.
class LineReader::Bytes {
 public:
  Bytes(const std::filesystem::path& path, std::string name, std::function<bool()> cancelled)
      : name_(std::move(name)), cancelled_(std::move(cancelled)), stored_(kCompressedBlock) {
    fd_ = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) fail(name_, std::strerror(errno));
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() {
    if (is_packed_) inflateEnd(&stream_);
    ::close(fd_);
  }

  /// At least one byte, at most `room`; 0 at the end.
  std::size_t read(char* to, std::size_t room) {
    if (!is_known_) recognise();
    if (is_packed_) return unpack(to, room);
    if (begin_ == end_) return read_file(to, room);
    const std::size_t bytes = std::min(room, end_ - begin_);
    std::copy_n(stored_.data() + begin_, bytes, to);
    begin_ += bytes;
    return bytes;
  }
  int64_t stored_bytes() const { return stored_bytes_; }

 private:
  void recognise() {
    while (end_ < 2 && refill()) continue;
    is_known_ = true;
    if (!starts_with_magic()) return;
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) fail(name_, "out of memory");
    is_packed_ = true;
  }

  bool starts_with_magic() const {
    const auto byte = [this](std::size_t i) {
      return static_cast<unsigned char>(stored_[begin_ + i]);
    };
    return end_ - begin_ >= 2 && byte(0) == 0x1f && byte(1) == 0x8b;
  }

  std::size_t unpack(char* to, std::size_t room) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out == room) {
      if (begin_ == end_ && !refill()) {
        if (!member_ended_) fail(name_, "the gzip data ends too early");
        return 0;
      }
      if (member_ended_) {  // another member may follow; anything else after the end is ignored
        while (end_ - begin_ < 2 && refill()) continue;
        if (!starts_with_magic()) {
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
    for (;;) {
      if (cancelled_) wait();
      const ssize_t bytes = ::read(fd_, to, room);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0) fail(name_, std::strerror(errno));
      stored_bytes_ += bytes;
      return static_cast<std::size_t>(bytes);
    }
  }

  /// Until there is something to read.
  void wait() const {
    pollfd wanted{fd_, POLLIN, 0};
    do {
      if (cancelled_()) throw Error(ExitCode::kInterrupted, "interrupted while reading " + name_);
    } while (::poll(&wanted, 1, kPollMilliseconds) <= 0);
  }

  std::string name_;
  std::function<bool()> cancelled_;
  int fd_ = -1;
  std::vector<char> stored_;  // [begin_, end_) is not yet used
  std::size_t begin_ = 0, end_ = 0;
  int64_t stored_bytes_ = 0;
  bool is_known_ = false, is_packed_ = false, member_ended_ = false;
  z_stream stream_{};
};

LineReader::LineReader(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

LineReader::LineReader(const std::filesystem::path& path, std::function<bool()> cancelled)
    : name_(path == "-" ? "standard input" : path.string()),
      file_(std::make_unique<Bytes>(path, name_, std::move(cancelled))),
      buffer_(kBlock) {}

LineReader::LineReader(std::string name, std::string_view text)
    : name_(std::move(name)),
      buffer_(text.size() + 1),  // never empty: memchr takes no null pointer
      end_(text.size()),
      bytes_read_(static_cast<int64_t>(text.size())) {
  std::copy(text.begin(), text.end(), buffer_.begin());
}

bool LineReader::next_across_blocks(std::string_view& line) {
  std::size_t searched = end_ - begin_;
  while (read_block()) {
    const char* from = buffer_.data() + begin_;
    const void* end = std::memchr(from + searched, '\n', end_ - begin_ - searched);
    if (end != nullptr) {
      take(line, static_cast<std::size_t>(static_cast<const char*>(end) - from));
      ++begin_;
      return true;
    }
    searched = end_ - begin_;
  }
  if (begin_ == end_) return false;
  take(line, end_ - begin_);
  return true;
}

/// Reads behind what is left of the last block, which moves to the front; a line longer than the
/// buffer makes it grow. False at the end of the file.
bool LineReader::read_block() {
  if (!file_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() - end_ < kBlock / 2) buffer_.resize(2 * buffer_.size());
  const std::size_t bytes = file_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += bytes;
  bytes_read_ = file_->stored_bytes();
  return bytes > 0;
}

}  // namespace kdgat::graph
