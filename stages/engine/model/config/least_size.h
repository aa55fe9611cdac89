// How large a model is at least, by its configuration, before anything of it is made.
#pragma once

#include <cstdint>

namespace kdgat::model {

/// Never more than the model has, and of its order; as doubles, which no configuration overflows.
struct LeastSize {
  double numbers = 0;  ///< of parameters and buffers
  double tensors = 0;

  /// A matrix, and `count` of them.
  void add(double rows, double columns, double count = 1) {
    numbers += rows * columns * count;
    tensors += count;
  }
};

}  // namespace kdgat::model
