// LineReader: the lines of a text file, plain or gzip, or of standard input. Owns the open file and
// one block of it. Knows nothing about what the lines say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kdgat::file {

class ByteReader;

/// Longer ones are refused: what is no text must not become one line of all it is.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;

class LineReader {
 public:
  /// Gives the next bytes of a text: at most `room`, 0 at the end.
  using Read = std::function<std::size_t(char* to, std::size_t room)>;

  /// "-" is standard input. Throws Error(kData) if the file cannot be opened, and
  /// Error(kInterrupted) once `cancelled`, as ByteReader.
  explicit LineReader(const std::filesystem::path& path, std::function<bool()> cancelled = {});
  /// Lines of what is left of `bytes`.
  explicit LineReader(ByteReader bytes);
  /// Lines of a text in memory, called `name` in messages.
  LineReader(std::string name, std::string_view text);
  /// Lines of what `read` gives, called `name` in messages.
  LineReader(std::string name, Read read);
  LineReader(LineReader&&) noexcept;
  ~LineReader();

  /// The next line without its line end ("\n" or "\r\n"; the last line needs none), valid until the
  /// next call. False at the end. Waits for no more than that line. Throws Error(kData) if reading
  /// fails, gzip data is damaged or the line is longer than kLongestLine.
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
  [[noreturn]] void refuse_line() const;
  void take(std::string_view& line, std::size_t length) {
    if (length > kLongestLine) refuse_line();
    line = {buffer_.data() + begin_, length};
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    begin_ += length;
    ++line_number_;
  }

  std::string name_;
  std::unique_ptr<ByteReader> file_;
  Read read_;                 // null: all stands in the buffer
  std::vector<char> buffer_;  // [begin_, end_) is not yet handed out
  std::size_t begin_ = 0, end_ = 0;
  int64_t line_number_ = 0;
  int64_t bytes_read_ = 0;
};

}  // namespace kdgat::file
