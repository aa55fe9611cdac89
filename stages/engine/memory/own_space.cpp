#include "engine/memory/own_space.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace kdgat::memory {

OwnSpace::OwnSpace(const Request& request) {
  if (!request.memory.own) return;
  arena_.emplace();
  const c10::Device device(request.device);
  if (device.is_cpu() || at::getAccelerator() != device.type()) return;
  const c10::impl::VirtualGuardImpl streams(device.type());
  stream_.emplace(streams.getStreamFromGlobalPool(device));
}

}  // namespace kdgat::memory
