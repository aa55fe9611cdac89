// Attention of the second kind over incoming edges with features. The sums of source, target and
// edge are made again where they are needed, never stored by edge.
#pragma once

#include "engine/kernels/cuda/source/gat_args.h"

namespace kdgat::kernels::cuda {

/// loop_attr.
template <class T>
CARD void gatv2_loops(const Gatv2Args<T>& a) {
  for_cells(a.edges.nodes, a.features, [&](Int at, Int node, Int feature) {
    T sum = 0, count = 0;
    for (Int e = a.edges.in_ptr[node]; e < a.edges.in_ptr[node + 1]; ++e) {
      if (a.edges.in_source[e] == node) continue;
      sum += a.edge_attr[e * a.features + feature];
      count += 1;
    }
    a.loop_attr[at] = count > 0 ? sum / count : T(0);
  });
}
KERNEL(gatv2_loops, Gatv2Args)

template <class T>
CARD const T* gatv2_attr(const Gatv2Args<T>& a, Int row) {
  return row < a.edges.edges ? a.edge_attr + row * a.features
                             : a.loop_attr + (row - a.edges.edges) * a.features;
}

/// l + r + lin_edge a of a row of arrays of edges, in one column.
template <class T>
CARD T gatv2_sum(const Gatv2Args<T>& a, Int source, Int target, const T* attr, Int column) {
  const Int width = a.heads * a.channels;
  T sum = a.l[source * width + column] + a.r[target * width + column];
  for (Int d = 0; d < a.features; ++d) sum += attr[d] * a.lin_edge[d * width + column];
  return sum;
}

/// alpha becomes the scores.
template <class T>
CARD void gatv2_scores(const Gatv2Args<T>& a) {
  lane_sums<T>((a.edges.edges + a.edges.nodes) * a.heads,
               [&](Int pair, Int lane) {
                 const Int row = pair / a.heads, first = pair % a.heads * a.channels;
                 const EdgeRow edge = edge_row(a.edges, row);
                 const T* attr = gatv2_attr(a, row);
                 T score = 0;
                 for (Int c = first + lane; c < first + a.channels; c += kLanes) {
                   score +=
                       a.att[c] * leaky(gatv2_sum(a, edge.source, edge.target, attr, c), a.slope);
                 }
                 return score;
               },
               [&](Int pair, T score) { a.alpha[pair] = score; });
}
KERNEL(gatv2_scores, Gatv2Args)

/// alpha becomes the weights.
template <class T>
CARD void gatv2_softmax(const Gatv2Args<T>& a) {
  for_cells(a.edges.nodes, a.heads, [&](Int, Int node, Int head) {
    T& own = a.alpha[(a.edges.edges + node) * a.heads + head];
    const Int first = a.edges.in_ptr[node], last = a.edges.in_ptr[node + 1];
    T top = own;
    for (Int e = first; e < last; ++e) {
      const T score = a.alpha[e * a.heads + head];
      if (a.edges.in_source[e] != node && score > top) top = score;
    }
    own = exp_of(own - top);
    T sum = own;
    for (Int e = first; e < last; ++e) {
      T& weight = a.alpha[e * a.heads + head];
      weight = a.edges.in_source[e] == node ? T(0) : exp_of(weight - top);
      sum += weight;
    }
    const T inverse = 1 / sum;
    own *= inverse;
    for (Int e = first; e < last; ++e) a.alpha[e * a.heads + head] *= inverse;
  });
}
KERNEL(gatv2_softmax, Gatv2Args)

/// out.
template <class T>
CARD void gatv2_gather(const Gatv2Args<T>& a) {
  gather_rows(a.edges, a.heads, a.channels, a.l, a.bias, a.out,
              [&](Int row, Int, Int, Int head) { return a.alpha[row * a.heads + head]; });
}
KERNEL(gatv2_gather, Gatv2Args)

/// mean.
template <class T>
CARD void gatv2_means(const Gatv2GradArgs<T>& g) {
  const Gatv2Args<T>& a = g.forward;
  gat_mean_of(a.edges.nodes, a.heads, a.channels, g.grad_out, a.out, a.bias, g.mean);
}
KERNEL(gatv2_means, Gatv2GradArgs)

/// change.
template <class T>
CARD void gatv2_changes(const Gatv2GradArgs<T>& g) {
  const Gatv2Args<T>& a = g.forward;
  edge_cosines(a.edges, a.heads, a.channels, a.l, g.grad_out,
               [&](Int pair, const EdgeRow& edge, Int head, T cosine) {
                 const T mean = g.mean[edge.target * a.heads + head];
                 const T change = a.alpha[pair] * (cosine - mean);
                 g.change[pair] = edge.counts ? change : T(0);  // also where a cosine is infinite
               });
}
KERNEL(gatv2_changes, Gatv2GradArgs)

/// Gradient of the sum of a row of arrays of edges, in one column.
template <class T>
CARD T gatv2_grad_sum(const Gatv2GradArgs<T>& g, Int row, Int source, Int target, Int column) {
  const Gatv2Args<T>& a = g.forward;
  const T sum = gatv2_sum(a, source, target, gatv2_attr(a, row), column);
  return g.change[row * a.heads + column / a.channels] * a.att[column] * (sum > 0 ? T(1) : a.slope);
}

/// grad_l and grad_r.
template <class T>
CARD void gatv2_grad_nodes(const Gatv2GradArgs<T>& g) {
  const Gatv2Args<T>& a = g.forward;
  const Int width = a.heads * a.channels;
  for_cells(a.edges.nodes, width, [&](Int at, Int node, Int column) {
    const Int head = column / a.channels, loop = a.edges.edges + node;
    const T own = gatv2_grad_sum(g, loop, node, node, column);
    T grad_l = a.alpha[loop * a.heads + head] * g.grad_out[at] + own, grad_r = own;
    for (Int o = a.edges.out_ptr[node]; o < a.edges.out_ptr[node + 1]; ++o) {
      const Int edge = a.edges.out_edge[o], target = a.edges.target[edge];
      if (target == node) continue;
      grad_l += a.alpha[edge * a.heads + head] * g.grad_out[target * width + column] +
                gatv2_grad_sum(g, edge, node, target, column);
    }
    for (Int e = a.edges.in_ptr[node]; e < a.edges.in_ptr[node + 1]; ++e) {
      const Int source = a.edges.in_source[e];
      if (source != node) grad_r += gatv2_grad_sum(g, e, source, node, column);
    }
    g.grad_l[at] = grad_l;
    g.grad_r[at] = grad_r;
  });
}
KERNEL(gatv2_grad_nodes, Gatv2GradArgs)

/// partials: blocks x are of edges, y of columns and, outside, of kGatv2Rows of their rows.
template <class T>
CARD void gatv2_weights(const Gatv2GradArgs<T>& g) {
  SHARED(T, part, kGatv2Rows * kThreads);
  const Gatv2Args<T>& a = g.forward;
  const Int width = a.heads * a.channels, tiles = (width + kTileColumns - 1) / kTileColumns;
  const Int first = block_y() / tiles * kGatv2Rows, all = a.edges.edges + a.edges.nodes;
  const Int begin = block_x() * kRowsOfBlock;
  const Int end = begin + kRowsOfBlock < all ? begin + kRowsOfBlock : all;
  THREADS(t) {
    const Int column = block_y() % tiles * kTileColumns + t % kTileColumns;
    T sums[kGatv2Rows] = {};
    for (Int row = begin + t / kTileColumns; column < width && row < end; row += kTileRows) {
      const EdgeRow edge = edge_row(a.edges, row);
      if (!edge.counts) continue;
      const T* attr = gatv2_attr(a, row);
      const T change = g.change[row * a.heads + column / a.channels];
      const T sum = gatv2_sum(a, edge.source, edge.target, attr, column);
      const T factor = change * (sum > 0 ? T(1) : a.slope);
      for (int i = 0; i < kGatv2Rows; ++i) {
        const Int of = first + i;  // row 0 is of att, row 1 + d of feature d
        if (of == 0) sums[i] += factor * sum;
        if (of > 0 && of <= a.features) sums[i] += factor * a.att[column] * attr[of - 1];
      }
    }
    for (int i = 0; i < kGatv2Rows; ++i) part[i * kThreads + t] = sums[i];
  }
  THREADS(t) {
    const Int column = block_y() % tiles * kTileColumns + t % kTileColumns;
    const int i = t / kTileColumns;
    if (i >= kGatv2Rows || column >= width || first + i > a.features) continue;
    T sum = 0;
    for (int row = 0; row < kTileRows; ++row) {
      sum += part[i * kThreads + row * kTileColumns + t % kTileColumns];
    }
    g.partials[(block_x() * (1 + a.features) + first + i) * width + column] = sum;
  }
}
KERNEL(gatv2_weights, Gatv2GradArgs)

}  // namespace kdgat::kernels::cuda
