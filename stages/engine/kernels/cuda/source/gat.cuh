// Attention over incoming edges. What is of a node or an edge and a head has kLanes threads, what
// is of a node and a column one. No E x C numbers are ever held.
#pragma once

#include "engine/kernels/cuda/source/gat_args.h"

namespace kdgat::kernels::cuda {

/// alpha_src, alpha_dst.
template <class T>
CARD void gat_scores(const GatArgs<T>& a) {
  const auto of = [&](const T* att) {
    return [&a, att](Int pair, Int lane) {
      const T* row = a.h + pair * a.channels;
      const T* weight = att + pair % a.heads * a.channels;
      T sum = 0;
      for (Int c = lane; c < a.channels; c += kLanes) sum += row[c] * weight[c];
      return sum;
    };
  };
  const Int count = a.edges.nodes * a.heads;
  lane_sums<T>(count, of(a.att_src), [&](Int pair, T sum) { a.alpha_src[pair] = sum; });
  lane_sums<T>(count, of(a.att_dst), [&](Int pair, T sum) { a.alpha_dst[pair] = sum; });
}
KERNEL(gat_scores, GatArgs)

/// log_sum. A weight is exp(score - log_sum): beside exp(score - top) / sum, which would need one
/// number more of each node and head, it is off by the rounding of log_sum, relatively |log_sum|
/// units of the last place. The scores are rounded as much, so no digit of a weight is lost that
/// was there.
template <class T>
CARD void gat_softmax(const GatArgs<T>& a) {
  for_cells(a.edges.nodes, a.heads, [&](Int pair, Int node, Int head) {
    const T dst = a.alpha_dst[pair];
    const Int first = a.edges.in_ptr[node], last = a.edges.in_ptr[node + 1];
    T top = leaky(a.alpha_src[pair] + dst, a.slope);
    const T own = top;
    for (Int e = first; e < last; ++e) {  // an edge from the node itself changes no maximum
      const T score = leaky(a.alpha_src[a.edges.in_source[e] * a.heads + head] + dst, a.slope);
      top = score > top ? score : top;
    }
    T sum = exp_of(own - top);
    for (Int e = first; e < last; ++e) {
      const Int source = a.edges.in_source[e];
      if (source == node) continue;
      sum += exp_of(leaky(a.alpha_src[source * a.heads + head] + dst, a.slope) - top);
    }
    a.log_sum[pair] = top + log_of(sum);
  });
}
KERNEL(gat_softmax, GatArgs)

/// out = bias + the sum of weight(row of arrays of edges, source, node, head) * rows of sources.
template <class T, class Weight>
CARD void gather_rows(const Edges& edges, Int heads, Int channels, const T* rows, const T* bias,
                      T* out, const Weight& weight) {
  const Int width = heads * channels;
  for_cells(edges.nodes, width, [&](Int at, Int node, Int column) {
    const Int head = column / channels;
    T sum = weight(edges.edges + node, node, node, head) * rows[at];
    for (Int e = edges.in_ptr[node]; e < edges.in_ptr[node + 1]; ++e) {
      const Int source = edges.in_source[e];
      if (source != node) sum += weight(e, source, node, head) * rows[source * width + column];
    }
    out[at] = sum + bias[column];
  });
}

/// out.
template <class T>
CARD void gat_gather(const GatArgs<T>& a) {
  gather_rows(a.edges, a.heads, a.channels, a.h, a.bias, a.out,
              [&](Int, Int source, Int node, Int head) {
                const Int at = node * a.heads + head;
                const T raw = a.alpha_src[source * a.heads + head] + a.alpha_dst[at];
                return exp_of(leaky(raw, a.slope) - a.log_sum[at]);
              });
}
KERNEL(gat_gather, GatArgs)

/// <grad, out - bias> of a node and a head: what all its edges share of the softmax's gradient.
template <class T>
CARD void gat_mean_of(Int nodes, Int heads, Int channels, const T* grad, const T* out,
                      const T* bias, T* mean) {
  lane_sums<T>(
      nodes * heads,
      [&](Int pair, Int lane) {
        const Int first = pair * channels;
        T sum = 0;
        for (Int c = lane; c < channels; c += kLanes) {
          sum += grad[first + c] * (out[first + c] - bias[pair % heads * channels + c]);
        }
        return sum;
      },
      [&](Int pair, T sum) { mean[pair] = sum; });
}

/// mean.
template <class T>
CARD void gat_means(const GatGradArgs<T>& g) {
  const GatArgs<T>& a = g.forward;
  gat_mean_of(a.edges.nodes, a.heads, a.channels, g.grad_out, a.out, a.bias, g.mean);
}
KERNEL(gat_means, GatGradArgs)

/// An edge or a node's own loop, of a row of arrays of edges.
struct EdgeRow {
  Int source, target;
  bool counts;  ///< not from a node to itself
};
CARD EdgeRow edge_row(const Edges& edges, Int row) {
  if (row >= edges.edges) return {row - edges.edges, row - edges.edges, true};
  const Int source = edges.in_source[row], target = edges.target[row];
  return {source, target, source != target};
}

/// done(pair, edge, head, sum) for each edge and head, with <grad of the target, row of the
/// source>.
template <class T, class Done>
CARD void edge_cosines(const Edges& edges, Int heads, Int channels, const T* rows, const T* grads,
                       const Done& done) {
  lane_sums<T>(
      (edges.edges + edges.nodes) * heads,
      [&](Int pair, Int lane) {
        const EdgeRow edge = edge_row(edges, pair / heads);
        const T* row = rows + (edge.source * heads + pair % heads) * channels;
        const T* grad = grads + (edge.target * heads + pair % heads) * channels;
        T cosine = 0;
        for (Int c = lane; c < channels; c += kLanes) cosine += grad[c] * row[c];
        return cosine;
      },
      [&](Int pair, T sum) { done(pair, edge_row(edges, pair / heads), pair % heads, sum); });
}

/// weight and change.
template <class T>
CARD void gat_changes(const GatGradArgs<T>& g) {
  const GatArgs<T>& a = g.forward;
  edge_cosines(a.edges, a.heads, a.channels, a.h, g.grad_out,
               [&](Int pair, const EdgeRow& edge, Int head, T cosine) {
                 const Int at = edge.target * a.heads + head;
                 const T raw = a.alpha_src[edge.source * a.heads + head] + a.alpha_dst[at];
                 const T weight = exp_of(leaky(raw, a.slope) - a.log_sum[at]);
                 const T change = weight * (cosine - g.mean[at]) * (raw > 0 ? T(1) : a.slope);
                 g.weight[pair] = edge.counts ? weight : T(0);
                 g.change[pair] = edge.counts ? change : T(0);  // also where a cosine is infinite
               });
}
KERNEL(gat_changes, GatGradArgs)

/// grad_alpha_src, grad_alpha_dst.
template <class T>
CARD void gat_node_sums(const GatGradArgs<T>& g) {
  const GatArgs<T>& a = g.forward;
  for_cells(a.edges.nodes, a.heads, [&](Int pair, Int node, Int head) {
    const T own = g.change[(a.edges.edges + node) * a.heads + head];
    T from = own, to = own;
    for (Int o = a.edges.out_ptr[node]; o < a.edges.out_ptr[node + 1]; ++o) {
      from += g.change[a.edges.out_edge[o] * a.heads + head];
    }
    for (Int e = a.edges.in_ptr[node]; e < a.edges.in_ptr[node + 1]; ++e) {
      to += g.change[e * a.heads + head];
    }
    g.grad_alpha_src[pair] = from;
    g.grad_alpha_dst[pair] = to;
  });
}
KERNEL(gat_node_sums, GatGradArgs)

/// grad_h.
template <class T>
CARD void gat_grad_h(const GatGradArgs<T>& g) {
  const GatArgs<T>& a = g.forward;
  const Int width = a.heads * a.channels;
  for_cells(a.edges.nodes, width, [&](Int at, Int node, Int column) {
    const Int head = column / a.channels;
    T sum = g.weight[(a.edges.edges + node) * a.heads + head] * g.grad_out[at];
    for (Int o = a.edges.out_ptr[node]; o < a.edges.out_ptr[node + 1]; ++o) {
      const Int edge = a.edges.out_edge[o];
      sum += g.weight[edge * a.heads + head] * g.grad_out[a.edges.target[edge] * width + column];
    }
    const Int pair = node * a.heads + head;
    g.grad_h[at] = sum + g.grad_alpha_src[pair] * a.att_src[column] +
                   g.grad_alpha_dst[pair] * a.att_dst[column];
  });
}
KERNEL(gat_grad_h, GatGradArgs)

/// partials: blocks x are of rows, y of columns.
template <class T>
CARD void gat_weights(const GatGradArgs<T>& g) {
  SHARED(T, src, kThreads);
  SHARED(T, dst, kThreads);
  const GatArgs<T>& a = g.forward;
  const Int width = a.heads * a.channels, begin = block_x() * kRowsOfBlock;
  const Int end = begin + kRowsOfBlock < a.edges.nodes ? begin + kRowsOfBlock : a.edges.nodes;
  THREADS(t) {
    const Int column = block_y() * kTileColumns + t % kTileColumns;
    T from = 0, to = 0;
    if (column < width) {
      const Int head = column / a.channels;
      for (Int row = begin + t / kTileColumns; row < end; row += kTileRows) {
        const T value = a.h[row * width + column];
        from += g.grad_alpha_src[row * a.heads + head] * value;
        to += g.grad_alpha_dst[row * a.heads + head] * value;
      }
    }
    src[t] = from;
    dst[t] = to;
  }
  THREADS(t) {
    const Int column = block_y() * kTileColumns + t;
    if (t >= kTileColumns || column >= width) continue;
    T* to = g.partials + block_x() * 2 * width + column;
    to[0] = tile_sum(src, t);
    to[width] = tile_sum(dst, t);
  }
}
KERNEL(gat_weights, GatGradArgs)

}  // namespace kdgat::kernels::cuda
