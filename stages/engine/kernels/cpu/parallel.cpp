// Compiled with OpenMP, unlike the rest: at::parallel_for is a template that is serial without it.
#include "engine/kernels/cpu/parallel.h"

#include <ATen/Parallel.h>

#include <atomic>

#ifndef _OPENMP
#error "parallel.cpp is to be compiled with -fopenmp"
#endif

namespace kdgat::kernels {

void share_blocks(int64_t blocks, int64_t threads, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next{0};
  const auto take = [&](int64_t, int64_t) {
    for (int64_t block = next++; block < blocks; block = next++) body(block);
  };
  const int64_t crew = std::min({threads, blocks, static_cast<int64_t>(at::get_num_threads())});
  if (crew <= 1 || at::in_parallel_region()) return take(0, 1);
  at::parallel_for(0, crew, 1, take);
}

}  // namespace kdgat::kernels
