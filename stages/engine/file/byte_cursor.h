// ByteCursor: bytes of a file in order, several at a time, as parsers of binary forms want them.
// Owns a buffer; the source is not owned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace kdgat::file {

class ByteCursor {
 public:
  /// Gives the next bytes: at most `room`, 0 at the end.
  using Read = std::function<std::size_t(uint8_t* to, std::size_t room)>;

  explicit ByteCursor(Read read, std::size_t block = std::size_t{1} << 18)
      : read_(std::move(read)), buffer_(block + kSlack) {}

  /// So many bytes behind those that peek() and take() give may be read, whatever they are.
  static constexpr std::size_t kSlack = 8;

  /// The next bytes, which stay the next; valid until the following call. nullptr if the source
  /// ends before that many. The buffer grows to the largest number that is asked for.
  const uint8_t* peek(std::size_t bytes) {
    if (end_ - begin_ < bytes && !fill(bytes)) return nullptr;
    return buffer_.data() + begin_;
  }
  /// Those that peek() gave, or fewer.
  void skip(std::size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  /// peek() and skip(): valid until the following call.
  const uint8_t* take(std::size_t bytes) {
    const uint8_t* out = peek(bytes);
    if (out != nullptr) skip(bytes);
    return out;
  }
  /// False if the source ends before that many.
  bool skip_far(uint64_t bytes) {
    while (bytes > 0) {
      const auto now = static_cast<std::size_t>(std::min<uint64_t>(bytes, end_ - begin_));
      skip(now);
      bytes -= now;
      if (bytes > 0 && !fill(1)) return false;
    }
    return true;
  }
  std::size_t buffered() const { return end_ - begin_; }
  uint64_t offset() const { return offset_; }  ///< of the next byte, from where the source began

 private:
  bool fill(std::size_t bytes) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (buffer_.size() < bytes + kSlack) buffer_.resize(bytes + kSlack);
    while (end_ < bytes) {
      const std::size_t got = read_(buffer_.data() + end_, buffer_.size() - kSlack - end_);
      if (got == 0) return false;
      end_ += got;
    }
    return true;
  }

  Read read_;
  std::vector<uint8_t> buffer_;  // [begin_, end_) is not yet taken
  std::size_t begin_ = 0, end_ = 0;
  uint64_t offset_ = 0;
};

/// Numbers of a binary form, which may stand anywhere.
template <typename T>
T little(const uint8_t* from) {
  T out;
  std::memcpy(&out, from, sizeof(T));
  return out;
}
template <typename T>
T big(const uint8_t* from) {
  uint8_t turned[sizeof(T)];
  std::reverse_copy(from, from + sizeof(T), turned);
  return little<T>(turned);
}

}  // namespace kdgat::file
