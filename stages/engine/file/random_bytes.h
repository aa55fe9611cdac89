// RandomBytes: any part of a file, for forms whose parts refer to each other. A file that is packed
// or a pipe is copied first: a small one into memory, a large one into a file without a name in
// TMPDIR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/file/byte_reader.h"

namespace kdgat::file {

class RandomBytes {
 public:
  /// Throws Error(kData) if reading fails, or if copying would leave less than a tenth of the disk.
  explicit RandomBytes(ByteReader bytes);
  RandomBytes(const RandomBytes&) = delete;
  RandomBytes& operator=(const RandomBytes&) = delete;
  ~RandomBytes();

  /// As many of `bytes` bytes from `offset` on as the file has.
  std::size_t read(uint64_t offset, uint8_t* to, std::size_t bytes) const;
  uint64_t size() const { return size_; }
  const std::string& name() const { return bytes_.name(); }

 private:
  void copy();
  void spill(const uint8_t* from, std::size_t bytes);

  ByteReader bytes_;
  int fd_ = -1;  // of the file, or of its copy
  bool is_copied_ = false;
  std::vector<uint8_t> memory_;  // a small copy
  uint64_t size_ = 0;
};

}  // namespace kdgat::file
