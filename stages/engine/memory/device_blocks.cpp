#include "engine/memory/device_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

namespace kdgat::memory {
namespace {

constexpr int64_t kMebi = 1 << 20;
constexpr int64_t kBlock = 512;                // of which blocks are multiples
constexpr int64_t kSmall = kMebi;              // the largest small request
constexpr int64_t kSmallSegment = 2 * kMebi;   // of small requests
constexpr int64_t kLargeSegment = 20 * kMebi;  // of requests from kSmall to kOwnSegment
constexpr int64_t kOwnSegment = 10 * kMebi;    // from here on
constexpr int64_t kSegmentUnit = 2 * kMebi;    // of which those are multiples
// What no description of a step names (buffers, sums, counters), and gaps that it does not foresee:
// with it no plan is below the steps that tests record.
constexpr int64_t kUnnamed = 2 * kSmallSegment + kLargeSegment;

int64_t rounded(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

int64_t segment_for(int64_t size) {
  if (size <= kSmall) return kSmallSegment;
  return size < kOwnSegment ? kLargeSegment : rounded(size, kSegmentUnit);
}

/// Where the segment of a kind begins: they never meet.
int64_t start_of(bool is_small) { return is_small ? kBlock : int64_t{1} << 60; }

}  // namespace

Segments segments_in_use() {
  bool is_set = false;
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    is_set = true;
    if (std::string_view(value).find("expandable_segments:True") != std::string_view::npos) {
      return Segments::kExpandable;
    }
  }
  return is_set ? Segments::kOwn : Segments::kExpandable;
}

void DeviceBlocks::add_segment(int64_t size, bool is_small) {
  const int64_t segment = segment_for(size), address = end_;
  end_ += segment + kBlock;  // segments are no neighbours
  segments_[address] = {segment, 0, is_small};
  blocks_[address] = {segment, address, true};
  reserved_ += segment;
  free_[is_small ? 0 : 1].emplace(segment, address);
}

void DeviceBlocks::expand(int64_t size, bool is_small) {
  const int64_t start = start_of(is_small);
  Segment& segment = segments_.try_emplace(start, Segment{0, 0, is_small}).first->second;
  int64_t address = start + segment.size, free = 0;
  const auto behind = blocks_.lower_bound(address);
  if (behind != blocks_.begin()) {
    const auto& [last, block] = *std::prev(behind);
    if (block.segment == start && block.is_free) {
      address = last;
      free = block.size;
      free_[is_small ? 0 : 1].erase({free, last});
    }
  }
  const int64_t more = rounded(size - free, is_small ? kSmallSegment : kLargeSegment);
  blocks_[address] = {free + more, start, true};
  free_[is_small ? 0 : 1].emplace(free + more, address);
  segment.size += more;
  reserved_ += more;
  needed_ = reserved_;
}

int64_t DeviceBlocks::allocate(int64_t bytes) {
  if (bytes <= 0) return 0;
  const int64_t size = rounded(bytes, kBlock);
  const bool is_small = size <= kSmall;
  BySize& free = free_[is_small ? 0 : 1];
  auto found = free.lower_bound({size, 0});
  if (found == free.end()) {
    is_expandable_ ? expand(size, is_small) : add_segment(size, is_small);
    found = free.lower_bound({size, 0});
  }
  const int64_t address = found->second;
  free.erase(found);
  Block& block = blocks_.at(address);
  const int64_t left = block.size - size;
  if (is_small || is_expandable_ ? left >= kBlock : left > kSmall) {
    blocks_[address + size] = {left, block.segment, true};
    free.emplace(left, address + size);
    block.size = size;
  }
  block.is_free = false;
  used_ += block.size;
  Segment& segment = segments_.at(block.segment);
  if (segment.blocks_in_use++ == 0 && !is_expandable_) needed_ += segment.size;
  return address;
}

void DeviceBlocks::free(int64_t address) {
  auto at = blocks_.find(address);
  if (at == blocks_.end() || at->second.is_free) throw std::logic_error("no such block is in use");
  used_ -= at->second.size;
  Segment& segment = segments_.at(at->second.segment);
  if (--segment.blocks_in_use == 0 && !is_expandable_) needed_ -= segment.size;
  BySize& free = free_of(at->second);
  // The block behind it, then the one before it, of the same segment.
  const auto join = [&](std::map<int64_t, Block>::iterator first) {
    const auto second = std::next(first);
    if (second == blocks_.end() || second->second.segment != first->second.segment) return;
    if (!first->second.is_free || !second->second.is_free) return;
    free.erase({first->second.size, first->first});
    free.erase({second->second.size, second->first});
    first->second.size += second->second.size;
    blocks_.erase(second);
    free.emplace(first->second.size, first->first);
  };
  at->second.is_free = true;
  free.emplace(at->second.size, at->first);
  join(at);
  if (at != blocks_.begin()) join(std::prev(at));
}

int64_t rounding_of(const std::vector<int64_t>& kept, const std::vector<BlockEvent>& step,
                    const Size& size, double margin, Segments segments) {
  DeviceBlocks blocks(segments);
  int64_t held = 0;
  for (const int64_t bytes : kept) {
    blocks.allocate(bytes);
    held += bytes;
  }
  int64_t most = held, needed = blocks.needed();
  // The batches of an epoch differ: what one leaves free is not what the next one asks for.
  for (const double share : {1.0, 0.97, 1.0, 0.94, 0.99}) {
    int64_t described = held;
    std::unordered_map<int64_t, std::pair<int64_t, int64_t>> live;  // address, bytes as described
    for (const BlockEvent& event : step) {
      if (event.is_freed) {
        const auto [address, bytes] = live.at(event.block);
        if (address != 0) blocks.free(address);
        described -= bytes;
        live.erase(event.block);
        continue;
      }
      const double of_batch = share * (event.bytes.of(size) - event.bytes.fixed);
      const double bytes = std::max(0.0, event.bytes.fixed + of_batch);
      const auto whole = static_cast<int64_t>(std::ceil(bytes));
      live[event.block] = {blocks.allocate(static_cast<int64_t>(std::ceil((1 + margin) * bytes))),
                           whole};
      described += whole;
      if (share == 1) most = std::max(most, described);
      needed = std::max(needed, blocks.needed());
    }
    for (const auto& [block, of] : live) {
      if (of.first != 0) blocks.free(of.first);
    }
  }
  return kUnnamed + std::max<int64_t>(0, needed - most);
}

}  // namespace kdgat::memory
