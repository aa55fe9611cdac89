// Values of a mapped file, to be compared with a list.
#pragma once

#include <span>
#include <vector>

namespace kdgat::test {

template <class T>
std::vector<T> copy(std::span<const T> values) {
  return {values.begin(), values.end()};
}

}  // namespace kdgat::test
