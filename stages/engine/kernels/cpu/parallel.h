// Splits work over threads so that results do not depend on how many there are: the blocks are
// fixed by the data, and each writes its own output.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace kdgat::kernels {

/// Calls body(block) for each of `blocks` in up to `threads` threads, at most
/// at::get_num_threads(); whoever is free takes the next block. Inside of body it runs on the
/// calling thread.
void share_blocks(int64_t blocks, int64_t threads, const std::function<void(int64_t)>& body);

/// Calls body(block) for each of `blocks`; `work` is the work of all of them in elements touched.
/// Little work stays on the calling thread.
template <class Body>
void for_blocks(int64_t blocks, int64_t work, const Body& body) {
  constexpr int64_t kWorkPerThread = 1 << 15;
  share_blocks(blocks, work / kWorkPerThread, std::cref(body));
}

inline constexpr int64_t kBlockRows = 256;

inline int64_t row_blocks(int64_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

}  // namespace kdgat::kernels
