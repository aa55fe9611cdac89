// MemoryMeter: what tensors hold, on the CPU and on a device, behind one interface, and out of
// memory as one question. The CPU form is the Arena, which this library makes the allocator of
// every CPU tensor.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "engine/memory/arena.h"

namespace kdgat::memory {

class MemoryMeter {
 public:
  virtual ~MemoryMeter() = default;

  Counters counters() const;
  /// Peaks begin anew at what is held now.
  void reset_peaks();
  /// Gives back what no tensor uses; returns the bytes.
  virtual int64_t trim() = 0;
  /// Waits for the work queued on the device.
  virtual void synchronize() {}
  /// What the device has in all and free now, in bytes. On the CPU the least of all that binds
  /// (kdgat/host_memory.h).
  virtual int64_t total() const = 0;
  virtual int64_t free() const = 0;
  /// Most bytes tensors may hold; 0 = no limit.
  virtual void set_limit(int64_t bytes) = 0;
  virtual int64_t limit() const = 0;

 protected:
  virtual Counters read() const = 0;
  virtual void reset() = 0;

 private:
  friend class PeakScope;
  int64_t outer_peak_ = 0;  // allocated, of before the innermost scope that has ended
};

/// The meter of a device, for the calling thread; lives as long as that.
MemoryMeter& meter(c10::Device device);

/// The peak inside of a stretch of code (a stage, a phase, a layer). Scopes nest: one that ends
/// leaves to the outer one the larger peak of both.
class PeakScope {
 public:
  explicit PeakScope(MemoryMeter& meter);
  PeakScope(const PeakScope&) = delete;
  PeakScope& operator=(const PeakScope&) = delete;
  ~PeakScope();

  /// Bytes allocated when the scope was opened, and the largest since.
  int64_t start() const { return start_; }
  int64_t peak() const { return meter_.counters().peak_allocated; }

 private:
  MemoryMeter& meter_;
  int64_t before_, start_;
};

/// RssAnon of this process in bytes; 0 where /proc has none.
int64_t anonymous_memory();

/// Whether `error` says that there is no more memory, on any device.
bool is_out_of_memory(const std::exception& error);

}  // namespace kdgat::memory
