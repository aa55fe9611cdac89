// TensorHash: the xxh3-128 of bytes that come in pieces, as those of a file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace kdgat::file {

class TensorHash {
 public:
  TensorHash();
  TensorHash(TensorHash&&) noexcept;
  ~TensorHash();
  void update(const void* data, std::size_t bytes);
  std::string text() const;  ///< 32 hexadecimal digits, as hash_bytes() of all bytes so far

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// hash_bytes() of a regular file of any size, read a piece at a time. Throws Error(kData) with
/// `hint` if it cannot be read.
std::string hash_file(const std::filesystem::path& file, const std::string& hint = "");

}  // namespace kdgat::file
