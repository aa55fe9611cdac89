#include "engine/train/memory_limit.h"

#include <algorithm>

#include "engine/memory/arena.h"
#include "engine/train/card_limits.h"
#include "kdgat/host_memory.h"
#include "kdgat/margins.h"

namespace kdgat::train {
namespace {

int64_t part_of(int64_t bytes, double share) {
  return static_cast<int64_t>(share * static_cast<double>(bytes));
}

/// What this process holds next to tensors, and may come to hold; not of one stage among several.
int64_t other_memory(const MemoryRequest& asked) {
  if (asked.own) return 0;
  const int64_t held = memory::anonymous_memory() - memory::meter(c10::kCPU).counters().reserved;
  return std::max<int64_t>(0, held) + margins::kSpareBytes;
}

/// Of the host's memory: what this process can come to hold in all, as read here or by the program
/// that started it, and what bounds it. A limit of the user's may be more than is free just now,
/// not more than what the machine's limits leave.
memory::DeviceMemory host_memory(const MemoryRequest& asked) {
  const HostMemory host;
  const std::vector<MemoryBound> bounds = asked.limit > 0 ? host.hard_bounds() : host.bounds();
  const int64_t held = memory::anonymous_memory();
  const MemoryBound* least = tightest(bounds);
  memory::DeviceMemory out;
  out.total = held + memory::Arena::instance().room();
  if (least != nullptr) {
    out.total = std::min(out.total, held + static_cast<int64_t>(least->room()));
  }
  if (least != nullptr && least->is_hard()) out.bound = least->name;
  if (asked.available > 0 && asked.available < out.total) {
    out.total = asked.available;
    // The program may have seen more than a stage is shown.
    if (out.bound.empty()) out.bound = "what kdgat was given";
  }
  if (least != nullptr && least->is_hard()) {
    out.others = std::max<int64_t>(0, static_cast<int64_t>(least->limit) - out.total);
  }
  out.context = other_memory(asked);
  if (asked.limit > 0 && (asked.own || asked.limit <= out.total)) {
    out = {"cpu",    asked.limit, out.context, true, asked.own ? 1 : 1 - margins::kSpareShare,
           asked.own};
  }
  return out;
}

/// Most bytes of tensors; 0 = no limit. It leaves room for what else the process holds.
int64_t tensor_limit(c10::Device device, const MemoryRequest& asked) {
  if (!device.is_cpu()) {
    return asked.limit > 0 ? std::max<int64_t>(1, asked.limit - other_memory(asked)) : 0;
  }
  const memory::DeviceMemory host = host_memory(asked);
  int64_t most = room_for_tensors(host);
  if (!host.bound.empty()) {
    most -= part_of(host.total + host.others, margins::kHardSpareShare);
  } else if (!host.is_limit) {
    const int64_t reserved = memory::meter(device).counters().reserved;
    most = reserved + part_of(host.total - memory::anonymous_memory(), 1 - margins::kLeftToOthers);
  }
  return std::max<int64_t>(1, most);
}

}  // namespace

memory::DeviceMemory device_memory(c10::Device device, const MemoryRequest& asked) {
  if (asked.device.empty() && device.is_cpu()) return host_memory(asked);
  memory::DeviceMemory out = {asked.device, asked.total, asked.context};
  if (asked.device.empty()) {
    const memory::MemoryMeter& meter = memory::meter(device);
    out.name = device.str();
    out.context = context_of(device);
    // What other processes hold of the device is not to be had.
    out.total = meter.free() + meter.counters().reserved + out.context;
  }
  out.is_limit = asked.limit > 0;
  if (out.is_limit) out.total = asked.limit;
  // What is measured beforehand says what the context is; who then runs has a limit without it.
  out.is_of_tensors = out.is_limit && asked.own && !asked.measure;
  if (out.is_of_tensors) out.context = 0;
  return out;
}

int64_t room_for_tensors(const memory::DeviceMemory& has) {
  return part_of(has.total, has.share) - has.context;
}

int64_t context_of(c10::Device device) {
  if (!device.is_cpu()) return context_of_card(device);
  return memory::anonymous_memory() - memory::meter(device).counters().reserved;
}

void limit_memory(c10::Device device, const Request& request) {
  const int64_t limit = tensor_limit(device, request.memory);
  if (limit > 0) memory::meter(device).set_limit(limit);
}

LimitWhileMeasuring::LimitWhileMeasuring(c10::Device device, MemoryRequest asked)
    : meter_(memory::meter(device)), before_(meter_.limit()) {
  asked.limit = 0;
  if (device.is_cpu()) meter_.set_limit(tensor_limit(device, asked));
}

}  // namespace kdgat::train
