// The kernels' side of a device: who starts them where a tensor lies, and what all families read of
// a batch.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include <vector>

#include "engine/kernels/batch_tensors.h"
#include "engine/kernels/cuda/launch/launcher.h"
#include "engine/kernels/cuda/source/sums_args.h"
#include "engine/kernels/kernels_for.h"

namespace kdgat::kernels::cuda {

/// While it lives, this thread works on the device of a tensor, and kernels start there, on the
/// stream that LibTorch uses. Throws Error if the device has no kernels.
class OnDevice {
 public:
  explicit OnDevice(const at::Tensor& tensor);
  Launcher& launcher() const { return *launcher_; }

 private:
  c10::DeviceGuard guard_;
  Launcher* launcher_;
};

/// While it lives, tensors of the CPU are a card's to kernels, which `launcher` starts: for tests.
/// One at a time.
class CpuIsCard {
 public:
  explicit CpuIsCard(Launcher& launcher);
  CpuIsCard(const CpuIsCard&) = delete;
  CpuIsCard& operator=(const CpuIsCard&) = delete;
  ~CpuIsCard();
};

/// While it lives, kernel_set() of the CPU is another one than its own: for tests, which see what a
/// step of a device holds. With kCuda beside a CpuIsCard. One at a time.
class CpuComputesBy {
 public:
  explicit CpuComputesBy(KernelSet set);
  CpuComputesBy(const CpuComputesBy&) = delete;
  CpuComputesBy& operator=(const CpuComputesBy&) = delete;
  ~CpuComputesBy();
};

/// A batch's edges, and what keeps their memory. `tensors` are those of a batch by target, then
/// those of EdgesBySource.
struct EdgeTensors {
  explicit EdgeTensors(const BatchTensors& batch);
  explicit EdgeTensors(std::vector<at::Tensor> saved) : tensors(std::move(saved)) {}
  Edges edges() const;
  std::vector<at::Tensor> tensors;
};

}  // namespace kdgat::kernels::cuda
