#include "engine/memory/arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "engine/arrays/random.h"
#include "support/catch_torch.h"

using namespace kdgat;
using memory::Arena;
using memory::Counters;

namespace {

constexpr int64_t kMiB = 1 << 20;

struct Held {
  char* data;
  std::size_t bytes;
  unsigned char fill;
};

bool intact(const Held& held) {
  return std::all_of(held.data, held.data + held.bytes,
                     [&](char c) { return static_cast<unsigned char>(c) == held.fill; });
}

}  // namespace

TEST_CASE("the arena counts exactly the bytes that were asked for", "[memory]") {
  Arena arena;
  void* small = arena.allocate(100);
  void* large = arena.allocate(3 * kMiB + 5);
  CHECK(arena.counters().allocated == 3 * kMiB + 105);
  void* other = arena.allocate(7 * kMiB);
  arena.free(large);
  CHECK(arena.counters().allocated == 7 * kMiB + 100);
  CHECK(arena.counters().peak_allocated == 10 * kMiB + 105);
  arena.reset_peaks();
  CHECK(arena.counters().peak_allocated == 7 * kMiB + 100);
  CHECK(arena.counters().reserved >= 10 * kMiB);  // what was freed stays warm
  const int64_t given = arena.trim();
  CHECK(given >= kMiB);
  CHECK(arena.counters().reserved <= 9 * kMiB);
  CHECK(arena.counters().released_bytes == given);
  arena.free(small);
  arena.free(other);
  arena.trim();
  CHECK(arena.counters().allocated == 0);
  CHECK(arena.counters().reserved < 4 * kMiB);  // fringes of huge pages
  CHECK(arena.allocate(0) == nullptr);
  arena.free(nullptr);
}

TEST_CASE("nothing in the arena overlaps, and what is freed is used again", "[memory]") {
  Arena arena;
  arrays::Random random(7);
  std::vector<Held> held;
  int64_t expected = 0;
  for (int round = 0; round < 3000; ++round) {
    if (held.size() > 40 || (!held.empty() && random.below(2) == 0)) {
      const std::size_t i = random.below(held.size());
      REQUIRE(intact(held[i]));
      arena.free(held[i].data);
      expected -= static_cast<int64_t>(held[i].bytes);
      held[i] = held.back();
      held.pop_back();
    } else {
      const std::size_t bytes = 1 + random.below(random.below(2) == 0 ? 4000 : 2 * kMiB);
      auto* data = static_cast<char*>(arena.allocate(bytes));
      REQUIRE(data != nullptr);
      REQUIRE(reinterpret_cast<std::size_t>(data) % Arena::kAlignment == 0);
      const auto fill = static_cast<unsigned char>(round);
      std::memset(data, fill, bytes);
      held.push_back({data, bytes, fill});
      expected += static_cast<int64_t>(bytes);
    }
    if (round % 500 == 499) arena.trim();
    REQUIRE(arena.counters().allocated == expected);
  }
  const Counters counters = arena.counters();
  // Freed memory is found again, also where its pieces must be joined.
  CHECK(static_cast<double>(counters.peak_reserved) <
        1.05 * static_cast<double>(counters.peak_allocated) + 24 * kMiB);
  for (const Held& h : held) {
    CHECK(intact(h));
    arena.free(h.data);
  }
  CHECK(arena.counters().allocated == 0);
}

TEST_CASE("a limit of the arena is kept, with what is warm given back first", "[memory]") {
  Arena arena;
  arena.set_limit(64 * kMiB);
  void* first = arena.allocate(40 * kMiB);
  REQUIRE(first != nullptr);
  CHECK(arena.allocate(30 * kMiB) == nullptr);
  CHECK(arena.last_failure().bytes == 30 * kMiB);
  CHECK(arena.last_failure().allocated == 40 * kMiB);
  REQUIRE(arena.last_failure().largest.size() == 1);
  CHECK(arena.last_failure().largest[0].bytes == 40 * kMiB);
  arena.free(first);
  // 40 MiB are warm and no place for 60: some of them have to go.
  void* second = arena.allocate(60 * kMiB);
  REQUIRE(second != nullptr);
  CHECK(arena.counters().peak_reserved <= 64 * kMiB);
  void* small = arena.allocate(1000);
  CHECK(small != nullptr);
  arena.free(small);
  arena.free(second);
  std::vector<void*> many;  // of all sizes, up to the limit
  while (void* next = arena.allocate(150000 + 7919 * many.size())) many.push_back(next);
  CHECK(arena.counters().reserved > 60 * kMiB);
  CHECK(arena.counters().peak_reserved <= 64 * kMiB);
  for (void* p : many) arena.free(p);
}

TEST_CASE("random requests never hold more than the limit", "[memory]") {
  Arena arena;
  constexpr int64_t kLimit = 20 * kMiB;
  arena.set_limit(kLimit);
  arrays::Random random(11);
  std::vector<void*> held;
  int failed = 0;
  for (int round = 0; round < 4000; ++round) {
    void* next = arena.allocate(1 + random.below(3 * kMiB));
    if (next != nullptr) held.push_back(next);
    failed += next == nullptr ? 1 : 0;
    while (!held.empty() && (next == nullptr || random.below(5) < 2)) {
      const std::size_t i = random.below(held.size());
      arena.free(held[i]);
      held[i] = held.back();
      held.pop_back();
      if (next == nullptr && random.below(3) == 0) break;
    }
    REQUIRE(arena.counters().peak_reserved <= kLimit);
  }
  CHECK(failed > 20);
  for (void* p : held) arena.free(p);
}

TEST_CASE("the n-th request of an arena fails once", "[memory]") {
  Arena arena;
  arena.fail_allocation(2);
  void* first = arena.allocate(10);
  CHECK(first != nullptr);
  CHECK(arena.allocate(10) == nullptr);
  void* third = arena.allocate(10);
  CHECK(third != nullptr);
  arena.free(first);
  arena.free(third);
}

TEST_CASE("live requests are listed by label, largest first", "[memory]") {
  Arena arena;
  const char* before = arena.set_label("forward");
  CHECK(std::string(before).empty());
  void* a = arena.allocate(2 * kMiB);
  arena.set_label("backward");
  void* b = arena.allocate(5 * kMiB);
  void* c = arena.allocate(100);
  void* d = arena.allocate(50);
  const std::vector<memory::LiveBlock> live = arena.largest(10);
  REQUIRE(live.size() == 3);
  CHECK(live[0].bytes == 5 * kMiB);
  CHECK(std::string(live[0].label) == "backward");
  CHECK(std::string(live[1].label) == "forward");
  CHECK(live[2].bytes == 150);  // small ones together
  CHECK(arena.largest(1).size() == 1);
  for (void* p : {a, b, c, d}) arena.free(p);
}

TEST_CASE("a thread may have an arena of its own", "[memory]") {
  Arena& shared = Arena::instance();
  const int64_t before = shared.counters().allocated;
  std::vector<void*> kept;
  {
    const memory::OwnArena own;
    Arena& mine = Arena::instance();
    REQUIRE(&mine != &shared);
    mine.set_limit(8 * kMiB);
    void* large = mine.allocate(4 * kMiB);
    void* small = mine.allocate(100);
    REQUIRE(large != nullptr);
    CHECK(mine.counters().allocated == 4 * kMiB + 100);
    CHECK(shared.counters().allocated == before);
    CHECK(mine.allocate(5 * kMiB) == nullptr);  // its own limit
    std::thread([&] {
      CHECK(&Arena::instance() == &shared);
      Arena::release(large);  // freed where it was made, by whichever thread
      Arena::release(small);
    }).join();
    CHECK(mine.counters().allocated == 0);
    CHECK(shared.counters().allocated == before);
    // What outlives it stays usable.
    kept = {mine.allocate(kMiB), mine.allocate(10)};
  }
  CHECK(&Arena::instance() == &shared);
  std::memset(kept[0], 7, kMiB);
  std::memset(kept[1], 7, 10);
  for (void* one : kept) Arena::release(one);
  CHECK(shared.counters().allocated == before);
}

TEST_CASE("arenas of many threads do not mix", "[memory]") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([t] {
      const memory::OwnArena own;
      arrays::Random random(static_cast<uint64_t>(t));
      std::vector<Held> held;
      int64_t sum = 0;
      for (int i = 0; i < 400; ++i) {
        if (!held.empty() && random.below(2) == 0) {
          const std::size_t pick = random.below(held.size());
          if (!intact(held[pick])) std::abort();
          sum -= static_cast<int64_t>(held[pick].bytes);
          Arena::release(held[pick].data);
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(pick));
        } else {
          const std::size_t bytes = 1 + random.below(300 << 10);
          const auto fill = static_cast<unsigned char>(random.below(256));
          char* data = static_cast<char*>(Arena::instance().allocate(bytes));
          std::memset(data, fill, bytes);
          held.push_back({data, bytes, fill});
          sum += static_cast<int64_t>(bytes);
        }
        if (Arena::instance().counters().allocated != sum) std::abort();
      }
      for (const Held& one : held) Arena::release(one.data);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(Arena::instance().counters().allocated >= 0);
}
