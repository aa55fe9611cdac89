// How much this process has read: what a test of quick work can count where time says nothing.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>

namespace kdgat::test {

/// Bytes that all threads of this process have read from files so far; none where the system does
/// not count them.
inline uint64_t bytes_read() {
  std::ifstream in("/proc/self/io");
  std::string name;
  uint64_t bytes = 0;
  while (in >> name >> bytes) {
    if (name == "rchar:") return bytes;
  }
  return 0;
}

/// What `work` reads; 0, with a word, where that is not counted.
template <class Work>
uint64_t bytes_read_by(Work work) {
  const uint64_t before = bytes_read();
  work();
  if (before == 0) WARN("/proc/self/io is not there: bytes are not counted");
  return before == 0 ? 0 : bytes_read() - before;
}

}  // namespace kdgat::test
