// What the kernels of heads.cuh read and write; pointers are to memory of the card.
#pragma once

#include "engine/kernels/cuda/source/sums_args.h"

namespace kdgat::kernels::cuda {

/// Some rows of a head, [rows, outputs] from row `first` on. Wanted of row i is id[i] or, with
/// `of_neighbours`, id of the targets of node i's outgoing edges, each once.
template <class T>
struct HeadArgs {
  Int first, rows, outputs;
  bool softmax, of_neighbours, with_grad;
  const int* id;  ///< [N], in [0, outputs)
  Edges edges;    ///< read with of_neighbours
  T* logits;      ///< become their gradient, with_grad
  T* loss;        ///< [rows]
};

}  // namespace kdgat::kernels::cuda
