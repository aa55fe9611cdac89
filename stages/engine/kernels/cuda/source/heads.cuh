// Losses of wide heads and their gradients: a block for each row. What is a product of matrices is
// LibTorch's.
#pragma once

#include "engine/kernels/cuda/source/head_args.h"

namespace kdgat::kernels::cuda {

/// part[0] becomes the sum of all, or the largest.
template <bool kSum, class Shared>
CARD void reduce_block(Shared& part) {
  for (int half = kThreads / 2; half > 0; half /= 2) {
    THREADS(t) {
      if (t >= half) continue;
      const decltype(part[0] + part[0]) a = part[t], b = part[t + half];
      if (kSum) {
        part[t] = a + b;
      } else if (b > a) {
        part[t] = b;
      }
    }
  }
}

/// log(1 + exp(x)).
template <class T>
CARD T softplus(T x) {
  return (x > 0 ? x : T(0)) + log1p_of(exp_of(x > 0 ? -x : x));
}

/// Calls visit(id) for thread t's share of what row i wants, each id once. With neighbours these
/// are the ids that leave t over kThreads: every thread reads all edges of the row and remembers
/// which of its ids it has seen, a bit for each, so work grows with the degree, and with the
/// outputs beyond 8,192.
template <class T, class Visit>
CARD void for_wanted(const HeadArgs<T>& a, Int row, int t, const Visit& visit) {
  if (!a.of_neighbours) {
    if (t == 0) visit(Int{a.id[row]});
    return;
  }
  constexpr unsigned kIds = 32U * kThreads;
  const int begin = a.edges.out_ptr[row], end = a.edges.out_ptr[row + 1];
  for (unsigned first = 0; first < a.outputs; first += kIds) {
    unsigned seen = 0;
    for (int o = begin; o < end; ++o) {
      const int id = a.id[a.edges.target[a.edges.out_edge[o]]];
      const unsigned at = static_cast<unsigned>(id) - first;
      if (at >= kIds || at % kThreads != static_cast<unsigned>(t)) continue;
      const unsigned bit = 1U << (at / kThreads);
      if ((seen & bit) == 0) visit(Int{id});
      seen |= bit;
    }
  }
}

template <class T>
CARD void head_rows(const HeadArgs<T>& a) {
  SHARED(T, part, kThreads);
  SHARED(T, total, 2);  // the largest logit, and the sum over the row
  T* cells = a.logits + block_x() * a.outputs;
  const Int row = a.first + block_x();
  if (a.softmax) {
    THREADS(t) {
      T top = cells[t < a.outputs ? t : 0];
      for (Int v = t; v < a.outputs; v += kThreads) top = cells[v] > top ? cells[v] : top;
      part[t] = top;
    }
    reduce_block<false>(part);
    THREADS(t) {
      if (t == 0) total[0] = part[0];
    }
  }
  THREADS(t) {
    T sum = 0;
    for (Int v = t; v < a.outputs; v += kThreads) {
      sum += a.softmax ? exp_of(cells[v] - total[0]) : softplus(cells[v]);
    }
    part[t] = sum;
  }
  reduce_block<true>(part);
  THREADS(t) {
    if (t == 0) total[1] = part[0];
  }
  THREADS(t) {
    T wanted = 0;
    for_wanted(a, row, t, [&](Int id) { wanted += cells[id]; });
    part[t] = wanted;
  }
  reduce_block<true>(part);
  THREADS(t) {
    if (t == 0) {
      const T sum = total[1];
      a.loss[block_x()] = (a.softmax ? total[0] + log_of(sum) : sum) - part[0];
    }
    if (!a.with_grad) continue;
    const T inverse = a.softmax ? 1 / total[1] : T(0);
    for (Int v = t; v < a.outputs; v += kThreads) {
      cells[v] = a.softmax ? exp_of(cells[v] - total[0]) * inverse : 1 / (1 + exp_of(-cells[v]));
    }
  }
  if (!a.with_grad) return;
  THREADS(t) for_wanted(a, row, t, [&](Int id) { cells[id] -= 1; });
}
KERNEL(head_rows, HeadArgs)

}  // namespace kdgat::kernels::cuda
