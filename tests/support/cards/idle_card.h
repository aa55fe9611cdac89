// The CPU as a card whose kernels do nothing, for tests of what a step holds: what they would
// compute changes no size. Needs torch first.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "engine/kernels/cuda/device.h"

namespace kdgat::test {

/// While it lives, tensors of the CPU are a card's, with its kernels or with plain operations.
class IdleCard {
 public:
  explicit IdleCard(kernels::KernelSet kernels) : card_(launcher_), by_(kernels) {}
  int64_t launched() const { return launcher_.launched; }

 private:
  struct Launcher : kernels::cuda::Launcher {
    void launch(const char*, bool, const kernels::cuda::Grid&, const void*) override { ++launched; }
    std::atomic<int64_t> launched = 0;  // backward starts some in its own thread
  };
  Launcher launcher_;
  kernels::cuda::CpuIsCard card_;
  kernels::cuda::CpuComputesBy by_;
};

}  // namespace kdgat::test
