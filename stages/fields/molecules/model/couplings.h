// The algebra of scalars, vectors and symmetric traceless tensors: how two of them couple to a
// third (unit Frobenius norm; equal to the Wigner 3j symbols of e3nn), and the paths of a tensor
// product. Constants; no LibTorch.
//
// A second-rank tensor is given by its components along M_a, orthonormal symmetric traceless
// matrices: xz, xy, 2y^2-x^2-z^2, yz, z^2-x^2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fields/molecules/model/irreps.h"

namespace kdgat::molecules {

/// One term of a coupling: out[c] += value x[a] y[b].
struct CouplingTerm {
  int a, b, c;
  double value;
};
/// The terms of (l1, l2) -> l3 that are not 0. Throws std::logic_error if there is no such path.
const std::vector<CouplingTerm>& coupling(std::size_t l1, std::size_t l2, std::size_t l3);

/// The harmonics of a direction, 9 numbers: 1, sqrt(3) n, sqrt(15/2) n.M_a n.
std::array<double, 9> harmonics(const std::array<double, 3>& direction);
/// Where those of degree l begin.
inline constexpr std::array<std::size_t, 3> kHarmonic = {0, 1, 4};
inline constexpr int64_t kHarmonics = 9;

/// A path of the tensor product of a state with harmonics, into what a gate takes.
struct TensorPath {
  std::size_t l1, l2, l3;  ///< of the state, the harmonics, the result
  int64_t in, out;         ///< channels u, w
  int64_t first;           ///< of its block W[u,w] in the weights of an edge
  double scale;            ///< sqrt((2 l3 + 1) / channels that flow into l3)
  bool at_source;          ///< cheaper mixed once a source node than once a target
};
/// All eleven, in the order of their weights; those without channels have an empty block.
std::vector<TensorPath> tensor_paths(const Irreps& irreps);
/// Weights of an edge: the sum of all blocks.
int64_t edge_weights(const Irreps& irreps);

}  // namespace kdgat::molecules
