#include "model/space/path_features.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <cmath>
#include <numbers>

#include "model/kernels/isa.h"
#include "model/kernels/kernels.h"
#include "model/kernels/parallel.h"

namespace kdgat::model {

namespace {

template <class T>
struct Point {
  T x, y, z;
  friend Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
};

template <class T>
T dot(Point<T> a, Point<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class T>
Point<T> cross(Point<T> a, Point<T> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
T length(Point<T> a) {
  return std::sqrt(dot(a, a));
}

/// Lengths, and of each angle a sine and a cosine on the same scale. phi: sin = |a| a.(b x c) and
/// cos = (a x b).(a x c), as (a x b) x (a x c) = a (a.(b x c)).
template <class T>
void geometry(const at::Tensor& pos_N3, const graph::PathChunk& chunk, const at::Tensor& arcs_A,
              const at::Tensor& triplets_3T, const at::Tensor& paths_5P) {
  const T* pos = pos_N3.const_data_ptr<T>();
  const auto at = [pos](int32_t v) {
    const T* xyz = pos + int64_t{3} * v;
    return Point<T>{xyz[0], xyz[1], xyz[2]};
  };
  T* d_ij = arcs_A.data_ptr<T>();
  T* of_triplets = triplets_3T.data_ptr<T>();
  T* of_paths = paths_5P.data_ptr<T>();
  const int64_t triplets = chunk.triplets, paths = chunk.paths;
  constexpr int64_t kArcs = 64;
  for_blocks((chunk.arcs + kArcs - 1) / kArcs, 30 * paths, [&](int64_t block) {
    for (int64_t arc = block * kArcs; arc < std::min(chunk.arcs, (block + 1) * kArcs); ++arc) {
      const Point<T> j = at(chunk.j[arc]);
      const Point<T> a = j - at(chunk.i[arc]);
      const T a_length = d_ij[arc] = length(a);
      for (int32_t t = chunk.triplet_ptr[arc]; t < chunk.triplet_ptr[arc + 1]; ++t) {
        const Point<T> b = at(chunk.k[t]) - j;
        const Point<T> n1 = cross(a, b);
        of_triplets[t] = length(b);
        of_triplets[triplets + t] = length(n1);
        of_triplets[2 * triplets + t] = dot(a, b);
        for (int32_t p = chunk.path_ptr[t]; p < chunk.path_ptr[t + 1]; ++p) {
          const Point<T> c = at(chunk.p[p]) - j;
          const Point<T> n2 = cross(a, c);
          of_paths[p] = length(c);
          of_paths[paths + p] = length(n2);
          of_paths[2 * paths + p] = dot(a, c);
          of_paths[3 * paths + p] = a_length * dot(n1, c) + T(0);  // -0 would turn pi into -pi
          of_paths[4 * paths + p] = dot(n1, n2);
        }
      }
    }
  });
}

}  // namespace

PathFeatures plain::path_features(const at::Tensor& pos_N3, const graph::PathChunk& chunk) {
  const auto on_device = [&](const graph::Buffer<int32_t>& buffer, int64_t size) {
    return at::from_blob(const_cast<int32_t*>(buffer.data()), {size}, at::kInt)
        .to(pos_N3.device(), at::kLong);
  };
  const auto lengths = [&](const graph::Buffer<int32_t>& ptr, int64_t runs) {
    return on_device(ptr, runs + 1).diff();
  };
  const auto total = [](int64_t rows) { return std::optional<int64_t>(rows); };
  const at::Tensor arc_T =
      at::repeat_interleave(lengths(chunk.triplet_ptr, chunk.arcs), total(chunk.triplets));
  const at::Tensor triplet_P =
      at::repeat_interleave(lengths(chunk.path_ptr, chunk.triplets), total(chunk.paths));
  const at::Tensor j = pos_N3.index_select(0, on_device(chunk.j, chunk.arcs));
  const at::Tensor a = j - pos_N3.index_select(0, on_device(chunk.i, chunk.arcs));
  const at::Tensor j_T = j.index_select(0, arc_T), a_T = a.index_select(0, arc_T);
  const at::Tensor b = pos_N3.index_select(0, on_device(chunk.k, chunk.triplets)) - j_T;
  const at::Tensor n1 = at::linalg_cross(a_T, b);
  const at::Tensor a_P = a_T.index_select(0, triplet_P);
  const at::Tensor c =
      pos_N3.index_select(0, on_device(chunk.p, chunk.paths)) - j_T.index_select(0, triplet_P);
  const at::Tensor normal_P = n1.index_select(0, triplet_P), n2 = at::linalg_cross(a_P, c);
  const auto norm = [](const at::Tensor& x) { return x.square().sum(1).sqrt(); };
  const auto inner = [](const at::Tensor& x, const at::Tensor& y) { return (x * y).sum(1); };
  return {norm(a),
          norm(b),
          at::atan2(norm(n1), inner(a_T, b)),
          norm(c),
          at::atan2(norm(n2), inner(a_P, c)),
          at::atan2(norm(a_P) * inner(normal_P, c) + 0.0, inner(normal_P, n2))};
}

namespace {

/// Columns [first, first + centres) of `out` become the Gaussians of x.
void smear_into(const at::Tensor& x, int64_t centres, double spacing, double period,
                const at::Tensor& out, int64_t first) {
  if (!x.is_cpu()) {
    const at::Tensor centre = at::arange(centres, x.options()) * spacing;
    at::Tensor difference = x.unsqueeze(1) - centre;
    if (period > 0) difference -= period * (difference / period + 0.5).floor();
    out.narrow(1, first, centres).copy_(at::exp((difference / spacing).square() * -0.5));
    return;
  }
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "smear", [&] {
    const kernels::SmearArgs<scalar_t> args{
        x.const_data_ptr<scalar_t>(),   out.data_ptr<scalar_t>() + first, out.size(1), centres,
        static_cast<scalar_t>(spacing), static_cast<scalar_t>(period)};
    for_blocks(row_blocks(x.size(0)), 4 * x.size(0) * centres, [&](int64_t block) {
      kernel_table<scalar_t>().smear(args, block * kBlockRows,
                                     std::min(x.size(0), (block + 1) * kBlockRows));
    });
  });
}

}  // namespace

PathFeatures path_features(const at::Tensor& pos_N3, const graph::PathChunk& chunk) {
  if (!pos_N3.is_cpu()) return plain::path_features(pos_N3, chunk);
  const at::Tensor arcs = at::empty({chunk.arcs}, pos_N3.options());
  const at::Tensor triplets = at::empty({3, chunk.triplets}, pos_N3.options());
  const at::Tensor paths = at::empty({5, chunk.paths}, pos_N3.options());
  AT_DISPATCH_FLOATING_TYPES(pos_N3.scalar_type(), "path_features",
                             [&] { geometry<scalar_t>(pos_N3, chunk, arcs, triplets, paths); });
  return {arcs,
          triplets.select(0, 0),
          at::atan2(triplets.select(0, 1), triplets.select(0, 2)),
          paths.select(0, 0),
          at::atan2(paths.select(0, 1), paths.select(0, 2)),
          at::atan2(paths.select(0, 3), paths.select(0, 4))};
}

PathBasis path_basis(const PathFeatures& features, double cutoff) {
  using std::numbers::pi;
  const double distance = cutoff / (kDistances - 1), theta = pi / (kThetas - 1);
  const auto basis = [&](const at::Tensor& d, int64_t columns) {
    at::Tensor out = at::empty({d.size(0), columns}, d.options());
    smear_into(d, kDistances, distance, 0, out, 0);
    return out;
  };
  PathBasis out;
  out.edge = basis(features.d_ij, kDistances);
  out.triplet = basis(features.d_jk, kDistances + kThetas);
  smear_into(features.theta_ijk, kThetas, theta, 0, out.triplet, kDistances);
  out.torsion = basis(features.d_jp, kDistances + kThetas + kPhis);
  smear_into(features.theta_ijp, kThetas, theta, 0, out.torsion, kDistances);
  smear_into(features.phi, kPhis, 2 * pi / kPhis, 2 * pi, out.torsion, kDistances + kThetas);
  return out;
}

}  // namespace kdgat::model
