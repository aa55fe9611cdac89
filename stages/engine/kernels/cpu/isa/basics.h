// What the families of kernels and their inner loops both know. No tensors, no standard library: it
// is included by sources for other instruction sets.
#pragma once

#include <cstdint>

namespace kdgat::kernels::isa {

/// Heads of attention, at most.
inline constexpr int64_t kMaxHeads = 64;

/// How the elements of one graph are dropped: kept where hash(element, low, high) >= threshold, of
/// 2^31.
struct DropKey {
  uint32_t low, high;
  int32_t threshold;
};

}  // namespace kdgat::kernels::isa
