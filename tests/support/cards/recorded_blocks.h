// What a piece of work asks of LibTorch's allocator of the CPU, block for block, and what that would
// reserve on a card.
#pragma once

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/memory/device_blocks.h"

namespace kdgat::test {

/// Records while it lives. One at a time; blocks that outlive it are freed as ever.
class RecordedBlocks {
 public:
  struct Event {
    int64_t block = 0, bytes = 0;  ///< 0 bytes = given back
  };

  RecordedBlocks() {
    log().events.clear();
    c10::SetCPUAllocator(&recorder_, kFirst);
  }
  RecordedBlocks(const RecordedBlocks&) = delete;
  RecordedBlocks& operator=(const RecordedBlocks&) = delete;
  ~RecordedBlocks() { c10::SetCPUAllocator(recorder_.before, kFirst); }

  /// From here on the workspaces of a card's libraries are there.
  void mark() { workspaces_at_ = log().events.size(); }

  /// The most that a card reserves for this, with two workspaces of so many bytes from mark() on.
  int64_t reserved_on_card(memory::Segments segments, int64_t workspace) const {
    memory::DeviceBlocks card(segments);
    std::map<int64_t, int64_t> addresses;
    int64_t most = 0;
    for (std::size_t i = 0; i < log().events.size(); ++i) {
      if (i == workspaces_at_) {
        for (int thread = 0; thread < 2; ++thread) card.allocate(workspace);
      }
      const Event& event = log().events[i];
      if (event.bytes > 0) {
        addresses[event.block] = card.allocate(event.bytes);
      } else if (const auto found = addresses.find(event.block); found != addresses.end()) {
        card.free(found->second);  // what was there before is not the card's
      }
      most = std::max(most, card.needed());
    }
    return most;
  }

 private:
  struct Log {
    std::mutex mutex;  // backward runs in a thread of its own
    std::vector<Event> events;
    int64_t blocks = 0;
    std::map<void*, std::pair<int64_t, at::DataPtr>> live;
  };
  /// Of the process: blocks may outlive who records them.
  static Log& log() {
    static Log log;
    return log;
  }
  static void give_back(void* address) {
    at::DataPtr data;  // given back behind the lock
    const std::lock_guard lock(log().mutex);
    const auto found = log().live.find(address);
    log().events.push_back({found->second.first, 0});
    data = std::move(found->second.second);
    log().live.erase(found);
  }
  struct Recorder : c10::Allocator {
    at::DataPtr allocate(std::size_t bytes) override {
      at::DataPtr data = before->allocate(bytes);
      if (bytes == 0) return data;
      void* address = data.get();
      const std::lock_guard lock(log().mutex);
      const int64_t block = ++log().blocks;
      log().events.push_back({block, static_cast<int64_t>(bytes)});
      log().live[address] = {block, std::move(data)};
      return {address, address, &give_back, at::Device(at::kCPU)};
    }
    at::DeleterFnPtr raw_deleter() const override { return &give_back; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override {
      default_copy_data(to, from, bytes);
    }
    c10::Allocator* before = c10::GetCPUAllocator();
  };

  static constexpr uint8_t kFirst = 255;
  Recorder recorder_;
  std::size_t workspaces_at_ = 0;
};

}  // namespace kdgat::test
