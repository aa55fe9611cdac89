#include "graph/line_reader.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kdgat/error.h"

namespace kdgat::graph {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr unsigned kCompressedBlock = 1U << 18;

[[noreturn]] void fail(const std::string& name, const std::string& reason) {
  throw Error(ExitCode::kData, "cannot read " + name + ": " + reason);
}

}  // namespace

void LineReader::Closer::operator()(gzFile_s* file) const { gzclose(file); }

LineReader::LineReader(const std::filesystem::path& path)
    : name_(path == "-" ? "standard input" : path.string()), buffer_(kBlock) {
  const int fd = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(name_, std::strerror(errno));
  file_.reset(gzdopen(fd, "rb"));
  if (!file_) {
    ::close(fd);
    fail(name_, "out of memory");
  }
  gzbuffer(file_.get(), kCompressedBlock);
}

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
  const auto room = static_cast<unsigned>(std::min(buffer_.size() - end_, std::size_t{1} << 30));
  const int bytes = gzread(file_.get(), buffer_.data() + end_, room);
  if (bytes <= 0) {
    // A file that ends inside a gzip member gives 0 bytes and leaves a code.
    int code = Z_OK;
    const char* message = gzerror(file_.get(), &code);
    if (code == Z_ERRNO) fail(name_, std::strerror(errno));
    if (code == Z_BUF_ERROR) fail(name_, "the gzip data ends too early");
    if (code != Z_OK) fail(name_, std::string("damaged gzip data: ") + message);
    return false;
  }
  end_ += static_cast<std::size_t>(bytes);
  const auto offset = static_cast<int64_t>(gzoffset(file_.get()));
  bytes_read_ = offset >= 0 ? offset : bytes_read_ + bytes;  // a pipe has no position
  return true;
}

}  // namespace kdgat::graph
