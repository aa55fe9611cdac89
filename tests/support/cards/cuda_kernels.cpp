// All kernels of the card, for the CPU.
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "support/cards/cuda_shim.h"
// The words come first, then what is made of them.
#include "engine/kernels/cuda/source/basics.cuh"
#include "engine/kernels/cuda/source/gat.cuh"
#include "engine/kernels/cuda/source/gatv2.cuh"
#include "engine/kernels/cuda/source/heads.cuh"
#include "engine/kernels/cuda/source/norm.cuh"
#include "engine/kernels/cuda/source/paths.cuh"
#include "engine/kernels/cuda/source/product.cuh"
#include "engine/kernels/cuda/source/sums.cuh"

namespace kdgat::kernels::cuda {

namespace {

/// 0 .. count-1 in the order.
std::vector<int> ordered(int count, shim::Order order) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  if (order == shim::Order::kBackward) std::reverse(out.begin(), out.end());
  if (order == shim::Order::kMixed) {
    uint32_t state = 12345;
    for (std::size_t i = out.size(); i > 1; --i) {
      state = state * 1664525 + 1013904223;
      std::swap(out[i - 1], out[(state >> 8) % i]);
    }
  }
  return out;
}

}  // namespace

void ShimLauncher::launch(const char* kernel, bool is_double, const Grid& grid, const void* args) {
  const auto found = shim::kernels().find(kernel);
  if (found == shim::kernels().end()) throw std::logic_error(std::string("no kernel ") + kernel);
  ++launched_[kernel];
  shim::Block& block = shim::block();
  block.kernel = kernel;
  block.order = ordered(kThreads, order_);
  for (const int at : ordered(static_cast<int>(grid.x * grid.y), order_)) {
    block.x = at % grid.x;
    block.y = at / grid.x;
    block.phase = 0;
    (is_double ? found->second.second : found->second.first)(args);
  }
}

}  // namespace kdgat::kernels::cuda
