// Column: a growing array of a store that is being built. It stands in memory; once it has a folder
// and outgrows kColumnInMemory it moves to a file there that has no name, so that data larger than
// the memory can be put together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace kdgat::arrays {

inline constexpr std::size_t kColumnInMemory = std::size_t{32} << 20;  ///< bytes

/// The bytes of a Column. Movable; what it owns is gone with it, also when the process is killed.
class ColumnBytes {
 public:
  ColumnBytes() = default;
  ColumnBytes(ColumnBytes&& other) noexcept { swap(other); }
  ColumnBytes& operator=(ColumnBytes&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ColumnBytes();

  void* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }
  /// From now on what outgrows `most` bytes moves to a file in `folder`, which must stand.
  void spill_to(const std::filesystem::path& folder, std::size_t most);
  /// Room for `bytes` and more; the first `used` keep their values, though not their place. Throws
  /// std::bad_alloc, or Error(kData) where the folder takes no file or its disk is full.
  void grow(std::size_t bytes, std::size_t used);
  bool is_file() const { return fd_ >= 0; }

 private:
  void swap(ColumnBytes& other) noexcept;
  void grow_file(std::size_t bytes, std::size_t used);
  void release();

  void* data_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t most_ = 0;  // in memory
  std::filesystem::path folder_;
  int fd_ = -1;
};

/// Used as a std::vector. Spans of it are valid until it grows.
template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  Column() = default;
  Column(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  Column(const std::vector<T>& values) { append(values.begin(), values.end()); }  // NOLINT
  Column(const Column& other) { append(other.begin(), other.end()); }             ///< in memory
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column other) noexcept {
    swap(other);
    return *this;
  }

  void spill_to(const std::filesystem::path& folder, std::size_t most = kColumnInMemory) {
    bytes_.spill_to(folder, most);
  }
  bool is_file() const { return bytes_.is_file(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return static_cast<T*>(bytes_.data()); }
  const T* data() const { return static_cast<const T*>(bytes_.data()); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void push_back(T value) {
    make_room(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    make_room(size_ + static_cast<std::size_t>(std::distance(first, last)));
    size_ = static_cast<std::size_t>(std::copy(first, last, end()) - data());
  }
  template <class Range>
  void append(const Range& values) {
    append(std::begin(values), std::end(values));
  }
  void resize(std::size_t size, T value = T()) {
    make_room(size);
    if (size > size_) std::fill(end(), data() + size, value);
    size_ = size;
  }
  /// Keeps its room.
  void clear() { size_ = 0; }

  friend bool operator==(const Column& a, const Column& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void swap(Column& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
  }
  void make_room(std::size_t size) {
    if (size * sizeof(T) > bytes_.capacity()) bytes_.grow(size * sizeof(T), size_ * sizeof(T));
  }

  ColumnBytes bytes_;
  std::size_t size_ = 0;
};

}  // namespace kdgat::arrays
