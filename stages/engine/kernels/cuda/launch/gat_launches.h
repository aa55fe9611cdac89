// Which kernels make attention and its gradients, in which order.
#pragma once

#include "engine/kernels/cuda/launch/launcher.h"
#include "engine/kernels/cuda/source/gat_args.h"

namespace kdgat::kernels::cuda {

/// Sets alpha_src, alpha_dst, log_sum and out.
template <class T>
void gat_forward(Launcher& on, const GatArgs<T>& a) {
  const int64_t pairs = a.edges.nodes * a.heads;
  launch(on, "gat_scores", lanes_each(pairs), a);
  launch(on, "gat_softmax", a_thread_each(pairs), a);
  launch(on, "gat_gather", a_thread_each(pairs * a.channels), a);
}

/// Sets all that GatGradArgs has beside what is `const`.
template <class T>
void gat_backward(Launcher& on, const GatGradArgs<T>& g) {
  const GatArgs<T>& a = g.forward;
  const int64_t pairs = a.edges.nodes * a.heads, width = a.heads * a.channels;
  launch(on, "gat_means", lanes_each(pairs), g);
  launch(on, "gat_changes", lanes_each(pairs + a.edges.edges * a.heads), g);
  launch(on, "gat_node_sums", a_thread_each(pairs), g);
  launch(on, "gat_grad_h", a_thread_each(pairs * a.channels), g);
  launch(on, "gat_weights", {row_blocks(a.edges.nodes), column_tiles(width)}, g);
}

/// Sets loop_attr, alpha and out.
template <class T>
void gatv2_forward(Launcher& on, const Gatv2Args<T>& a) {
  const int64_t pairs = a.edges.nodes * a.heads;
  launch(on, "gatv2_loops", a_thread_each(a.edges.nodes * a.features), a);
  launch(on, "gatv2_scores", lanes_each(pairs + a.edges.edges * a.heads), a);
  launch(on, "gatv2_softmax", a_thread_each(pairs), a);
  launch(on, "gatv2_gather", a_thread_each(pairs * a.channels), a);
}

/// Sets all that Gatv2GradArgs has beside what is `const`.
template <class T>
void gatv2_backward(Launcher& on, const Gatv2GradArgs<T>& g) {
  const Gatv2Args<T>& a = g.forward;
  const int64_t pairs = a.edges.nodes * a.heads, width = a.heads * a.channels;
  launch(on, "gatv2_means", lanes_each(pairs), g);
  launch(on, "gatv2_changes", lanes_each(pairs + a.edges.edges * a.heads), g);
  launch(on, "gatv2_grad_nodes", a_thread_each(pairs * a.channels), g);
  launch(on, "gatv2_weights",
         {row_blocks(a.edges.edges + a.edges.nodes),
          column_tiles(width) * parts(1 + a.features, kGatv2Rows)},
         g);
}

}  // namespace kdgat::kernels::cuda
