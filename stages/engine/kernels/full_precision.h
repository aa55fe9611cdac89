// What stays in 32 bits while matrix products run in 16 (mixed precision;
// engine/train/precision.h): scores of attention and their softmax, norms, reductions and losses.
// Here are the two ways to say so.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace kdgat::kernels {

/// While it lives, operations of this thread keep the type of their inputs, as without autocast.
class FullPrecision {
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::autocast_dispatch_keyset};
};

/// `x` in 32 bits if it has 16; float and double as they are.
inline at::Tensor full(const at::Tensor& x) {
  const bool is_short = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  return is_short ? x.to(at::kFloat) : x;
}

}  // namespace kdgat::kernels
