// BatchTensors: a packed batch of graphs as tensors. Owns only tensor handles; on the CPU they look
// straight into the GraphBatch. Knows neither stores nor models.
//
// G graphs, N nodes, E edges, F node and D edge features.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/graph/noise_key.h"
#include "engine/graph/pack.h"

namespace kdgat::kernels {

/// The edges of a batch by source: those that leave node j are out_edge_E[out_ptr_N1[j] ..
/// out_ptr_N1[j+1]), as numbers of edges, ascending. int32.
struct EdgesBySource {
  at::Tensor out_ptr_N1, out_edge_E, target_E;  ///< target_E of each edge, in the batch's order
  at::Tensor of;                                ///< the batch's in_source_E
};

/// Edges stand by target. Graph convolutions add one self-loop to every node themselves and skip
/// edges whose source is their target.
struct BatchTensors {
  at::Tensor x_NF;          ///< float; column 0 holds the vocabulary index
  at::Tensor id_N;          ///< int32 vocabulary index
  at::Tensor node_ptr_G1;   ///< int32 first node of each graph
  at::Tensor in_ptr_N1;     ///< int32 first incoming edge of each node
  at::Tensor in_source_E;   ///< int32 source node of each edge
  at::Tensor edge_attr_ED;  ///< float; undefined unless the batch carries edge features
  at::Tensor y_G;           ///< int64 label, -1 = none
  at::Tensor graph_id_G;    ///< int64 index in the store
  int64_t graphs = 0, nodes = 0, edges = 0;
  graph::NoiseKey noise;                ///< used in training mode only
  graph::Exchange* exchange = nullptr;  ///< of the batch; used in training mode only

  /// Kept by edges_by_source() for this batch and its copies.
  std::shared_ptr<EdgesBySource> by_source = std::make_shared<EdgesBySource>();

  bool is_cpu() const { return x_NF.is_cpu(); }
};

/// On the CPU zero-copy (but for id_N): valid while `batch` is unchanged and alive. On another
/// device a copy, one transfer that nobody waits for; where gradients are made, with
/// edges_by_source().
BatchTensors to_tensors(const graph::GraphBatch& batch, at::Device device);

/// A copy of a tensor of the CPU. Nobody waits for another device.
at::Tensor copy_to(const at::Tensor& of_cpu, at::Device device);

/// Starts of runs of whole graphs of about `nodes` nodes each; the last entry is batch.graphs.
inline std::vector<int64_t> graph_blocks(const BatchTensors& batch, int64_t nodes) {
  const int32_t* node_ptr = batch.node_ptr_G1.const_data_ptr<int32_t>();
  std::vector<int64_t> out{0};
  for (int64_t g = 1; g <= batch.graphs; ++g) {
    if (g == batch.graphs || node_ptr[g] - node_ptr[out.back()] >= nodes) out.push_back(g);
  }
  return out;
}

/// Target node of each edge, [E] int64.
at::Tensor edge_targets(const BatchTensors& batch);
/// Made once for a batch, on its device; not from several threads at once.
const EdgesBySource& edges_by_source(const BatchTensors& batch);
/// Graph of each node, [N] int64.
at::Tensor node_graphs(const BatchTensors& batch);

}  // namespace kdgat::kernels
