// Which kernels make a sum over neighbours.
#pragma once

#include "engine/kernels/cuda/launch/launcher.h"
#include "engine/kernels/cuda/source/sums_args.h"

namespace kdgat::kernels::cuda {

/// Over the sources of each node's incoming edges or, `back`, over the targets of its outgoing
/// ones.
template <class T>
void neighbour_sum(Launcher& on, const SumArgs<T>& args, bool back) {
  launch(on, back ? "sum_of_targets" : "sum_of_sources",
         a_thread_each(args.edges.nodes * args.columns), args);
}

}  // namespace kdgat::kernels::cuda
