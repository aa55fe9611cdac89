// The kernels of a device. A family of kernels (gat.h, norm.h, heads.h, paths.h, ...) is a table of
// functions on tensors. It has a form for each device that has kernels of its own, a folder each,
// and one in plain tensor operations, which runs on every device and is what the others are tested
// against. A caller asks for the family and never for the device.
//
// To add a device: a folder beside cpu/ and cuda/, a function beside `cpu()` in each family that
// has kernels there, and a line below.
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace kdgat::kernels {

/// Whose kernels compute: cpu/, cuda/ or plain/.
enum class KernelSet { kCpu, kCuda, kPlain };

/// That of a device. The first question about a device of CUDA compiles its kernels, or finds what
/// an earlier process compiled (cuda/card/kernel_image.h). Throws a std::bad_alloc if the device
/// has no memory for them.
KernelSet kernel_set(at::Device device);
/// Of a card that is not here but planned for: kCuda, unless $KDGAT_KERNELS leaves the kernels out.
KernelSet kernel_set_of_cards();
/// Whether kernels of cuda/ compute there.
inline bool has_cuda_kernels(at::Device device) { return kernel_set(device) == KernelSet::kCuda; }
/// By what a device of CUDA computes, for the log: which compiler made its kernels, or why there
/// are none. Empty of other devices.
std::string kernels_in_words(at::Device device);

/// Bytes of a device of CUDA, as the driver has it: LibTorch need not have used it yet. Throws
/// Error if there is no such device.
int64_t card_memory(at::Device device);

/// For kdgat doctor, which finds it by its name: a word, "card", "plain" (a card without kernels)
/// or "cpu" (no card), a space, and what its kernels are made by, or why there are none. Never
/// throws.
extern "C" const char* kdgat_kernels_in_words();

/// Family: EdgeKernels, GatKernels, GinKernels, NormKernels, HeadKernels, PathKernels,
/// ProductKernels or SumKernels.
template <class Family>
const Family& kernels_for(at::Device device) {
  const KernelSet set = kernel_set(device);
  if (set == KernelSet::kCpu) return Family::cpu();
  if constexpr (requires { Family::cuda(); }) {
    if (set == KernelSet::kCuda) return Family::cuda();
  }
  return Family::plain();
}

}  // namespace kdgat::kernels
