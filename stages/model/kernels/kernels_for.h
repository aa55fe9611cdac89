// The kernels of a device. A family of kernels (gat.h, norm.h, heads.h, paths.h) is a table of
// functions on tensors. It has a form for each device that has kernels of its own, a folder each, and
// one in plain tensor operations, which runs on every device and is what the others are tested
// against. A caller asks for the family and never for the device.
//
// To add a device: a folder beside cpu/, a function beside `cpu()` in each family that has kernels
// there, and a line below.
#pragma once

#include <c10/core/Device.h>

namespace kdgat::model {

/// Family: GatKernels, NormKernels, HeadKernels or PathKernels.
template <class Family>
const Family& kernels_for(at::Device device) {
  return device.is_cpu() ? Family::cpu() : Family::plain();
}

}  // namespace kdgat::model
