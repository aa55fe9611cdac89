// TarReader: the regular files of a tar archive, packed by gzip or not, one after the other. Reads
// ustar, GNU long names and the path and size of pax headers.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "engine/file/byte_reader.h"

namespace kdgat::file {

inline constexpr int64_t kLargestMember = int64_t{1} << 30;

class TarReader {
 public:
  /// A file of more than `largest` bytes that is asked for is refused.
  explicit TarReader(const std::filesystem::path& path, std::function<bool()> cancelled = {},
                     int64_t largest = kLargestMember)
      : bytes_(path, std::move(cancelled)), largest_(largest) {}
  /// An archive in memory, called `name` in messages.
  TarReader(std::string name, std::string_view bytes) : bytes_(std::move(name), bytes) {}

  /// Goes to the next regular file; false at the end. Folders, links and devices are passed over.
  /// Throws Error(kData) if the archive is damaged or ends before its end mark.
  bool next();
  const std::string& name() const { return name_; }  ///< of the file, as it stands in the archive
  /// The whole file. Of this and the next, one call for each file. Both throw Error(kData) for a
  /// file that is too large.
  std::string content();
  /// Gives the file piece by piece, at most `room` bytes each, 0 at its end; until the next next().
  std::function<std::size_t(char* to, std::size_t room)> stream();

  const std::string& archive() const { return bytes_.name(); }
  int64_t bytes_read() const { return bytes_.stored_bytes(); }  ///< compressed or not

 private:
  static constexpr std::size_t kBlock = 512;
  using Block = std::array<char, kBlock>;

  bool read_block(Block& block);  // false where there is none
  void require_size() const;
  std::string take(int64_t size);
  void skip(int64_t size);
  void read_pax(const std::string& records);
  [[noreturn]] void fail(const std::string& reason) const;

  ByteReader bytes_;
  int64_t largest_ = kLargestMember;
  std::string name_;
  std::string long_name_;  // of the next entry, from a header before it
  int64_t long_size_ = -1;
  int64_t left_ = 0;  // bytes of the current file and its padding not yet read
  int64_t size_ = 0;  // of the current file
};

}  // namespace kdgat::file
