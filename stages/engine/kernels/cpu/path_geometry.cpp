#include "engine/kernels/cpu/path_geometry.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <cmath>

#include "engine/kernels/cpu/parallel.h"

namespace kdgat::kernels::cpu {

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
void geometry(const at::Tensor& pos_N3, const arrays::PathChunk& chunk, const at::Tensor& arcs_A,
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

PathFeatures path_features(const at::Tensor& pos_N3, const arrays::PathChunk& chunk) {
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

}  // namespace kdgat::kernels::cpu
