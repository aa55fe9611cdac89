// ByteReader: the bytes of a file or of standard input, gzip and zstd unpacked on the way. Owns the
// open file and a block of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace kdgat::file {

class ByteReader {
 public:
  /// "-" is standard input; a pipe that nobody writes to yet is waited for. Throws Error(kData) if
  /// the file cannot be opened. While a pipe or a terminal has nothing to say, and with every few
  /// MiB that are unpacked, `cancelled` is asked: true ends the reading with Error(kInterrupted).
  explicit ByteReader(const std::filesystem::path& path, std::function<bool()> cancelled = {});
  /// Bytes in memory, called `name` in messages; packed or not.
  ByteReader(std::string name, std::string_view bytes);
  ByteReader(ByteReader&&) noexcept;
  ~ByteReader();

  /// At least one byte, at most `room`, as soon as they are there; 0 at the end. Throws
  /// Error(kData) if reading fails or packed data is damaged.
  std::size_t read(char* to, std::size_t room);
  /// The next bytes, which stay the next: `least` of them, or all there are, and up to `most` where
  /// they are there. Call before read(); valid until the next call.
  std::string_view peek(std::size_t least, std::size_t most);
  /// Packed data that is cut short ends where it is cut, and `told` is called with what is wrong,
  /// once or more; without this it is an error.
  void on_cut(std::function<void(const std::string& what)> told);
  /// The open file, where it is a regular one that is not packed, so that any part of it can be
  /// read; -1 otherwise. Not owned.
  int plain_file();
  /// Whether bytes may come as they are made: a pipe, a terminal or a socket.
  bool is_live() const;

  const std::string& name() const { return name_; }
  int64_t stored_bytes() const;  ///< read so far, compressed or not

 private:
  class Impl;
  std::string name_;
  std::unique_ptr<Impl> impl_;
  std::string peeked_;  // from used_ on not yet read
  std::size_t used_ = 0;
};

/// The first bytes of a file, unpacked: `most`, or all there are.
std::string head_of(const std::filesystem::path& path, std::size_t most);

}  // namespace kdgat::file
