// DeviceBlocks: how LibTorch's caching allocator of a device lays out what it is asked for, so that
// a plan counts what is reserved and not only what tensors hold. A model of it on numbers, as
// PyTorch describes it (Memory management, CUDACachingAllocator): allocates nothing, knows no
// LibTorch.
//
// A request is rounded up to 512 bytes. What is at most 1 MiB comes out of segments of 2 MiB, what
// is below 10 MiB out of segments of 20 MiB, what is larger has a segment of its own, rounded up to
// 2 MiB. The smallest free block of the right kind that is large enough is taken, and divided where
// enough is left over: of small ones 512 bytes, of others more than 1 MiB. Free neighbours of a
// segment are joined. A segment that holds nothing stays for the next request, until there is no
// memory: then it is given back. So what has to be there is the segments in use.
//
// With expandable_segments:True, which is kdgat's default, each kind has one segment. It grows at
// its end in pages of 2 MiB or, of what is above 1 MiB, of 20 MiB; what a block leaves over is
// free from 512 bytes on. All pages count as in use.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/memory/memory_plan.h"

namespace kdgat::memory {

enum class Segments { kOwn, kExpandable };
/// What the allocator of this process is set to: kExpandable, unless $PYTORCH_CUDA_ALLOC_CONF or
/// $PYTORCH_ALLOC_CONF is set without expandable_segments:True.
Segments segments_in_use();

class DeviceBlocks {
 public:
  explicit DeviceBlocks(Segments segments) : is_expandable_(segments == Segments::kExpandable) {}

  /// A block of at least so many bytes, by its address; 0 of none or fewer.
  int64_t allocate(int64_t bytes);
  /// Throws std::logic_error if there is no such block in use.
  void free(int64_t address);

  int64_t used() const { return used_; }          ///< bytes of blocks, as rounded
  int64_t reserved() const { return reserved_; }  ///< of all segments
  int64_t needed() const { return needed_; }      ///< of the segments in use

 private:
  struct Block {
    int64_t size = 0, segment = 0;  ///< address of its first byte, and of its segment's
    bool is_free = false;
  };
  struct Segment {
    int64_t size = 0, blocks_in_use = 0;
    bool is_small = false;
  };
  using BySize = std::set<std::pair<int64_t, int64_t>>;  // size and address of what is free

  /// Makes room: in a segment of its own, or at the end of that of all of its kind.
  void add_segment(int64_t size, bool is_small);
  void expand(int64_t size, bool is_small);
  BySize& free_of(const Block& block) {
    return free_[segments_.at(block.segment).is_small ? 0 : 1];
  }

  std::map<int64_t, Block> blocks_;
  std::map<int64_t, Segment> segments_;
  BySize free_[2];
  int64_t end_ = 512, used_ = 0, reserved_ = 0, needed_ = 0;
  const bool is_expandable_;
};

/// A block that a step asks for, or gives back.
struct BlockEvent {
  Cost bytes;
  int64_t block = 0;  ///< which
  bool is_freed = false;
};

/// What a step of this size holds beyond the bytes of its tensors, at most and of both at their
/// most: rounding, and what is left free in segments in use. `kept` are the sizes of what is there
/// before. Tensors may be larger than the step says by the share `margin`; some segments more
/// are for what it does not name.
int64_t rounding_of(const std::vector<int64_t>& kept, const std::vector<BlockEvent>& step,
                    const Size& size, double margin, Segments segments);

}  // namespace kdgat::memory
