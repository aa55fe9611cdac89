#include "fields/space/model/path_features.h"

#include <ATen/ATen.h>

#include <numbers>

#include "engine/kernels/kernels_for.h"

namespace kdgat::space {

PathBasis path_basis(const kernels::PathFeatures& features, double cutoff) {
  using std::numbers::pi;
  const double distance = cutoff / (kDistances - 1), theta = pi / (kThetas - 1);
  const auto smear_into = [](const at::Tensor& x, const kernels::Gaussians& gaussians,
                             const at::Tensor& out, int64_t first) {
    kernels::kernels_for<kernels::PathKernels>(x.device()).smear(x, gaussians, out, first);
  };
  const auto basis = [&](const at::Tensor& d, int64_t columns) {
    at::Tensor out = at::empty({d.size(0), columns}, d.options());
    smear_into(d, {kDistances, distance, 0}, out, 0);
    return out;
  };
  PathBasis out;
  out.edge = basis(features.d_ij, kDistances);
  out.triplet = basis(features.d_jk, kDistances + kThetas);
  smear_into(features.theta_ijk, {kThetas, theta, 0}, out.triplet, kDistances);
  out.torsion = basis(features.d_jp, kDistances + kThetas + kPhis);
  smear_into(features.theta_ijp, {kThetas, theta, 0}, out.torsion, kDistances);
  smear_into(features.phi, {kPhis, 2 * pi / kPhis, 2 * pi}, out.torsion, kDistances + kThetas);
  return out;
}

}  // namespace kdgat::space
