#include "pipeline/system/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

using kdgat::for_each_at_once;

TEST_CASE("work on many things does each of them once", "[parallel]") {
  for (const std::size_t count : {0, 1, 63, 1000}) {
    std::vector<std::atomic<int>> times(count);
    for_each_at_once(count, [&](std::size_t i) { ++times[i]; });
    for (const std::atomic<int>& one : times) CHECK(one == 1);
  }
}

TEST_CASE("what work throws comes out", "[parallel]") {
  for (const std::size_t count : {50, 5000}) {
    std::atomic<std::size_t> begun = 0;
    const auto work = [&](std::size_t i) {
      ++begun;
      if (i == 10) throw std::runtime_error("ten");
    };
    CHECK_THROWS_WITH(for_each_at_once(count, work), "ten");
    CHECK(begun >= 11);
    if (count == 50) CHECK(begun == 11);  // so few are done by one thread, in order
  }
}
