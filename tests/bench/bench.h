// What the programs of this folder share: a clock, and the end of main().
#pragma once

#include <chrono>
#include <exception>
#include <iostream>

namespace kdgat::bench {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The exit code of a program: `measure` prints its figures, or answers false if it does not know
/// the words it was called with.
template <class Measure>
int run(const char* usage, Measure measure) {
  try {
    if (measure()) return 0;
    std::cerr << usage;
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
}

}  // namespace kdgat::bench
