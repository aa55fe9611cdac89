// Numbers for tests of products in bfloat16. Needs torch first.
#pragma once

namespace kdgat::test {

/// Numbers of few enough digits that rounding them to bfloat16 changes nothing, nor does the order
/// in which not too many of their products are added.
inline at::Tensor short_numbers(at::IntArrayRef shape) {
  return torch::randint(-8, 9, shape, at::kFloat) / 8;
}

}  // namespace kdgat::test
