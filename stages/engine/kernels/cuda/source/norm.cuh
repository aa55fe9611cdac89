// Norms, ReLU and dropout, noise, and means over graphs.
#pragma once

#include "engine/kernels/cuda/source/norm_args.h"

namespace kdgat::kernels::cuda {

/// splitmix64's finaliser, as in noise_keys.cpp.
CARD unsigned long mixed(unsigned long z) {
  z += 0x9E3779B97F4A7C15UL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBUL;
  return z ^ (z >> 31);
}

/// The key of a graph's noise.
struct Key {
  unsigned low, high;
};
CARD Key key_of(const Noise& noise, Int graph) {
  const auto id = static_cast<unsigned long>(noise.graph_id[graph]);
  const unsigned long key = mixed(noise.base ^ mixed(id));
  return {static_cast<unsigned>(key), static_cast<unsigned>(key >> 32)};
}

/// The hash of cpu/isa/dropout_hash.h: 31 bits.
CARD int hash_of(unsigned element, Key key) {
  unsigned x = element * 0x9E3779B9u + key.low;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= key.high;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  x ^= x >> 16;
  return static_cast<int>(x >> 1);
}

template <class T>
CARD T relu_drop(T value, T scale, unsigned element, Key key, int threshold) {
  const T positive = value > 0 ? value * scale : T(0);
  return hash_of(element, key) >= threshold ? positive : T(0);
}

/// Rows of a graph: from `first`, `count` of them.
struct RowRange {
  Int first, count;
};
CARD RowRange rows_of(const GraphRows& rows, Int graph) {
  if (rows.node_ptr == nullptr) return {graph, 1};
  return {rows.node_ptr[graph], rows.node_ptr[graph + 1] - rows.node_ptr[graph]};
}

/// The elements of thread t among those of the block's graph: from here, by steps of step_of().
CARD Int first_of(int t) { return block_y() * kThreads + t; }
CARD Int step_of(const GraphRows& rows) { return rows.parts * kThreads; }

template <class T>
CARD void norm_drop(const DropArgs<T>& a) {
  const RowRange range = rows_of(a.rows, block_x());
  const Key key = key_of(a.noise, block_x());
  const Int begin = range.first * a.rows.columns, count = range.count * a.rows.columns;
  THREADS(t) {
    for (Int i = first_of(t); i < count; i += step_of(a.rows)) {
      T value = a.x[begin + i];
      if (a.gain != nullptr) {
        const Int column = i % a.rows.columns;
        value = value * a.gain[column] + a.shift[column];
      }
      a.out[begin + i] =
          relu_drop(value, a.scale, static_cast<unsigned>(i), key, a.noise.threshold);
    }
  }
}
KERNEL(norm_drop, DropArgs)

template <class T>
CARD void drop_grad(const DropGradArgs<T>& a) {
  THREADS(t) {
    const Int at = thread_of_all(t);
    if (at < a.count) a.grad_x[at] = a.out[at] > 0 ? a.grad[at] * a.scale : T(0);
  }
}
KERNEL(drop_grad, DropGradArgs)

template <class T>
CARD void uniform(const UniformArgs<T>& a) {
  const RowRange range = rows_of(a.rows, block_x());
  const Key key = key_of(a.noise, block_x());
  const Int begin = range.first * a.rows.columns, count = range.count * a.rows.columns;
  THREADS(t) {
    for (Int i = first_of(t); i < count; i += step_of(a.rows)) {
      const int top = hash_of(static_cast<unsigned>(i), key) >> 7;  // 24 bits: exact in float
      a.out[begin + i] = (static_cast<T>(top) + T(0.5)) * T(1.0 / 16777216);
    }
  }
}
KERNEL(uniform, UniformArgs)

/// The last row of a block of rows.
CARD Int end_of_rows(Int count) {
  const Int end = (block_x() + 1) * kRowsOfBlock;
  return end < count ? end : count;
}
CARD Int column_of(int t) { return block_y() * kTileColumns + t % kTileColumns; }
CARD Int row_of(int t) { return t / kTileColumns; }

/// Blocks x are of rows, y of columns.
template <class T>
CARD void column_sums(const ColumnArgs<T>& a) {
  SHARED(T, part, kThreads);
  const Int end = end_of_rows(a.count);
  THREADS(t) {
    const Int column = column_of(t);
    T sum = 0;
    if (column < a.columns) {
      const T mean = a.mean == nullptr ? T(0) : a.mean[column];
      for (Int row = block_x() * kRowsOfBlock + row_of(t); row < end; row += kTileRows) {
        const T value = a.x[row * a.columns + column] - mean;
        sum += a.mean == nullptr ? value : value * value;
      }
    }
    part[t] = sum;
  }
  THREADS(t) {
    if (t >= kTileColumns || column_of(t) >= a.columns) continue;
    a.partials[block_x() * a.columns + column_of(t)] = tile_sum(part, t);
  }
}
KERNEL(column_sums, ColumnArgs)

/// Share of thread t in the sum over blocks of partials [blocks, stride]: of the column at `from`.
template <class T>
CARD double share_of_blocks(const T* from, Int blocks, Int stride, int t) {
  double sum = 0;
  for (Int block = row_of(t); block < blocks; block += kTileRows) sum += from[block * stride];
  return sum;
}

/// Blocks x are of columns.
template <class T>
CARD void norm_moment(const MomentArgs<T>& a) {
  SHARED(double, part, kThreads);
  THREADS(t) {
    const Int column = block_x() * kTileColumns + t % kTileColumns;
    part[t] = 0;
    if (column >= a.columns || a.rows < 0 || a.sums != nullptr) continue;
    part[t] = share_of_blocks(a.partials + column, a.blocks, a.columns, t);
  }
  THREADS(t) {
    const Int column = block_x() * kTileColumns + t;
    if (t >= kTileColumns || column >= a.columns) continue;
    T value = a.rows < 0 ? a.value[column] : T(0);
    if (a.rows >= 0) {
      const double sum = a.sums != nullptr ? a.sums[column] : tile_sum(part, t);
      value = static_cast<T>(sum / a.rows);
      a.value[column] = value;
    }
    if (a.weight == nullptr) continue;
    const T gain = a.weight[column] / sqrt_of(value + static_cast<T>(a.eps));
    a.gain[column] = gain;
    a.shift[column] = a.bias[column] - a.mean[column] * gain;
  }
}
KERNEL(norm_moment, MomentArgs)

/// Blocks x are of columns.
template <class T>
CARD void norm_factors(const NormFactorArgs<T>& a) {
  SHARED(double, of_g, kThreads);
  SHARED(double, of_gx, kThreads);
  THREADS(t) {
    const Int column = block_x() * kTileColumns + t % kTileColumns;
    of_g[t] = 0;
    of_gx[t] = 0;
    if (column >= a.columns || a.own != nullptr) continue;
    of_g[t] = share_of_blocks(a.partials + column, a.blocks, 2 * a.columns, t);
    of_gx[t] = share_of_blocks(a.partials + a.columns + column, a.blocks, 2 * a.columns, t);
  }
  THREADS(t) {
    const Int column = block_x() * kTileColumns + t;
    if (t >= kTileColumns || column >= a.columns) continue;
    const double g = a.own != nullptr ? a.own[column] : tile_sum(of_g, t);
    const double gx = a.own != nullptr ? a.own[a.columns + column] : tile_sum(of_gx, t);
    const double all_g = a.all != nullptr ? a.all[column] : g;
    const double all_gx = a.all != nullptr ? a.all[a.columns + column] : gx;
    const double inverse = 1 / sqrt_of(static_cast<double>(a.variance[column]) + a.eps);
    const double gain = static_cast<double>(a.weight[column]) * inverse;
    a.a[column] = static_cast<T>(gain);
    a.b[column] = a.rows >= 0 ? static_cast<T>(gain * inverse * inverse * all_gx / a.rows) : T(0);
    a.c[column] = a.rows >= 0 ? static_cast<T>(gain * all_g / a.rows) : T(0);
    a.grad_weight[column] = static_cast<T>(gx * inverse);
    a.grad_bias[column] = static_cast<T>(g);
  }
}
KERNEL(norm_factors, NormFactorArgs)

/// partials: blocks x are of rows, y of columns.
template <class T>
CARD void norm_grad_sums(const NormGradArgs<T>& a) {
  SHARED(T, of_g, kThreads);
  SHARED(T, of_gx, kThreads);
  const Int end = end_of_rows(a.count);
  THREADS(t) {
    const Int column = column_of(t);
    T sum_g = 0, sum_gx = 0;
    if (column < a.columns) {
      const T mean = a.mean[column];
      for (Int row = block_x() * kRowsOfBlock + row_of(t); row < end; row += kTileRows) {
        const Int at = row * a.columns + column;
        const T g = a.out[at] > 0 ? a.grad[at] * a.scale : T(0);
        sum_g += g;
        sum_gx += g * (a.x[at] - mean);
      }
    }
    of_g[t] = sum_g;
    of_gx[t] = sum_gx;
  }
  THREADS(t) {
    if (t >= kTileColumns || column_of(t) >= a.columns) continue;
    T* to = a.partials + block_x() * 2 * a.columns + column_of(t);
    to[0] = tile_sum(of_g, t);
    to[a.columns] = tile_sum(of_gx, t);
  }
}
KERNEL(norm_grad_sums, NormGradArgs)

/// grad_x.
template <class T>
CARD void norm_grad(const NormGradArgs<T>& a) {
  for_cells(a.count, a.columns, [&](Int at, Int, Int column) {
    const T g = a.out[at] > 0 ? a.grad[at] * a.scale : T(0);
    a.grad_x[at] = g * a.a[column] - (a.x[at] - a.mean[column]) * a.b[column] - a.c[column];
  });
}
KERNEL(norm_grad, NormGradArgs)

/// Blocks x are graphs, y columns.
template <class T>
CARD void graph_means(const MeanArgs<T>& a) {
  SHARED(T, part, kThreads);
  const RowRange range = rows_of(a.rows, block_x());
  const Int columns = a.rows.columns;
  THREADS(t) {
    T sum = 0;
    for (Int row = row_of(t); column_of(t) < columns && row < range.count; row += kTileRows) {
      sum += a.from[(range.first + row) * columns + column_of(t)];
    }
    part[t] = sum;
  }
  THREADS(t) {
    if (t >= kTileColumns || column_of(t) >= columns) continue;
    a.to[block_x() * columns + column_of(t)] =
        range.count > 0 ? tile_sum(part, t) / static_cast<T>(range.count) : T(0);
  }
}
KERNEL(graph_means, MeanArgs)

/// The gradient of graph_means().
template <class T>
CARD void graph_spread(const MeanArgs<T>& a) {
  const RowRange range = rows_of(a.rows, block_x());
  const Int columns = a.rows.columns, count = range.count * columns;
  THREADS(t) {
    for (Int i = first_of(t); i < count; i += step_of(a.rows)) {
      a.to[range.first * columns + i] =
          a.from[block_x() * columns + i % columns] / static_cast<T>(range.count);
    }
  }
}
KERNEL(graph_spread, MeanArgs)

/// Blocks x are graphs, y columns.
template <class T>
CARD void graph_norm(const GraphNormArgs<T>& a) {
  SHARED(T, part, kThreads);
  SHARED(T, middle, kTileColumns);
  SHARED(T, spread, kTileColumns);
  const RowRange range = rows_of(a.rows, block_x());
  const Key key = key_of(a.noise, block_x());
  const Int columns = a.rows.columns;
  const T rows = static_cast<T>(range.count > 0 ? range.count : 1);
  const T* x = a.x + range.first * columns;
  THREADS(t) {
    T sum = 0;
    for (Int row = row_of(t); column_of(t) < columns && row < range.count; row += kTileRows) {
      sum += x[row * columns + column_of(t)];
    }
    part[t] = sum;
  }
  THREADS(t) {
    if (t >= kTileColumns || column_of(t) >= columns) continue;
    const T mid = tile_sum(part, t) / rows * a.mean_scale[column_of(t)];
    middle[t] = mid;
    a.centre[block_x() * columns + column_of(t)] = mid;
  }
  THREADS(t) {
    T sum = 0;
    for (Int row = row_of(t); column_of(t) < columns && row < range.count; row += kTileRows) {
      const T o = x[row * columns + column_of(t)] - middle[t % kTileColumns];
      sum += o * o;
    }
    part[t] = sum;
  }
  THREADS(t) {
    if (t >= kTileColumns || column_of(t) >= columns) continue;
    const T inverse = 1 / sqrt_of(tile_sum(part, t) / rows + a.eps);
    spread[t] = inverse;
    a.inverse[block_x() * columns + column_of(t)] = inverse;
  }
  THREADS(t) {
    const Int column = column_of(t);
    if (column >= columns) continue;
    const T gain = a.weight[column] * spread[t % kTileColumns];
    const T shift = a.bias[column] - middle[t % kTileColumns] * gain;
    for (Int row = row_of(t); row < range.count; row += kTileRows) {
      const Int i = row * columns + column;
      a.out[range.first * columns + i] =
          relu_drop(x[i] * gain + shift, a.scale, static_cast<unsigned>(i), key, a.noise.threshold);
    }
  }
}
KERNEL(graph_norm, GraphNormArgs)

/// grad_x and partials. Blocks x are graphs, y columns.
template <class T>
CARD void graph_norm_grad(const GraphNormGradArgs<T>& g) {
  SHARED(T, of_x, kThreads);
  SHARED(T, of_g, kThreads);
  SHARED(T, of_go, kThreads);
  SHARED(T, square, kTileColumns);
  SHARED(T, shift, kTileColumns);
  const GraphNormArgs<T>& a = g.forward;
  const RowRange range = rows_of(a.rows, block_x());
  const Int columns = a.rows.columns, first = range.first * columns, at = block_x() * columns;
  const T rows = static_cast<T>(range.count > 0 ? range.count : 1);
  THREADS(t) {
    const Int column = column_of(t);
    T sum_x = 0, sum_g = 0, sum_go = 0;
    if (column < columns) {
      const T mid = a.centre[at + column];
      for (Int row = row_of(t); row < range.count; row += kTileRows) {
        const Int i = first + row * columns + column;
        const T before = a.out[i] > 0 ? g.grad[i] * a.scale : T(0);
        sum_x += a.x[i];
        sum_g += before;
        sum_go += before * (a.x[i] - mid);
      }
    }
    of_x[t] = sum_x;
    of_g[t] = sum_g;
    of_go[t] = sum_go;
  }
  THREADS(t) {
    const Int column = column_of(t);
    if (t >= kTileColumns || column >= columns) continue;
    const T mean = tile_sum(of_x, t) / rows, sum_g = tile_sum(of_g, t);
    const T sum_go = tile_sum(of_go, t), inverse = a.inverse[at + column];
    const T gain = a.weight[column] * inverse;
    const T factor = gain * inverse * inverse * sum_go / rows;
    // The sum of the gradients of o over the graph's nodes.
    const T total = gain * sum_g - factor * rows * (mean - a.centre[at + column]);
    square[t] = factor;
    shift[t] = a.mean_scale[column] * total / rows;
    T* to = g.partials + block_x() * 3 * columns + column;
    to[0] = sum_go * inverse;
    to[columns] = sum_g;
    to[2 * columns] = -mean * total;
  }
  THREADS(t) {
    const Int column = column_of(t);
    if (column >= columns) continue;
    const T gain = a.weight[column] * a.inverse[at + column], mid = a.centre[at + column];
    const T of_o = square[t % kTileColumns], all = shift[t % kTileColumns];
    for (Int row = row_of(t); row < range.count; row += kTileRows) {
      const Int i = first + row * columns + column;
      const T before = a.out[i] > 0 ? g.grad[i] * a.scale : T(0);
      g.grad_x[i] = before * gain - (a.x[i] - mid) * of_o - all;
    }
  }
}
KERNEL(graph_norm_grad, GraphNormGradArgs)

}  // namespace kdgat::kernels::cuda
