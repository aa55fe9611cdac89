#include "fields/space/model/spatial_tensors.h"

#include <ATen/ATen.h>

namespace kdgat::space {

SpatialTensors to_spatial_tensors(const graph::GraphBatch& batch, const SgmpEncoder& encoder) {
  if (batch.nodes > 0 && batch.pos.size() == 0) throw graph::lacks<graph::Positions>("");
  // from_blob wants mutable pointers; nothing writes to them.
  const auto view = [](const auto& buffer, at::IntArrayRef shape, at::ScalarType type) {
    return at::from_blob(const_cast<void*>(static_cast<const void*>(buffer.data())), shape, type);
  };
  const at::TensorOptions options = encoder->embedding->first->weight.options();
  SpatialTensors out;
  out.graphs = batch.graphs;
  out.x_NF = view(batch.x, {batch.nodes, batch.node_features}, at::kFloat).to(options);
  out.pos_N3 = view(batch.pos, {batch.nodes, 3}, at::kFloat).to(options);
  out.graph_N =
      at::repeat_interleave(view(batch.node_ptr, {batch.graphs + 1}, at::kInt).diff().to(at::kLong))
          .to(options.device());
  return out;
}

arrays::OutEdges out_edges(const graph::GraphBatch& batch) {
  return {{batch.out_ptr.data(), static_cast<std::size_t>(batch.nodes) + 1},
          {batch.out_target.data(), static_cast<std::size_t>(batch.edges)}};
}

}  // namespace kdgat::space
