// LineReader: the lines of a text file, plain or gzip, or of standard input. Owns the open file and
// one block of it. Knows nothing about what the lines say. No LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kdgat::graph {

class ByteReader;

class LineReader {
 public:
  /// "-" is standard input. Throws Error(kData) if the file cannot be opened. While a pipe or a
  /// terminal has nothing to say `cancelled` is asked now and then: true ends the reading with
  /// Error(kInterrupted).
  explicit LineReader(const std::filesystem::path& path, std::function<bool()> cancelled = {});
  /// Lines of a text in memory, called `name` in messages.
  LineReader(std::string name, std::string_view text);
  LineReader(LineReader&&) noexcept;
  ~LineReader();

  /// The next line without its line end ("\n" or "\r\n"; the last line needs none), valid until the
  /// next call. False at the end. Waits for no more than that line. Throws Error(kData) if reading
  /// fails or gzip data is damaged.
  bool next(std::string_view& line) {
    const char* from = buffer_.data() + begin_;
    const void* end = __builtin_memchr(from, '\n', end_ - begin_);
    if (end == nullptr) return next_across_blocks(line);
    take(line, static_cast<std::size_t>(static_cast<const char*>(end) - from));
    ++begin_;
    return true;
  }

  const std::string& name() const { return name_; }
  int64_t line_number() const { return line_number_; }  ///< of the last line, from 1
  int64_t bytes_read() const { return bytes_read_; }  ///< of the file as stored, compressed or not

 private:
  bool next_across_blocks(std::string_view& line);
  bool read_block();
  void take(std::string_view& line, std::size_t length) {
    line = {buffer_.data() + begin_, length};
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    begin_ += length;
    ++line_number_;
  }

  std::string name_;
  std::unique_ptr<ByteReader> file_;  // null: all stands in the buffer
  std::vector<char> buffer_;          // [begin_, end_) is not yet handed out
  std::size_t begin_ = 0, end_ = 0;
  int64_t line_number_ = 0;
  int64_t bytes_read_ = 0;
};

}  // namespace kdgat::graph
