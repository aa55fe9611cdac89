#include "model/kernels/batch_tensors.h"

#include <optional>

namespace kdgat::model {

namespace {

template <class T>
at::Tensor view(const graph::Buffer<T>& buffer, at::IntArrayRef shape, at::ScalarType type) {
  // from_blob wants a mutable pointer; nothing in the models writes to its inputs.
  return at::from_blob(const_cast<T*>(buffer.data()), shape, at::TensorOptions().dtype(type));
}

at::Tensor expand_ptr(const at::Tensor& ptr, int64_t total) {
  const at::Tensor index = at::arange(ptr.size(0) - 1, ptr.options().dtype(at::kLong));
  return at::repeat_interleave(index, at::diff(ptr).to(at::kLong), 0, total);
}

}  // namespace

BatchTensors to_tensors(const graph::GraphBatch& batch, at::Device device) {
  BatchTensors out;
  out.graphs = batch.graphs;
  out.nodes = batch.nodes;
  out.edges = batch.edges;
  out.exchange = batch.exchange;
  out.x_NF = view(batch.x, {batch.nodes, batch.node_features}, at::kFloat);
  out.node_ptr_G1 = view(batch.node_ptr, {batch.graphs + 1}, at::kInt);
  out.in_ptr_N1 = view(batch.in_ptr, {batch.nodes + 1}, at::kInt);
  out.in_source_E = view(batch.in_source, {batch.edges}, at::kInt);
  if (batch.edge_features > 0 && batch.edge_attr.size() == batch.edges * batch.edge_features) {
    out.edge_attr_ED = view(batch.edge_attr, {batch.edges, batch.edge_features}, at::kFloat);
  }
  out.y_G = view(batch.y, {batch.graphs}, at::kLong);
  out.graph_id_G = view(batch.graph_id, {batch.graphs}, at::kLong);
  if (!device.is_cpu()) {
    for (at::Tensor* t : {&out.x_NF, &out.node_ptr_G1, &out.in_ptr_N1, &out.in_source_E, &out.y_G,
                          &out.graph_id_G}) {
      *t = t->to(device);
    }
    if (out.edge_attr_ED.defined()) out.edge_attr_ED = out.edge_attr_ED.to(device);
  }
  out.id_N = out.x_NF.select(1, 0).to(at::kInt);
  return out;
}

at::Tensor edge_targets(const BatchTensors& batch) {
  return expand_ptr(batch.in_ptr_N1, batch.edges);
}

const EdgesBySource& edges_by_source(const BatchTensors& batch) {
  EdgesBySource& out = *batch.by_source;
  if (out.of.is_same(batch.in_source_E)) return out;
  const auto [source, order] = at::sort(batch.in_source_E, std::optional<bool>(true), 0, false);
  const at::Tensor nodes = at::arange(batch.in_ptr_N1.size(0), source.options());
  out.out_ptr_N1 = at::searchsorted(source, nodes, /*out_int32=*/true);
  out.out_edge_E = order.to(at::kInt);
  out.target_E = edge_targets(batch).to(at::kInt);
  out.of = batch.in_source_E;
  return out;
}

at::Tensor node_graphs(const BatchTensors& batch) {
  return expand_ptr(batch.node_ptr_G1, batch.nodes);
}

}  // namespace kdgat::model
