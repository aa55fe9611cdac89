#include "engine/train/card_limits.h"

#include <ATen/DeviceAccelerator.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "engine/kernels/kernels_for.h"
#include "engine/memory/meter.h"
#include "kdgat/margins.h"
#include "kdgat/text.h"

namespace kdgat::train {
namespace {

/// Keeps LibTorch's allocator of a card to the user's limit. It reads its settings when the card is
/// first used. Below any context it leaves room to plan, which says what is needed.
void set_card_limit(c10::Device device, const MemoryRequest& asked) {
  constexpr int64_t kLeast = int64_t{256} << 20;
  if (asked.limit <= 0 || asked.own) return;
  const int64_t tensors = std::max(kLeast, asked.limit - margins::kMostCardContext);
  const double share =
      static_cast<double>(tensors) / static_cast<double>(kernels::card_memory(device));
  if (share >= 1) return;
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    const char* set = std::getenv(name);
    std::string value = set == nullptr ? "" : set;
    if (value.find("per_process_memory_fraction") != std::string::npos) continue;
    if (!value.empty()) value += ",";
    value += "per_process_memory_fraction:" + format_number("%.6f", share);
    ::setenv(name, value.c_str(), 1);
  }
}

/// Bytes that cuBLAS takes of LibTorch's allocator and keeps: a workspace for each thread that
/// multiplies, here those of forward and backward. Taken before all else they leave no gaps.
int64_t workspaces_of(c10::Device device) {
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, int64_t> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device.index());
  if (found != known.end()) return found->second;
  const memory::MemoryMeter& meter = memory::meter(device);
  const int64_t before = meter.counters().allocated;
  {
    const at::AutoGradMode with_gradients(true);
    const at::Tensor x = at::ones({16, 16}, device).requires_grad_();
    x.mm(x).sum().backward();
  }
  return known.emplace(device.index(), meter.counters().allocated - before).first->second;
}

}  // namespace

void require_card(c10::Device device, const Request& request) {
  const std::optional<c10::DeviceType> found = at::getAccelerator();
  if (!found || *found != device.type()) {
    throw Error(ExitCode::kUsage, "device " + request.device + " is not usable by this LibTorch",
                "use device=cpu; kdgat doctor shows what this machine has");
  }
  const int cards = static_cast<unsigned char>(at::accelerator::deviceCount());
  if (device.index() >= cards) {
    throw Error(ExitCode::kUsage,
                "device " + request.device + ": this machine has " + std::to_string(cards) +
                    (cards == 1 ? " CUDA device" : " CUDA devices"),
                request.ranks.world > 1 ? "each process of --nproc takes a device of its own"
                                        : "devices are counted from 0");
  }
  set_card_limit(device, request.memory);
}

int64_t context_of_card(c10::Device device) {
  const memory::MemoryMeter& meter = memory::meter(device);
  return std::clamp(meter.total() - meter.free() - meter.counters().reserved, margins::kCardContext,
                    margins::kMostCardContext);
}

memory::Footprint with_workspaces(memory::Footprint footprint, const Request& request) {
  const c10::Device device(request.device);
  if (!footprint.rounding) return footprint;
  const bool is_here = request.memory.device.empty() && !device.is_cpu();
  footprint.workspaces = is_here ? workspaces_of(device) : margins::kCardWorkspaces;
  return footprint;
}

}  // namespace kdgat::train
