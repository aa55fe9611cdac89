// Whether numbers that index memory stay inside of it: one pass over an array each, without a
// branch on a value, so that the compiler makes it a pass over vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace kdgat::arrays {

/// Whether all of `values` are in [low, end).
inline bool are_within(std::span<const int32_t> values, int64_t low, int64_t end) {
  if (values.empty() || end <= low) return values.empty();
  // A value outside has, after the shift by `low`, its highest bit set, or is more than the last.
  const auto first = static_cast<uint32_t>(low), last = static_cast<uint32_t>(end - low - 1);
  uint32_t wrong = 0;
  for (const int32_t value : values) {
    const uint32_t from_low = static_cast<uint32_t>(value) - first;
    wrong |= from_low | (last - from_low);
  }
  return wrong >> 31 == 0;
}

inline bool are_within(std::span<const int64_t> values, int64_t low, int64_t end) {
  bool wrong = false;
  for (const int64_t value : values) wrong |= (value < low) | (value >= end);
  return !wrong;
}

/// Whether no pointer is smaller than the one before it.
template <class T>
bool are_ascending(std::span<const T> pointers) {
  bool wrong = false;
  for (std::size_t i = 1; i < pointers.size(); ++i) wrong |= pointers[i] < pointers[i - 1];
  return !wrong;
}

/// Whether each byte is 0 or 1: a bool of another value is none, whatever a compiler makes of it.
inline bool are_flags(std::span<const bool> flags) {
  // Looked at as bytes, as a bool may not be read before this is known.
  const auto* bytes = reinterpret_cast<const unsigned char*>(flags.data());
  unsigned char all = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) all |= bytes[i];
  return all <= 1;
}

}  // namespace kdgat::arrays
