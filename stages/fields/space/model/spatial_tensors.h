// SpatialTensors: a packed batch of graphs in space as an encoder takes it, in its type and on its
// device. Knows no stores.
//
// G graphs, N nodes, F node features.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/graph/pack.h"
#include "fields/space/model/sgmp.h"

namespace kdgat::space {

struct SpatialTensors {
  at::Tensor x_NF;
  at::Tensor pos_N3;   ///< as in the store: the encoder scales them itself
  at::Tensor graph_N;  ///< int64 graph of each node
  int64_t graphs = 0;
};

/// On the CPU x may look straight into `batch`: valid while that is unchanged and alive. Throws
/// Error(kData) if the graphs are not in space.
SpatialTensors to_spatial_tensors(const graph::GraphBatch& batch, const SgmpEncoder& encoder);

/// Outgoing edges of a batch; valid as long as that is.
arrays::OutEdges out_edges(const graph::GraphBatch& batch);

}  // namespace kdgat::space
