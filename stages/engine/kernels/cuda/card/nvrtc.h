// Nvrtc: NVIDIA's compiler for kernels, a library that is opened when it is wanted. It needs
// neither the CUDA toolkit nor a card.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernels/cuda/card/library.h"

namespace kdgat::kernels::cuda {

/// What a compiler is called: in `folders`, where LibTorch and packages of Python have it, then as
/// the loader finds it. $KDGAT_NVRTC, a path, stands for them all.
std::vector<std::string> nvrtc_names(const std::vector<std::filesystem::path>& folders);

class Nvrtc {
 public:
  /// Throws Error(kPlugin) if none of `names` opens, or one is older than 11.2.
  explicit Nvrtc(const std::vector<std::string>& names);

  /// "13.0".
  const std::string& version() const { return version_; }
  const std::string& library() const { return library_.name(); }
  /// Architectures it makes code for, ascending: 75 is sm_75.
  const std::vector<int>& architectures() const { return architectures_; }

  /// What the driver of a card of `architecture` loads: its code or, where the card is newer than
  /// the compiler, PTX of the newest one that is known. Throws Error(kPlugin) with the first of the
  /// compiler's errors, or if the card is older than all that it knows. `log` receives all that the
  /// compiler says of each kernel, also when it throws.
  std::string compile(std::string_view source, int architecture, std::string* log = nullptr) const;
  /// How it compiles, in words: what an image depends on beside source and compiler.
  std::string options(int architecture) const;

 private:
  using Program = void*;
  Library library_;
  std::string version_;
  std::vector<int> architectures_;
  const char* (*error_)(int) = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*,
                 const char* const*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*log_size_)(Program, size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, size_t*) = nullptr;
  int (*cubin_)(Program, char*) = nullptr;
  int (*ptx_size_)(Program, size_t*) = nullptr;
  int (*ptx_)(Program, char*) = nullptr;

  /// The newest that is not newer than the card; throws Error(kPlugin) if there is none.
  int target_of(int architecture) const;
  std::vector<std::string> words(int architecture) const;
  void check(int status, const char* what) const;
};

/// What a line of a log file has room for: the first errors of a compiler's log.
std::string first_errors(std::string_view log);

/// What a kernel takes of a multiprocessor.
struct KernelUse {
  std::string kernel;
  int registers = 0, shared_bytes = 0, spilled_bytes = 0, stack_bytes = 0;
};
/// Of each kernel that the compiler's log tells of, by name.
std::vector<KernelUse> kernel_uses(std::string_view log);

}  // namespace kdgat::kernels::cuda
