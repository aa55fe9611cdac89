// Irreps: how many scalars, vectors and second-rank tensors a state of an equivariant network has,
// and how they stand in a row.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace kdgat::molecules {

/// A row of a state: scalars, then vectors (x, y, z each), then tensors (5 components each, see
/// couplings.h); one channel behind the other.
struct Irreps {
  std::array<int64_t, 3> mul = {32, 16, 8};  ///< of l = 0, 1, 2

  static constexpr int64_t components(std::size_t l) { return 2 * static_cast<int64_t>(l) + 1; }
  int64_t dim() const { return mul[0] + 3 * mul[1] + 5 * mul[2]; }
  int64_t channels() const { return mul[0] + mul[1] + mul[2]; }
  /// Where those of degree l begin in a row.
  int64_t offset(std::size_t l) const { return l == 0 ? 0 : l == 1 ? mul[0] : mul[0] + 3 * mul[1]; }
  /// What a gate takes: besides the scalars one for each vector and tensor.
  Irreps gated() const { return {{channels(), mul[1], mul[2]}}; }

  /// "32x0e + 16x1o + 8x2e": any multiplicities of these three, in any order, blanks or not; one
  /// that is missing is 0. Throws Error(kUsage) for others, and without scalars.
  static Irreps parse(const std::string& text);
  std::string text() const;  ///< "32x0e+16x1o+8x2e"

  bool operator==(const Irreps&) const = default;
};

}  // namespace kdgat::molecules
