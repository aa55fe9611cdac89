// Which kernels make norms, dropout, noise and means, in which order.
#pragma once

#include "engine/kernels/cuda/launch/launcher.h"
#include "engine/kernels/cuda/source/norm_args.h"

namespace kdgat::kernels::cuda {

/// Blocks that share a graph of a batch with `rows` rows in all: a block takes some thousand
/// elements where graphs are of one size.
inline int64_t parts_of_graph(int64_t graphs, int64_t rows, int64_t columns) {
  constexpr int64_t kElements = int64_t{8} * kThreads, kMost = 1024;
  return std::clamp<int64_t>(parts(rows * columns, kElements * std::max<int64_t>(graphs, 1)), 1,
                             kMost);
}
inline Grid graph_parts(const GraphRows& rows) { return {rows.graphs, rows.parts}; }
inline Grid graph_tiles(const GraphRows& rows) { return {rows.graphs, column_tiles(rows.columns)}; }

template <class T>
void norm_drop(Launcher& on, const DropArgs<T>& a) {
  launch(on, "norm_drop", graph_parts(a.rows), a);
}
template <class T>
void drop_grad(Launcher& on, const DropGradArgs<T>& a) {
  launch(on, "drop_grad", a_thread_each(a.count), a);
}
template <class T>
void uniform(Launcher& on, const UniformArgs<T>& a) {
  launch(on, "uniform", graph_parts(a.rows), a);
}
template <class T>
void column_sums(Launcher& on, const ColumnArgs<T>& a) {
  launch(on, "column_sums", {row_blocks(a.count), column_tiles(a.columns)}, a);
}
template <class T>
void norm_moment(Launcher& on, const MomentArgs<T>& a) {
  launch(on, "norm_moment", {column_tiles(a.columns)}, a);
}
template <class T>
void norm_factors(Launcher& on, const NormFactorArgs<T>& a) {
  launch(on, "norm_factors", {column_tiles(a.columns)}, a);
}
/// Sets partials.
template <class T>
void norm_grad_sums(Launcher& on, const NormGradArgs<T>& a) {
  launch(on, "norm_grad_sums", {row_blocks(a.count), column_tiles(a.columns)}, a);
}
/// Sets grad_x; reads a, b, c.
template <class T>
void norm_grad(Launcher& on, const NormGradArgs<T>& a) {
  launch(on, "norm_grad", a_thread_each(a.count * a.columns), a);
}
template <class T>
void graph_means(Launcher& on, const MeanArgs<T>& a) {
  launch(on, "graph_means", graph_tiles(a.rows), a);
}
template <class T>
void graph_spread(Launcher& on, const MeanArgs<T>& a) {
  launch(on, "graph_spread", graph_parts(a.rows), a);
}
template <class T>
void graph_norm(Launcher& on, const GraphNormArgs<T>& a) {
  launch(on, "graph_norm", graph_tiles(a.rows), a);
}
template <class T>
void graph_norm_grad(Launcher& on, const GraphNormGradArgs<T>& a) {
  launch(on, "graph_norm_grad", graph_tiles(a.forward.rows), a);
}

}  // namespace kdgat::kernels::cuda
