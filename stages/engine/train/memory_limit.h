// How much memory a stage may use: here alone a request, the limits of the machine and what a
// device has become the memory that is planned with, and the limit that tensors are kept to.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "engine/memory/memory_plan.h"
#include "engine/memory/meter.h"
#include "kdgat/stage.h"

namespace kdgat::train {

/// What there is to plan with: of the device, or of the one that the request names.
memory::DeviceMemory device_memory(c10::Device device, const MemoryRequest& asked);

/// Of it the bytes that tensors may take.
int64_t room_for_tensors(const memory::DeviceMemory& has);

/// Bytes that this process holds next to tensors: on the CPU its other memory, on a card its
/// context (card_limits.h).
int64_t context_of(c10::Device device);

/// From now on tensors stay under the limit of the request, or on the CPU under what the machine
/// has free. fit() does so once it has a plan: below its floor the plan has more to say.
void limit_memory(c10::Device device, const Request& request);

/// Keeps tensors to what the machine has while a plan measures: packs that need more are no reason
/// to be killed. The user's limit does not count here: what its floor is has yet to be found.
class LimitWhileMeasuring {
 public:
  LimitWhileMeasuring(c10::Device device, MemoryRequest asked);
  LimitWhileMeasuring(const LimitWhileMeasuring&) = delete;
  LimitWhileMeasuring& operator=(const LimitWhileMeasuring&) = delete;
  ~LimitWhileMeasuring() { meter_.set_limit(before_); }

 private:
  memory::MemoryMeter& meter_;
  int64_t before_;
};

}  // namespace kdgat::train
