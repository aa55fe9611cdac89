#include "engine/file/line_reader.h"

#include <algorithm>
#include <cstring>

#include "engine/file/byte_reader.h"
#include "kdgat/error.h"

namespace kdgat::file {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

}  // namespace

LineReader::LineReader(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

LineReader::LineReader(const std::filesystem::path& path, std::function<bool()> cancelled)
    : LineReader(ByteReader(path, std::move(cancelled))) {}

LineReader::LineReader(ByteReader bytes)
    : file_(std::make_unique<ByteReader>(std::move(bytes))), buffer_(kBlock) {
  name_ = file_->name();
  read_ = [file = file_.get()](char* to, std::size_t room) { return file->read(to, room); };
}

LineReader::LineReader(std::string name, Read read)
    : name_(std::move(name)), read_(std::move(read)), buffer_(kBlock) {}

LineReader::LineReader(std::string name, std::string_view text)
    : name_(std::move(name)),
      buffer_(text.size() + 1),  // never empty: memchr takes no null pointer
      end_(text.size()),
      bytes_read_(static_cast<int64_t>(text.size())) {
  std::copy(text.begin(), text.end(), buffer_.begin());
}

bool LineReader::next_across_blocks(std::string_view& line) {
  std::size_t searched = end_ - begin_;
  while (searched <= kLongestLine && read_block()) {
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

void LineReader::refuse_line() const {
  throw Error(ExitCode::kData,
              "a line longer than " + std::to_string(kLongestLine >> 20) + " MiB: not a text", "",
              name_ + ":" + std::to_string(line_number_ + 1));
}

/// Reads behind what is left of the last block, which moves to the front; a line longer than the
/// buffer makes it grow. False at the end of the file.
bool LineReader::read_block() {
  if (!read_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() - end_ < kBlock / 2) buffer_.resize(2 * buffer_.size());
  const std::size_t bytes = read_(buffer_.data() + end_, buffer_.size() - end_);
  end_ += bytes;
  bytes_read_ = file_ ? file_->stored_bytes() : bytes_read_ + static_cast<int64_t>(bytes);
  return bytes > 0;
}

}  // namespace kdgat::file
