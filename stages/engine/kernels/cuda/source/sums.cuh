// Sums over neighbours: a thread for each number.
#pragma once

#include "engine/kernels/cuda/source/sums_args.h"

namespace kdgat::kernels::cuda {

template <class T>
CARD void sum_of_sources(const SumArgs<T>& a) {
  for_cells(a.edges.nodes, a.columns, [&](Int at, Int node, Int column) {
    T sum = 0;
    for (Int e = a.edges.in_ptr[node]; e < a.edges.in_ptr[node + 1]; ++e) {
      const Int source = a.edges.in_source[e];
      if (source != node) sum += a.x[source * a.columns + column];
    }
    a.out[at] = sum;
  });
}
KERNEL(sum_of_sources, SumArgs)

template <class T>
CARD void sum_of_targets(const SumArgs<T>& a) {
  for_cells(a.edges.nodes, a.columns, [&](Int at, Int node, Int column) {
    T sum = 0;
    for (Int o = a.edges.out_ptr[node]; o < a.edges.out_ptr[node + 1]; ++o) {
      const Int target = a.edges.target[a.edges.out_edge[o]];
      if (target != node) sum += a.x[target * a.columns + column];
    }
    a.out[at] = sum;
  });
}
KERNEL(sum_of_targets, SumArgs)

}  // namespace kdgat::kernels::cuda
