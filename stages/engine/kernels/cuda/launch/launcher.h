// What starts kernels: the card, or, in tests, loops on the CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/kernels/cuda/source/sizes.h"

namespace kdgat::kernels::cuda {

static_assert(std::is_same_v<Int, int64_t>);

/// Blocks of kThreads threads.
struct Grid {
  int64_t x = 0, y = 1;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Starts `kernel`, in its form for float or double, behind what was started before. `args` is
  /// read before this returns; what it points to is read when the kernel runs. A grid without
  /// blocks does nothing. Throws if the card refuses.
  virtual void launch(const char* kernel, bool is_double, const Grid& grid, const void* args) = 0;
};

template <template <class> class Args, class T>
void launch(Launcher& on, const char* kernel, const Grid& grid, const Args<T>& args) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  if (grid.x > 0 && grid.y > 0) on.launch(kernel, std::is_same_v<T, double>, grid, &args);
}

inline int64_t parts(int64_t count, int64_t size) { return (count + size - 1) / size; }
/// A thread for each of `count` numbers, or kLanes of them.
inline Grid a_thread_each(int64_t count) { return {parts(count, kThreads)}; }
inline Grid lanes_each(int64_t count) { return {parts(count, kGroups)}; }
/// Blocks of rows that are summed column by column, and the tiles of columns.
inline int64_t row_blocks(int64_t rows) { return parts(rows, kRowsOfBlock); }
inline int64_t column_tiles(int64_t columns) { return parts(columns, kTileColumns); }

}  // namespace kdgat::kernels::cuda
