// Geometry of third-order paths and its radial basis functions (SGMP, section 3.2).
//
// With a = j-i, b = k-j, c = p-j of a path i->j->k->p, six numbers fix the four points up to
// rotation and translation: |a|, |b|, |c|, the turning angles of b and of c against a in [0, pi]
// (straight on = 0), and the torsion phi in (-pi, pi], the angle from the plane of a and b to that
// of a and c; its sign changes under reflection, in the plane phi is 0 or pi, and where a plane is
// undefined it is 0. Points need no gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/paths.h"

namespace kdgat::space {

inline constexpr int64_t kDistances = 50, kThetas = 6, kPhis = 12;

/// Gaussians whose width is their spacing: distances on [0, cutoff], thetas on [0, pi], phi on the
/// circle. [arcs, kDistances], [triplets, kDistances + kThetas] and
/// [paths, kDistances + kThetas + kPhis].
struct PathBasis {
  at::Tensor edge, triplet, torsion;
};

PathBasis path_basis(const kernels::PathFeatures& features, double cutoff);

}  // namespace kdgat::space
