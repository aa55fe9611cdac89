// TensorHash: the xxh3-128 of bytes that come in pieces. No LibTorch.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace kdgat::graph {

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

}  // namespace kdgat::graph
