// A layer: a module that computes with forward() and says with count() what that holds in memory.
#pragma once

#include <torch/nn/pimpl.h>

namespace kdgat::model {

/// `count` walks what forward() does on sizes: each operation allocates what the real one does, in
/// the same order (engine/model/layers/step_count.h).
template <class Layer>
concept CountsItself = requires {
  &Layer::count;
};

}  // namespace kdgat::model

/// TORCH_MODULE for NAMEImpl, which must count itself.
#define KDGAT_LAYER(NAME)                                                             \
  static_assert(::kdgat::model::CountsItself<NAME##Impl>,                             \
                #NAME "Impl has no count(): no plan would know what its step holds"); \
  TORCH_MODULE(NAME)
