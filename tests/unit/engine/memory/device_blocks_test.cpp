#include "engine/memory/device_blocks.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "engine/arrays/random.h"
#include "support/graphs/variable.h"

namespace kdgat::memory {
namespace {

constexpr int64_t kKiB = 1 << 10, kMiB = 1 << 20;

/// The allocator as PyTorch's documentation has it, the long way: every segment a list of blocks in
/// order, everything looked for from the start.
class Plain {
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

  explicit Plain(Segments kind) : is_expandable(kind == Segments::kExpandable) {}

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

/// Sizes about the limits between kinds, and any.
int64_t some_size(arrays::Random& random) {
  const int64_t limits[] = {512, kMiB, 2 * kMiB, 10 * kMiB, 20 * kMiB};
  switch (random.below(4)) {
    case 0:
      return limits[random.below(5)] + static_cast<int64_t>(random.below(3)) - 1;
    case 1:
      return 1 + static_cast<int64_t>(random.below(4 * kKiB));
    case 2:
      return 1 + static_cast<int64_t>(random.below(3 * kMiB));
    default:
      return 1 + static_cast<int64_t>(random.below(40 * kMiB));
  }
}

TEST_CASE("blocks of a device lie as its allocator's description has them", "[memory]") {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Segments kind = seed % 2 == 0 ? Segments::kOwn : Segments::kExpandable;
    arrays::Random random(seed);
    DeviceBlocks blocks(kind);
    Plain plain(kind);
    std::vector<std::pair<int64_t, int64_t>> live;  // name and address
    int64_t asked = 0;
    for (int64_t name = 1; name < 400; ++name) {
      if (live.empty() || random.below(5) < 3) {
        const int64_t size = some_size(random);
        asked += size;
        plain.allocate(name, size);
        live.emplace_back(name, blocks.allocate(size));
      } else {
        const auto at = live.begin() + static_cast<std::ptrdiff_t>(random.below(live.size()));
        plain.free(at->first);
        blocks.free(at->second);
        live.erase(at);
      }
      REQUIRE(blocks.used() == plain.used());
      REQUIRE(blocks.reserved() == plain.reserved(false));
      REQUIRE(blocks.needed() == plain.reserved(true));
      REQUIRE(blocks.used() <= blocks.needed());
      REQUIRE(blocks.needed() <= blocks.reserved());
    }
    for (const auto& [name, address] : live) blocks.free(address);
    CHECK(blocks.used() == 0);
    CHECK(blocks.needed() == (kind == Segments::kOwn ? 0 : blocks.reserved()));
    CHECK(asked > 0);
  }
}

TEST_CASE("segments of a device have the sizes that PyTorch names", "[memory]") {
  const auto reserved = [](int64_t bytes) {
    DeviceBlocks blocks(Segments::kOwn);
    blocks.allocate(bytes);
    return blocks.reserved();
  };
  CHECK(reserved(0) == 0);
  CHECK(reserved(1) == 2 * kMiB);
  CHECK(reserved(kMiB) == 2 * kMiB);
  CHECK(reserved(kMiB + 1) == 20 * kMiB);
  CHECK(reserved(10 * kMiB - 512) == 20 * kMiB);
  CHECK(reserved(10 * kMiB - 1) == 10 * kMiB);  // rounded first
  CHECK(reserved(10 * kMiB + 1) == 12 * kMiB);
  CHECK(reserved(100 * kMiB) == 100 * kMiB);
  DeviceBlocks blocks(Segments::kOwn);
  CHECK_THROWS_AS(blocks.free(512), std::logic_error);
  const int64_t one = blocks.allocate(5);
  blocks.free(one);
  CHECK_THROWS_AS(blocks.free(one), std::logic_error);
}

TEST_CASE("what a step's blocks round is what segments hold beyond the tensors", "[memory]") {
  const Size size{1, 1000, 0};
  const Cost node{.node = 1};
  // 3 MB of weights in one segment of 20 MiB; then 12 MB and 1 KB, of which the first goes.
  const std::vector<BlockEvent> step = {
      {node * 12000, 0, false}, {node * 12000, 0, true}, {node * 1, 1, false}, {node * 1, 1, true}};
  const int64_t tensors = 3000000 + 12000000;
  // 12 MB find room behind the weights, as 20 MiB are 20971520 bytes; the small one needs a
  // segment.
  const Segments own = Segments::kOwn, pages = Segments::kExpandable;
  const int64_t unnamed = 24 * kMiB;
  CHECK(rounding_of({3000000}, step, size, 0, own) == 22 * kMiB - tensors + unnamed);
  CHECK(rounding_of({3000000}, step, {1, 0, 0}, 0, own) == 20 * kMiB - 3000000 + unnamed);
  CHECK(rounding_of({}, {}, size, 0, own) == unnamed);
  const std::vector<BlockEvent> apart = {{node * 18000, 0, false}, {node * 1, 1, false}};
  CHECK(rounding_of({3000000}, apart, size, 0, own) ==
        20 * kMiB + 18 * kMiB + 2 * kMiB - (3000000 + 18000000 + 1000) + unnamed);
  // Pages of 20 MiB: two for all that is large, with workspaces of 64 MiB five.
  CHECK(rounding_of({3000000}, apart, size, 0, pages) ==
        42 * kMiB - (3000000 + 18000000 + 1000) + unnamed);
  CHECK(rounding_of({3000000, 64 * kMiB}, apart, size, 0, pages) ==
        102 * kMiB - (3000000 + 64 * kMiB + 18000000 + 1000) + unnamed);
  // A tenth more of 18 MB is 19.8 MB, which a segment of 20 MiB of its own holds, not one of 18.
  CHECK(rounding_of({3000000}, apart, size, 0.1, own) ==
        20 * kMiB + 20 * kMiB + 2 * kMiB - (3000000 + 18000000 + 1000) + unnamed);
}

TEST_CASE("the allocator's settings name the kind of segments", "[memory]") {
  const test::Variable general("PYTORCH_ALLOC_CONF", "");
  const auto set_to = [](const char* value) {
    const test::Variable of_cards("PYTORCH_CUDA_ALLOC_CONF", value);
    return segments_in_use();
  };
  CHECK(set_to("") == Segments::kExpandable);  // what kdgat sets
  CHECK(set_to("max_split_size_mb:64,expandable_segments:True") == Segments::kExpandable);
  CHECK(set_to("max_split_size_mb:64") == Segments::kOwn);
}

}  // namespace
}  // namespace kdgat::memory
