// The kernels of a device. A family of kernels (gat.h, norm.h, heads.h, paths.h, ...) is a table of
// functions on tensors. It has a form for each device that has kernels of its own, a folder each, and
// one in plain tensor operations, which runs on every device and is what the others are tested
// against. A caller asks for the family and never for the device.
//
// To add a device: a folder beside cpu/ and cuda/, a function beside `cpu()` in each family that has
// kernels there, and a line below.
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace kdgat::model {

/// Whether kernels can be started on a device of CUDA. The first question about a device compiles them,
/// or finds what an earlier process compiled (cuda/card/kernel_image.h).
bool has_cuda_kernels(at::Device device);
/// By what a device of CUDA computes, for the log: which compiler made its kernels, or why there are
/// none. Empty of other devices.
std::string kernels_in_words(at::Device device);

/// Family: GatKernels, GinKernels, NormKernels, HeadKernels, PathKernels, ProductKernels or SumKernels.
template <class Family>
const Family& kernels_for(at::Device device) {
  if (device.is_cpu()) return Family::cpu();
  if constexpr (requires { Family::cuda(); }) {
    if (has_cuda_kernels(device)) return Family::cuda();
  }
  return Family::plain();
}

}  // namespace kdgat::model
