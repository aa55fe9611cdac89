// LibTorch's caching allocator of a card on numbers, written the long way: what memory::DeviceBlocks
// is compared with, and what the recorded steps of a simulated card run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/device_blocks.h"

namespace kdgat::test {

using memory::Segments;
constexpr int64_t kMiB = 1 << 20;

/// The allocator as PyTorch's documentation has it, the long way: every segment a list of blocks in
/// order, everything looked for from the start.
class PlainBlocks {
 public:
  struct Block {
    int64_t size, name;  // name: 0 = free
  };
  struct Segment {
    bool is_small;
    int64_t size;
    std::vector<Block> blocks;
    bool is_used() const {
      for (const Block& block : blocks) {
        if (block.name != 0) return true;
      }
      return false;
    }
  };

  explicit PlainBlocks(Segments kind) : is_expandable(kind == Segments::kExpandable) {}

  /// Pages at the end of the one segment of a kind, which begins with none.
  void expand(int64_t size, bool is_small) {
    Segment* in = nullptr;
    for (Segment& segment : segments) {
      if (segment.is_small == is_small) in = &segment;
    }
    if (in == nullptr) in = &segments.emplace_back(Segment{is_small, 0, {}});
    if (in->blocks.empty() || in->blocks.back().name != 0) in->blocks.push_back({0, 0});
    while (in->blocks.back().size < size) {
      in->blocks.back().size += is_small ? 2 * kMiB : 20 * kMiB;
      in->size += is_small ? 2 * kMiB : 20 * kMiB;
    }
  }

  void allocate(int64_t name, int64_t bytes) {
    int64_t size = 512;
    while (size < bytes) size += 512;
    const bool is_small = size <= kMiB;
    Segment* in = nullptr;
    std::size_t at = 0;
    for (Segment& segment : segments) {
      for (std::size_t i = 0; segment.is_small == is_small && i < segment.blocks.size(); ++i) {
        const Block& block = segment.blocks[i];
        if (block.name != 0 || block.size < size) continue;
        if (in != nullptr && in->blocks[at].size <= block.size) continue;
        in = &segment;
        at = i;
      }
    }
    if (in == nullptr && is_expandable) {
      expand(size, is_small);
      for (Segment& segment : segments) {
        if (segment.is_small == is_small) in = &segment;
      }
      at = in->blocks.size() - 1;
    } else if (in == nullptr) {
      int64_t whole = is_small ? 2 * kMiB : 20 * kMiB;
      if (size >= 10 * kMiB) {
        whole = 0;
        while (whole < size) whole += 2 * kMiB;
      }
      segments.push_back({is_small, whole, {{whole, 0}}});
      in = &segments.back();
      at = 0;
    }
    const int64_t left = in->blocks[at].size - size;
    if (is_small || is_expandable ? left >= 512 : left > kMiB) {
      in->blocks[at].size = size;
      in->blocks.insert(in->blocks.begin() + static_cast<std::ptrdiff_t>(at) + 1, {left, 0});
    }
    in->blocks[at].name = name;
  }
  void free(int64_t name) {
    for (Segment& segment : segments) {
      std::vector<Block> joined;
      for (Block block : segment.blocks) {
        if (block.name == name) block.name = 0;
        if (block.name == 0 && !joined.empty() && joined.back().name == 0) {
          joined.back().size += block.size;
        } else {
          joined.push_back(block);
        }
      }
      segment.blocks = joined;
    }
  }
  int64_t used() const {
    int64_t out = 0;
    for (const Segment& segment : segments) {
      for (const Block& block : segment.blocks) out += block.name != 0 ? block.size : 0;
    }
    return out;
  }
  int64_t reserved(bool only_used) const {
    int64_t out = 0;
    for (const Segment& segment : segments) {
      if (!only_used || is_expandable || segment.is_used()) out += segment.size;
    }
    return out;
  }

  const bool is_expandable;
  std::vector<Segment> segments;
};

}  // namespace kdgat::test
