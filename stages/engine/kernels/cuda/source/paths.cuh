// Geometry of third-order paths, and sums along runs of rows: a thread for each path, or for each
// run or node and column.
#pragma once

#include "engine/kernels/cuda/source/path_args.h"

namespace kdgat::kernels::cuda {

/// The run that `row` is in: the last that begins at or before it.
CARD Int run_of(const int* ptr, Int runs, Int row) {
  Int low = 0, high = runs;  // it is in [low, high)
  while (high - low > 1) {
    const Int middle = (low + high) / 2;
    (ptr[middle] <= row ? low : high) = middle;
  }
  return low;
}

template <class T>
struct Point {
  T x, y, z;
};
template <class T>
CARD Point<T> between(const T* pos, Int from, Int to) {
  return {pos[3 * to] - pos[3 * from], pos[3 * to + 1] - pos[3 * from + 1],
          pos[3 * to + 2] - pos[3 * from + 2]};
}
template <class T>
CARD T inner(Point<T> a, Point<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
/// Exactly 0 of parallel lines, as on the CPU: each product is rounded before the difference, where
/// a multiply-add would leave what rounding took of one of them, and an angle of noise.
template <class T>
CARD Point<T> cross(Point<T> a, Point<T> b) {
  return {times(a.y, b.z) - times(a.z, b.y), times(a.z, b.x) - times(a.x, b.z),
          times(a.x, b.y) - times(a.y, b.x)};
}
template <class T>
CARD T length(Point<T> a) {
  return sqrt_of(inner(a, a));
}

template <class T>
CARD void path_arcs(const GeometryArgs<T>& g) {
  THREADS(t) {
    const Int arc = thread_of_all(t);
    if (arc < g.arcs) g.d_ij[arc] = length(between(g.pos, g.i[arc], g.j[arc]));
  }
}
KERNEL(path_arcs, GeometryArgs)

template <class T>
CARD void path_triplets(const GeometryArgs<T>& g) {
  THREADS(t) {
    const Int triplet = thread_of_all(t);
    if (triplet >= g.triplets) continue;
    const Int arc = run_of(g.triplet_ptr, g.arcs, triplet);
    const Point<T> a = between(g.pos, g.i[arc], g.j[arc]);
    const Point<T> b = between(g.pos, g.j[arc], g.k[triplet]);
    g.d_jk[triplet] = length(b);
    g.theta_ijk[triplet] = atan2_of(length(cross(a, b)), inner(a, b));
  }
}
KERNEL(path_triplets, GeometryArgs)

/// phi: sin = |a| a.(b x c) and cos = (a x b).(a x c), as (a x b) x (a x c) = a (a.(b x c)).
template <class T>
CARD void path_ends(const GeometryArgs<T>& g) {
  THREADS(t) {
    const Int path = thread_of_all(t);
    if (path >= g.paths) continue;
    const Int triplet = run_of(g.path_ptr, g.triplets, path);
    const Int arc = run_of(g.triplet_ptr, g.arcs, triplet);
    const Point<T> a = between(g.pos, g.i[arc], g.j[arc]);
    const Point<T> normal = cross(a, between(g.pos, g.j[arc], g.k[triplet]));
    const Point<T> c = between(g.pos, g.j[arc], g.p[path]), other = cross(a, c);
    g.d_jp[path] = length(c);
    g.theta_ijp[path] = atan2_of(length(other), inner(a, c));
    const T sine = length(a) * inner(normal, c) + T(0);  // -0 would turn pi into -pi
    g.phi[path] = atan2_of(sine, inner(normal, other));
  }
}
KERNEL(path_ends, GeometryArgs)

template <class T>
CARD void smear(const SmearArgs<T>& a) {
  for_cells(a.count, a.centres, [&](Int, Int row, Int centre) {
    T difference = a.x[row] - static_cast<T>(centre) * a.spacing;
    if (a.period > 0) difference -= a.period * floor_of(difference / a.period + T(0.5));
    const T scaled = difference / a.spacing;
    a.out[row * a.stride + centre] = exp_of(scaled * scaled * T(-0.5));
  });
}
KERNEL(smear, SmearArgs)

/// x grows by that of its run and that of its node.
template <class T>
CARD void run_adds(const RunArgs<T>& a) {
  for_cells(a.runs, a.columns, [&](Int at, Int run, Int column) {
    for (Int row = a.ptr[run]; row < a.ptr[run + 1]; ++row) {
      T& x = a.x[row * a.columns + column];
      const T value = x + a.of_run[at] + a.table[a.node[row] * a.stride + column];
      x = a.relu && !(value > 0) ? T(0) : value;
    }
  });
}
KERNEL(run_adds, RunArgs)

/// x is masked and summed over each run.
template <class T>
CARD void run_sums(const RunArgs<T>& a) {
  for_cells(a.runs, a.columns, [&](Int at, Int run, Int column) {
    T sum = 0;
    for (Int row = a.ptr[run]; row < a.ptr[run + 1]; ++row) {
      const Int cell = row * a.columns + column;
      if (a.relu && !(a.out[cell] > 0)) a.x[cell] = 0;
      sum += a.x[cell];
    }
    a.sums[at] = sum;
  });
}
KERNEL(run_sums, RunArgs)

/// The table grows by the rows that read of it.
template <class T>
CARD void run_node_sums(const RunArgs<T>& a) {
  for_cells(a.nodes, a.columns, [&](Int, Int node, Int column) {
    T sum = 0;
    for (Int k = a.by_node_ptr[node]; k < a.by_node_ptr[node + 1]; ++k) {
      sum += a.x[a.by_node[k] * a.columns + column];
    }
    a.table[node * a.stride + column] += sum;
  });
}
KERNEL(run_node_sums, RunArgs)

template <class T>
CARD void start_sums(const StartArgs<T>& a) {
  for_cells(a.nodes, a.columns, [&](Int at, Int node, Int column) {
    T sum = 0;
    for (Int k = a.by_node_ptr[node]; k < a.by_node_ptr[node + 1]; ++k) {
      const Int run = a.by_node[k];
      for (Int row = a.ptr[run]; row < a.ptr[run + 1]; ++row) {
        const T value = a.x[row * a.columns + column] + a.bias[column];
        sum += value > 0 ? value : T(0);
      }
    }
    a.sums[at] += sum;
  });
}
KERNEL(start_sums, StartArgs)

template <class T>
CARD void start_grads(const StartArgs<T>& a) {
  for_cells(a.runs, a.columns, [&](Int, Int run, Int column) {
    const T grad = a.grad_sums[a.node[run] * a.columns + column];
    for (Int row = a.ptr[run]; row < a.ptr[run + 1]; ++row) {
      T& x = a.x[row * a.columns + column];
      x = x + a.bias[column] > 0 ? grad : T(0);
    }
  });
}
KERNEL(start_grads, StartArgs)

}  // namespace kdgat::kernels::cuda
