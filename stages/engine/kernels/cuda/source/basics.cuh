// What several kernels do alike. Behind card.cuh or its stand-in.
#pragma once

#include "engine/kernels/cuda/source/sizes.h"

namespace kdgat::kernels::cuda {

CARD float exp_of(float x) { return expf(x); }
CARD double exp_of(double x) { return ::exp(x); }
CARD float log_of(float x) { return logf(x); }
CARD double log_of(double x) { return ::log(x); }
CARD float log1p_of(float x) { return log1pf(x); }
CARD double log1p_of(double x) { return ::log1p(x); }
CARD float sqrt_of(float x) { return sqrtf(x); }
CARD double sqrt_of(double x) { return ::sqrt(x); }
CARD float floor_of(float x) { return floorf(x); }
CARD double floor_of(double x) { return ::floor(x); }
CARD float atan2_of(float y, float x) { return atan2f(y, x); }
CARD double atan2_of(double y, double x) { return ::atan2(y, x); }

template <class T>
CARD T leaky(T x, T slope) {
  return x > 0 ? x : x * slope;
}

/// The number of thread t among those of all blocks.
CARD Int thread_of_all(int t) { return block_x() * kThreads + t; }

/// Sum of `count` numbers of a block, from thread t's on by steps of `stride`.
template <class Shared>
CARD auto sum_of_threads(Shared& values, int t, int count, int stride)
    -> decltype(values[0] + values[0]) {
  decltype(values[0] + values[0]) sum = values[t];
  for (int i = 1; i < count; ++i) sum += values[t + i * stride];
  return sum;
}

/// body(at, row, column) for each number of a table, by a thread.
template <class Body>
CARD void for_cells(Int rows, Int columns, const Body& body) {
  THREADS(t) {
    const Int at = thread_of_all(t);
    if (at < rows * columns) body(at, at / columns, at % columns);
  }
}

/// `count` sums, each by kLanes threads: share(pair, lane) is what one of them adds, done(pair,
/// sum) takes what comes of it.
template <class T, class Share, class Done>
CARD void lane_sums(Int count, const Share& share, const Done& done) {
  SHARED(T, part, kThreads);
  const Int first = block_x() * kGroups;
  THREADS(t) {
    const Int pair = first + t / kLanes;
    part[t] = pair < count ? share(pair, t % kLanes) : T(0);
  }
  THREADS(t) {
    const Int pair = first + t / kLanes;
    if (pair < count && t % kLanes == 0) done(pair, sum_of_threads(part, t, kLanes, 1));
  }
}

/// Sum over the rows of a tile of the column of thread t < kTileColumns.
template <class Shared>
CARD auto tile_sum(Shared& values, int t) -> decltype(values[0] + values[0]) {
  return sum_of_threads(values, t, kTileRows, kTileColumns);
}

}  // namespace kdgat::kernels::cuda
