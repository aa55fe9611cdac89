// Reads and writes the safetensors format: u64 header length, JSON header, raw little-endian data.
// Knows nothing about graphs or models. No LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kdgat/error.h"

namespace kdgat::graph {

enum class DType { kU8, kI8, kI32, kI64, kF16, kBF16, kF32, kF64, kBool, kI16 };

const char* dtype_name(DType type);       ///< "F32", "I64", ...
std::size_t dtype_size(DType type);       ///< bytes an element

/// A tensor inside a mapped file; valid as long as the SafetensorsFile it came from.
struct TensorView {
  DType dtype = DType::kU8;
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;

  int64_t elements() const;
  /// The values as `T`; throws Error(kData) if T does not fit the dtype.
  template <class T>
  std::span<const T> as() const;
};

/// A read-only, shared memory mapping of one file. Copies share the mapping. Opening checks the
/// header, shapes, offsets and the file's length, never the data; a truncated or malformed file is
/// refused with Error(kData) naming the path and the reason. Names starting with "_pad." are hidden.
class SafetensorsFile {
 public:
  static SafetensorsFile open(const std::filesystem::path& path);
  /// Same checks on bytes in memory (not copied); for tests and fuzzing.
  static SafetensorsFile parse(std::span<const std::byte> bytes, const std::string& name);

  const std::filesystem::path& path() const;
  const std::map<std::string, TensorView>& tensors() const;
  const std::map<std::string, std::string>& metadata() const;
  bool has(const std::string& name) const;
  /// Throws Error(kData) naming file and tensor if it is missing.
  const TensorView& tensor(const std::string& name) const;
  /// Exactly this dtype and rank/shape (-1 = any), else Error(kData).
  template <class T>
  std::span<const T> require(const std::string& name, std::vector<int64_t> shape) const;
  /// Keeps the mapping alive; for zero-copy tensors.
  std::shared_ptr<const void> mapping() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// Collects tensors by reference, then writes them all atomically, each aligned to 64 bytes.
/// The data given to add() must live until write() returns.
class SafetensorsWriter {
 public:
  void add(std::string name, DType dtype, std::vector<int64_t> shape, const void* data);
  template <class T>
  void add(std::string name, std::vector<int64_t> shape, std::span<const T> values);
  void metadata(std::string key, std::string value);
  /// With `hashes`, each tensor's xxh3-128 and the header's own are put in the metadata.
  void write(const std::filesystem::path& path, bool hashes = false) const;

 private:
  struct Entry {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    const void* data;
  };
  std::vector<Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

/// Recomputes the hashes written by SafetensorsWriter; empty when all agree, else one Diagnostic for
/// each tensor that differs.
std::vector<Diagnostic> verify_hashes(const SafetensorsFile& file);

}  // namespace kdgat::graph
