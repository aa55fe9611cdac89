#include "engine/memory/meter.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include "engine/arrays/buffer.h"
#include "kdgat/host_memory.h"

namespace kdgat::memory {
namespace {

/// What a failed allocation throws, of a tensor and of a batch: a std::bad_alloc, so that whoever
/// knows no LibTorch knows it too.
class HostOutOfMemory : public std::bad_alloc {
 public:
  explicit HostOutOfMemory(std::size_t bytes) {
    std::snprintf(text_, sizeof text_, "no memory for %zu bytes beside %.1f MiB of tensors", bytes,
                  static_cast<double>(Arena::instance().counters().allocated) / (1 << 20));
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[96];
};

void* allocate_in_arena(std::size_t bytes) {
  void* data = Arena::instance().allocate(bytes);
  if (data == nullptr && bytes > 0) throw HostOutOfMemory(bytes);
  return data;
}

void free_in_arena(void* pointer) { Arena::release(pointer); }

struct ArenaAllocator : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    void* data = allocate_in_arena(bytes);
    return {data, data, &free_in_arena, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_in_arena; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

// When this library is loaded: before there is a tensor of ours.
const bool kInstalled = [] {
  static ArenaAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/10);
  arrays::set_buffer_memory({&allocate_in_arena, &free_in_arena});
  return true;
}();

class HostMeter : public MemoryMeter {
 public:
  int64_t trim() override { return Arena::instance().trim(); }
  int64_t total() const override {
    uint64_t least = kMost;
    for (const MemoryBound& one : HostMemory().bounds()) least = std::min(least, one.limit);
    return static_cast<int64_t>(least);
  }
  int64_t free() const override {
    const std::vector<MemoryBound> bounds = HostMemory().bounds();
    const MemoryBound* least = tightest(bounds);
    const auto room = static_cast<int64_t>(least == nullptr ? kMost : least->room());
    return std::min(room, Arena::instance().room());
  }
  void set_limit(int64_t bytes) override { Arena::instance().set_limit(bytes); }
  int64_t limit() const override { return Arena::instance().limit(); }

 protected:
  Counters read() const override { return Arena::instance().counters(); }
  void reset() override { Arena::instance().reset_peaks(); }

 private:
  static constexpr uint64_t kMost = uint64_t{1} << 30;  // where nothing can be read
};

/// Of LibTorch's caching allocator of an accelerator; never used without one.
class DeviceMeter : public MemoryMeter {
 public:
  explicit DeviceMeter(c10::DeviceIndex index) : index_(index) {}

  int64_t trim() override {
    const int64_t before = counters().reserved;
    at::accelerator::emptyCache();
    const int64_t given = before - counters().reserved;
    given_back_.releases += 1;
    given_back_.released_bytes += given;
    return given;
  }
  void synchronize() override { at::accelerator::synchronizeDevice(index_); }
  int64_t total() const override {
    return static_cast<int64_t>(at::accelerator::getMemoryInfo(index_).second);
  }
  int64_t free() const override {
    return static_cast<int64_t>(at::accelerator::getMemoryInfo(index_).first);
  }
  // The allocator's own limit is not reachable without the device's headers; the plan keeps to it.
  void set_limit(int64_t bytes) override { limit_ = bytes; }
  int64_t limit() const override { return limit_; }

 protected:
  Counters read() const override {
    const auto stats = at::accelerator::getDeviceStats(index_);
    const auto& allocated = stats.allocated_bytes[0];  // 0: of all pools
    const auto& reserved = stats.reserved_bytes[0];
    Counters out = given_back_;
    out.allocated = allocated.current;
    out.peak_allocated = allocated.peak;
    out.reserved = reserved.current;
    out.peak_reserved = reserved.peak;
    out.allocations = stats.allocation[0].allocated;
    return out;
  }
  void reset() override { at::accelerator::resetPeakStats(index_); }

 private:
  c10::DeviceIndex index_;
  int64_t limit_ = 0;
  Counters given_back_;
};

}  // namespace

MemoryMeter& meter(c10::Device device) {
  // Of each thread: its arena may be another, and so are the peaks it looks at.
  thread_local HostMeter host;
  if (device.is_cpu()) return host;
  at::globalContext().lazyInitDevice(device.type());  // before, its allocator refuses to count
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, DeviceMeter> devices;
  const c10::DeviceIndex index = std::max<c10::DeviceIndex>(0, device.index());
  const std::lock_guard lock(mutex);
  return devices.try_emplace(index, index).first->second;
}

Counters MemoryMeter::counters() const {
  Counters out = read();
  out.peak_allocated = std::max(out.peak_allocated, outer_peak_);
  return out;
}

void MemoryMeter::reset_peaks() {
  outer_peak_ = 0;
  reset();
}

PeakScope::PeakScope(MemoryMeter& meter)
    : meter_(meter), before_(meter.counters().peak_allocated), start_(0) {
  meter_.reset_peaks();
  start_ = meter_.counters().allocated;
}

PeakScope::~PeakScope() { meter_.outer_peak_ = std::max(before_, peak()); }

int64_t anonymous_memory() {
  return static_cast<int64_t>(number_of_file("/proc/self/status", "RssAnon").value_or(0)) * 1024;
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  // What other allocators throw has no type of its own.
  if (dynamic_cast<const c10::Error*>(&error) == nullptr) return false;
  const std::string_view text = error.what();
  for (const char* words : {"can't allocate memory", "not enough memory", "out of memory",
                            "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED"}) {
    if (text.find(words) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace kdgat::memory
