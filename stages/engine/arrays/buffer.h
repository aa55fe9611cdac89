// Buffer: a growing array without value-initialisation. Its memory comes from malloc until an
// engine that counts memory replaces that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kdgat::arrays {

/// Where the memory of buffers comes from. `allocate` throws std::bad_alloc.
struct BufferMemory {
  void* (*allocate)(std::size_t bytes);
  void (*free)(void* pointer);
};

/// To be set before there are buffers that outlive the change.
void set_buffer_memory(BufferMemory memory);
const BufferMemory& buffer_memory();

/// Keeps its capacity between uses; its contents are lost when it grows.
template <class T>
class Buffer {
  static_assert(std::is_trivial_v<T>);

 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { release(); }

  void resize(int64_t size) {
    if (size > capacity_) {
      release();  // before it grows: the two never exist at once
      free_ = buffer_memory().free;
      const int64_t capacity = size + size / 4;
      data_ =
          static_cast<T*>(buffer_memory().allocate(static_cast<std::size_t>(capacity) * sizeof(T)));
      capacity_ = capacity;
    }
    size_ = size;
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(free_, other.free_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void release() {
    if (data_ != nullptr) free_(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  T* data_ = nullptr;
  void (*free_)(void*) = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
};

}  // namespace kdgat::arrays
