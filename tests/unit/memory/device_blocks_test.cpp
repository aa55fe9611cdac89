#include "memory/device_blocks.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "graph/random.h"
#include "support/plain_blocks.h"
#include "support/variable.h"

namespace kdgat::memory {
namespace {

using test::kMiB;
using test::PlainBlocks;
constexpr int64_t kKiB = 1 << 10;

/// Sizes about the limits between kinds, and any.
int64_t some_size(graph::Random& random) {
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
    graph::Random random(seed);
    DeviceBlocks blocks(kind);
    PlainBlocks plain(kind);
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
  CHECK(rounding_of({3000000}, step, size, own) == 22 * kMiB - tensors);
  CHECK(rounding_of({3000000}, step, {1, 0, 0}, own) == 20 * kMiB - 3000000);
  CHECK(rounding_of({}, {}, size, own) == 0);
  const std::vector<BlockEvent> apart = {{node * 18000, 0, false}, {node * 1, 1, false}};
  CHECK(rounding_of({3000000}, apart, size, own) ==
        20 * kMiB + 18 * kMiB + 2 * kMiB - (3000000 + 18000000 + 1000));
  // Pages of 20 MiB: two for all that is large, with workspaces of 64 MiB five.
  CHECK(rounding_of({3000000}, apart, size, pages) == 42 * kMiB - (3000000 + 18000000 + 1000));
  CHECK(rounding_of({3000000, 64 * kMiB}, apart, size, pages) ==
        102 * kMiB - (3000000 + 64 * kMiB + 18000000 + 1000));
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
