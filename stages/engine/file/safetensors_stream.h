// SafetensorsStream: writes a safetensors file whose tensors are never in memory as a whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/file/safetensors.h"
#include "engine/file/safetensors_header.h"

namespace kdgat::file {

/// The file is complete or absent, as SafetensorsWriter's, and the same bytes as its with hashes.
class SafetensorsStream {
 public:
  /// `tensors` by name, dtype and shape. Throws Error(kData) if the file cannot be made.
  SafetensorsStream(const std::filesystem::path& path, std::vector<TensorPlace> tensors,
                    std::map<std::string, std::string> metadata);
  SafetensorsStream(const SafetensorsStream&) = delete;
  SafetensorsStream& operator=(const SafetensorsStream&) = delete;
  ~SafetensorsStream();

  /// The next values of tensor `name`; tensors may take turns. Throws std::logic_error if it has
  /// another dtype or less room, Error(kData) if writing fails.
  template <class T>
  void write(const std::string& name, std::span<const T> values) {
    write_bytes(name, dtype_of<T>(), values.data(), values.size_bytes());
  }
  /// Throws std::logic_error unless every tensor is filled, Error(kData) if writing fails.
  void finish();

 private:
  struct Impl;
  void write_bytes(const std::string& name, DType dtype, const void* data, std::size_t bytes);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kdgat::file
