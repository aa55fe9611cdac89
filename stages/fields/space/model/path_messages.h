// The sum of a block's messages over third-order paths, with its gradient, chunk by chunk: nothing
// of a path outlives its chunk, and backward enumerates and computes the paths again.
//
// The first layer of the perceptron over [h_i, h_j, h_k, h_p, g1, g2, g3] is linear in the
// concatenation, so it is taken apart: the parts of h once a node, of g1 once an arc, of g2 once a
// triplet, and only g3 once a path, with the last layer of each g folded into it. The last layer
// commutes with the sum and is left to the caller. This is exact but for rounding.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/arrays/paths.h"
#include "fields/space/model/spatial_count.h"

namespace kdgat::space {

/// One of the three perceptrons of the geometry: relu(basis weight^T + bias) folded^T.
struct PathTerm {
  at::Tensor weight;  ///< [H, basis]
  at::Tensor bias;    ///< [H]
  at::Tensor folded;  ///< [4H, H] the second layer, times its columns of the first combination
};

struct PathMessages {
  at::Tensor h_NH;
  at::Tensor of_nodes;  ///< [16H, H] columns of the combination for h_i, h_j, h_k, h_p
  at::Tensor bias;      ///< [4H] of the first combination, folded biases included
  PathTerm edge, triplet, torsion;
  at::Tensor second, second_bias;  ///< [2H, 4H], [2H]
};

/// [N,2H]: for each node the sum over the paths that start there of
/// relu(second relu(...) + second_bias). Differentiable in everything but the positions. Matrix
/// products round to 16 bits under autocast, all else stays in full precision.
at::Tensor path_messages(const PathMessages& m, const at::Tensor& pos_N3, arrays::OutEdges edges,
                         double cutoff, int64_t path_budget);

/// What it and the folding of its weights hold, for states `in` and positions `pos`; `direct` and
/// `folded` are elements of the parameters that are read as they are, and that are folded.
Value count_path_messages(SpatialCount& step, const Value& in, const Held& pos,
                          const std::vector<double>& direct, const std::vector<double>& folded);

}  // namespace kdgat::space
