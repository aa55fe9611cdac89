// What a card has for tensors: whether it is there, what LibTorch's allocator may take of it, and
// what it holds next to tensors.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "engine/memory/memory_plan.h"
#include "kdgat/stage.h"

namespace kdgat::train {

/// Before LibTorch uses the card: throws Error(kUsage) if it is not there, and keeps LibTorch's
/// allocator to the limit of the request.
void require_card(c10::Device device, const Request& request);

/// Bytes that this process holds on the card next to tensors. What else is in use counts only up to
/// what a context may take: it may be another process's.
int64_t context_of_card(c10::Device device);

/// With the workspaces that libraries take from LibTorch's allocator, where the device has such:
/// measured on the device of the request, the most that is known for one that is only named.
memory::Footprint with_workspaces(memory::Footprint footprint, const Request& request);

}  // namespace kdgat::train
