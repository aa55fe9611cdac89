// The tensor product of molecules, but for products of matrices: a thread for each number.
#pragma once

#include "engine/kernels/cuda/source/product_args.h"

namespace kdgat::kernels::cuda {

/// body(cell, edge or node, c, u) for `count` rows of C x u numbers.
template <class T, class Body>
CARD void for_components(const ProductArgs<T>& p, Int count, const Body& body) {
  for_cells(count, p.to * p.channels,
            [&](Int cell, Int row, Int at) { body(cell, row, at / p.channels, at % p.channels); });
}

template <class T>
CARD T hidden_at(const ProductArgs<T>& p, Int edge, Int h) {
  return h < p.width ? p.hidden[edge * p.width + h] : T(1);
}

/// z.
template <class T>
CARD void product_states(const ProductArgs<T>& p) {
  for_components(p, p.edges, [&](Int cell, Int edge, Int c, Int u) {
    const T* x = p.x + p.lists.source[edge] * p.dim + p.offset + u * p.from;
    T sum = 0;
    for (int k = 0; k < p.terms.count; ++k) {
      if (p.terms.c[k] == c)
        sum += p.terms.value[k] * p.y[edge * 9 + p.terms.b[k]] * x[p.terms.a[k]];
    }
    p.z[cell] = sum;
  });
}
KERNEL(product_states, ProductArgs)

/// mixed, of nodes [begin, end).
template <class T>
CARD void product_sums(const ProductArgs<T>& p) {
  const Int columns = p.to * (p.width + 1) * p.channels;
  for_cells(p.end - p.begin, columns, [&](Int cell, Int row, Int at) {
    const Int u = at % p.channels, h = at / p.channels % (p.width + 1);
    const Int c = at / p.channels / (p.width + 1), node = p.begin + row;
    T sum = 0;
    for (Int edge = p.lists.target_ptr[node]; edge < p.lists.target_ptr[node + 1]; ++edge) {
      sum += hidden_at(p, edge, h) * p.z[(edge * p.to + c) * p.channels + u];
    }
    p.mixed[cell] = sum;
  });
}
KERNEL(product_sums, ProductArgs)

/// grad_z of the edges into the block's nodes, from the gradient of mixed.
template <class T>
CARD void product_grad_states(const ProductArgs<T>& p) {
  for_components(p, p.last_edge - p.first_edge, [&](Int, Int row, Int c, Int u) {
    const Int edge = p.first_edge + row, node = p.lists.target[edge] - p.begin;
    const T* mixed = p.mixed + (node * p.to + c) * (p.width + 1) * p.channels + u;
    T sum = 0;
    for (Int h = 0; h <= p.width; ++h) sum += hidden_at(p, edge, h) * mixed[h * p.channels];
    p.grad_z[(edge * p.to + c) * p.channels + u] = sum;
  });
}
KERNEL(product_grad_states, ProductArgs)

/// grad_hidden of the same edges.
template <class T>
CARD void product_grad_hidden(const ProductArgs<T>& p) {
  lane_sums<T>((p.last_edge - p.first_edge) * p.width,
               [&](Int pair, Int lane) {
                 const Int edge = p.first_edge + pair / p.width, h = pair % p.width;
                 const Int node = p.lists.target[edge] - p.begin;
                 T sum = 0;
                 for (Int at = lane; at < p.to * p.channels; at += kLanes) {
                   const Int c = at / p.channels, u = at % p.channels;
                   sum += p.z[edge * p.to * p.channels + at] *
                          p.mixed[((node * p.to + c) * (p.width + 1) + h) * p.channels + u];
                 }
                 return sum;
               },
               [&](Int pair, T sum) { p.grad_hidden[p.first_edge * p.width + pair] += sum; });
}
KERNEL(product_grad_hidden, ProductArgs)

/// grad_x, from grad_z of all edges.
template <class T>
CARD void product_grad_sources(const ProductArgs<T>& p) {
  for_cells(p.nodes, p.channels * p.from, [&](Int, Int node, Int at) {
    const Int u = at / p.from, a = at % p.from;
    T sum = 0;
    for (Int k = p.lists.source_ptr[node]; k < p.lists.source_ptr[node + 1]; ++k) {
      const Int edge = p.lists.by_source[k];
      for (int term = 0; term < p.terms.count; ++term) {
        if (p.terms.a[term] != a) continue;
        sum += p.terms.value[term] * p.y[edge * 9 + p.terms.b[term]] *
               p.grad_z[(edge * p.to + p.terms.c[term]) * p.channels + u];
      }
    }
    p.grad_x[node * p.dim + p.offset + at] += sum;
  });
}
KERNEL(product_grad_sources, ProductArgs)

}  // namespace kdgat::kernels::cuda
