// The driver of a card, a library that is opened when it is wanted, and kernels started by it. No
// LibTorch: a stream is the number that it is in CUDA.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/kernels/cuda/card/library.h"
#include "engine/kernels/cuda/launch/launcher.h"

namespace kdgat::kernels::cuda {

/// A card has no memory for the context, for kernels or for what they need while they run. A
/// std::bad_alloc, as a tensor that finds none throws one: whoever answers that answers this.
class OutOfCardMemory : public std::bad_alloc {
 public:
  explicit OutOfCardMemory(std::string words) : words_(std::move(words)) {}
  const char* what() const noexcept override { return words_.c_str(); }

 private:
  std::string words_;
};

class Driver {
 public:
  /// Throws Error(kPlugin) if there is none, or no card that it can use; as all below
  /// OutOfCardMemory where the card's memory is full.
  explicit Driver(const std::vector<std::string>& names = {"libcuda.so.1"});

  /// 80 of compute capability 8.0. `device` is counted as LibTorch counts.
  int architecture(int device) const;
  /// Bytes of a device, whoever holds them.
  int64_t memory(int device) const;

 private:
  friend class CardLauncher;
  int (*error_)(int, const char**) = nullptr;
  int (*device_)(int*, int) = nullptr;
  int (*attribute_)(int*, int, int) = nullptr;
  int (*total_)(size_t*, int) = nullptr;
  int (*retain_)(void**, int) = nullptr;
  int (*context_)(void**) = nullptr;
  int (*set_context_)(void*) = nullptr;
  int (*load_)(void**, const void*) = nullptr;
  int (*function_)(void**, void*, const char*) = nullptr;
  int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                 void**, void**) = nullptr;
  Library library_;

  void check(int status, const std::string& what) const;
};

/// Starts kernels of one image on one device, on the stream that `stream` names at that time, from
/// any thread. `driver` outlives it.
class CardLauncher : public Launcher {
 public:
  CardLauncher(const Driver& driver, int device, const std::string& image,
               std::function<void*()> stream);
  /// Throws Error(kStageFailed) with the kernel's name and the driver's words.
  void launch(const char* kernel, bool is_double, const Grid& grid, const void* args) override;

 private:
  /// The device's, which LibTorch uses as well, for this thread.
  void enter() const;
  void* function_of(const std::string& name);

  const Driver& driver_;
  std::function<void*()> stream_;
  void* context_ = nullptr;
  void* module_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, void*> functions_;
};

}  // namespace kdgat::kernels::cuda
