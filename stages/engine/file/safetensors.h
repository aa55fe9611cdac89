// Reads and writes the safetensors format: u64 header length, JSON header, raw little-endian data.
// Knows nothing about graphs or models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kdgat/error.h"

namespace kdgat {
class AtomicFile;
}

namespace kdgat::file {

enum class DType { kU8, kI8, kI32, kI64, kF16, kBF16, kF32, kF64, kBool, kI16 };

const char* dtype_name(DType type);  ///< "F32", "I64", ...
std::size_t dtype_size(DType type);  ///< bytes an element

/// Whether values of `type` may be looked at as `T`. std::byte fits all, uint16_t the half floats.
template <class T>
constexpr bool fits(DType type) {
  if constexpr (std::is_same_v<T, std::byte>) return true;
  if constexpr (std::is_same_v<T, uint8_t>) return type == DType::kU8 || type == DType::kBool;
  if constexpr (std::is_same_v<T, bool>) return type == DType::kBool;
  if constexpr (std::is_same_v<T, int8_t>) return type == DType::kI8;
  if constexpr (std::is_same_v<T, int16_t>) return type == DType::kI16;
  if constexpr (std::is_same_v<T, uint16_t>) return type == DType::kF16 || type == DType::kBF16;
  if constexpr (std::is_same_v<T, int32_t>) return type == DType::kI32;
  if constexpr (std::is_same_v<T, int64_t>) return type == DType::kI64;
  if constexpr (std::is_same_v<T, float>) return type == DType::kF32;
  if constexpr (std::is_same_v<T, double>) return type == DType::kF64;
  return false;
}

/// The dtype that add() gives a span of `T`.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kU8;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kI8;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kI16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
}

/// xxh3-128 of the bytes as 32 hexadecimal digits.
std::string hash_bytes(const void* data, std::size_t bytes);

/// A tensor inside a mapped file; valid as long as the SafetensorsFile it came from.
struct TensorView {
  DType dtype = DType::kU8;
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;

  int64_t elements() const;
  /// The values as `T`; throws Error(kData) if T does not fit the dtype.
  template <class T>
  std::span<const T> as() const {
    if (!fits<T>(dtype)) wrong_type();
    return {reinterpret_cast<const T*>(data), bytes / sizeof(T)};
  }

 private:
  [[noreturn]] void wrong_type() const;
};

/// A read-only, shared memory mapping of one file. Copies share the mapping. Opening checks the
/// header, shapes, offsets and the file's length, never the data; a truncated or malformed file is
/// refused with Error(kData) naming the path and the reason. Names starting with "_pad." are
/// hidden. Tensors that foreign files place off their natural alignment are copied; all others are
/// views.
class SafetensorsFile {
 public:
  static SafetensorsFile open(const std::filesystem::path& path);
  /// Same checks on bytes in memory (not copied, to outlive the result); for tests and fuzzing.
  static SafetensorsFile parse(std::span<const std::byte> bytes, const std::string& name);

  const std::filesystem::path& path() const;
  const std::map<std::string, TensorView>& tensors() const;
  const std::map<std::string, std::string>& metadata() const;
  bool has(const std::string& name) const;
  /// Throws Error(kData) naming file and tensor if it is missing.
  const TensorView& tensor(const std::string& name) const;
  /// Exactly this dtype and rank/shape (-1 = any), else Error(kData).
  template <class T>
  std::span<const T> require(const std::string& name, const std::vector<int64_t>& shape) const {
    const TensorView& view = tensor(name);
    if (!fits<T>(view.dtype)) wrong_type(name);
    check_shape(name, shape);
    return view.as<T>();
  }
  /// Hash of the header without "hash.header", as SafetensorsWriter puts it there.
  std::string header_hash() const;
  /// Keeps the mapping alive; for zero-copy tensors.
  std::shared_ptr<const void> mapping() const;
  /// Takes its pages out of this process's memory; what is read of them later comes back from the
  /// page cache. For who has looked at all of it once and goes on with a part.
  void forget_pages() const;

 private:
  struct Impl;
  static SafetensorsFile load(std::span<const std::byte> bytes, const std::filesystem::path& path,
                              std::shared_ptr<const void> mapping);
  [[noreturn]] void wrong_type(const std::string& name) const;
  void check_shape(const std::string& name, const std::vector<int64_t>& shape) const;

  std::shared_ptr<const Impl> impl_;
};

/// Collects tensors by reference, then writes them all atomically, each aligned to 64 bytes by
/// tensors named "_pad.N" between them. The data given to add() must live until write() returns.
class SafetensorsWriter {
 public:
  /// No tensors but those added, for files that other programs load whole: those of the largest
  /// elements first, so that each lies on its own alignment.
  void without_padding() { pads_ = false; }
  void add(std::string name, DType dtype, std::vector<int64_t> shape, const void* data);
  /// As above; throws std::logic_error if `values` do not fill `shape`.
  template <class T>
  void add(std::string name, std::vector<int64_t> shape, std::span<const T> values) {
    const std::size_t size = values.size();
    add(std::move(name), dtype_of<T>(), std::move(shape), values.data());
    check_filled(size);
  }
  void metadata(std::string key, std::string value);
  void metadata(const std::map<std::string, std::string>& entries);
  /// With `hashes`, each tensor's xxh3-128 and the header's own are put in the metadata.
  void write(const std::filesystem::path& path, bool hashes = false) const;
  /// The same into a file that the caller commits.
  void write(AtomicFile& file, bool hashes) const;

 private:
  struct Entry {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    const void* data;
    std::size_t bytes;
  };
  void check_filled(std::size_t elements) const;

  std::vector<Entry> entries_;
  std::map<std::string, std::string> metadata_;
  bool pads_ = true;
};

/// Recomputes the hashes written by SafetensorsWriter; empty when all agree, else one Diagnostic
/// for each tensor that differs.
std::vector<Diagnostic> verify_hashes(const SafetensorsFile& file);

}  // namespace kdgat::file
