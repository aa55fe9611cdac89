// Which kernels make a path of the tensor product of molecules.
#pragma once

#include "engine/kernels/cuda/launch/launcher.h"
#include "engine/kernels/cuda/source/product_args.h"

namespace kdgat::kernels::cuda {

/// Sets z.
template <class T>
void product_states(Launcher& on, const ProductArgs<T>& p) {
  launch(on, "product_states", a_thread_each(p.edges * p.to * p.channels), p);
}
/// Sets mixed, of the block's nodes, from z.
template <class T>
void product_sums(Launcher& on, const ProductArgs<T>& p) {
  launch(on, "product_sums", a_thread_each((p.end - p.begin) * p.to * (p.width + 1) * p.channels),
         p);
}
/// From the gradient of mixed: sets grad_z of the edges into the block's nodes, adds to their
/// grad_hidden.
template <class T>
void product_block_gradients(Launcher& on, const ProductArgs<T>& p) {
  const int64_t edges = p.last_edge - p.first_edge;
  launch(on, "product_grad_states", a_thread_each(edges * p.to * p.channels), p);
  launch(on, "product_grad_hidden", lanes_each(edges * p.width), p);
}
/// Adds to grad_x, from grad_z of all edges.
template <class T>
void product_source_gradients(Launcher& on, const ProductArgs<T>& p) {
  launch(on, "product_grad_sources", a_thread_each(p.nodes * p.channels * p.from), p);
}

}  // namespace kdgat::kernels::cuda
