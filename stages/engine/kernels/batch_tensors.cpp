#include "engine/kernels/batch_tensors.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kdgat::kernels {

namespace {

template <class T>
at::Tensor view(const arrays::Buffer<T>& buffer, at::IntArrayRef shape, at::ScalarType type) {
  // from_blob wants a mutable pointer; nothing in the models writes to its inputs.
  return at::from_blob(const_cast<T*>(buffer.data()), shape, at::TensorOptions().dtype(type));
}

at::Tensor expand_ptr(const at::Tensor& ptr, int64_t total) {
  const at::Tensor index = at::arange(ptr.size(0) - 1, ptr.options().dtype(at::kLong));
  return at::repeat_interleave(index, at::diff(ptr).to(at::kLong), 0, total);
}

/// On the CPU, by counting: of each graph by itself, as no edge leaves its graph.
EdgesBySource lists_of(const at::Tensor& node_ptr_G1, const at::Tensor& in_ptr_N1,
                       const at::Tensor& in_source_E) {
  constexpr int64_t kGraphsOfThread = 256;
  const int64_t graphs = node_ptr_G1.size(0) - 1;
  EdgesBySource out;
  out.out_ptr_N1 = at::zeros(in_ptr_N1.sizes(), at::kInt);
  out.out_edge_E = at::empty(in_source_E.sizes(), at::kInt);
  out.target_E = at::empty(in_source_E.sizes(), at::kInt);
  const int32_t* first_node = node_ptr_G1.const_data_ptr<int32_t>();
  const int32_t* in_ptr = in_ptr_N1.const_data_ptr<int32_t>();
  const int32_t* source = in_source_E.const_data_ptr<int32_t>();
  int32_t* next = out.out_ptr_N1.data_ptr<int32_t>();  // of a node its place, then its end
  int32_t* edge = out.out_edge_E.data_ptr<int32_t>();
  int32_t* target = out.target_E.data_ptr<int32_t>();
  const auto list = [&](int64_t g) {
    const int32_t begin = first_node[g], end = first_node[g + 1];
    for (int32_t e = in_ptr[begin]; e < in_ptr[end]; ++e) ++next[source[e]];
    int32_t place = in_ptr[begin];
    for (int32_t j = begin; j < end; ++j) place += std::exchange(next[j], place);
    for (int32_t i = begin; i < end; ++i) {
      for (int32_t e = in_ptr[i]; e < in_ptr[i + 1]; ++e) {
        target[e] = i;
        edge[next[source[e]]++] = e;
      }
    }
    // Each place has moved to the end of its node, which is the start of the next.
    if (begin == end) return;
    std::copy_backward(next + begin, next + end - 1, next + end);
    next[begin] = in_ptr[begin];
  };
  at::parallel_for(0, graphs, kGraphsOfThread, [&](int64_t from, int64_t to) {
    for (int64_t g = from; g < to; ++g) list(g);
  });
  next[in_ptr_N1.size(0) - 1] = static_cast<int32_t>(in_source_E.size(0));
  return out;
}

/// Copies tensors of the CPU to a device, all in one piece and without waiting for it: out of
/// page-locked memory, which LibTorch keeps until they are there.
void move_together(const std::vector<at::Tensor*>& parts, at::Device device) {
  constexpr int64_t kUnit = 512;
  int64_t bytes = 0;
  std::vector<int64_t> start;
  for (const at::Tensor* part : parts) {
    start.push_back(bytes);
    bytes += (static_cast<int64_t>(part->nbytes()) + kUnit - 1) / kUnit * kUnit;
  }
  const at::Tensor staged =
      at::empty({bytes}, at::TensorOptions().dtype(at::kByte).pinned_memory(device.is_cuda()));
  auto* to = staged.data_ptr<uint8_t>();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::memcpy(to + start[i], parts[i]->const_data_ptr(), parts[i]->nbytes());
  }
  const at::Tensor there = staged.to(device, /*non_blocking=*/true);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    at::Tensor& part = *parts[i];
    part = there.narrow(0, start[i], static_cast<int64_t>(part.nbytes()))
               .view(part.scalar_type())
               .view(part.sizes());
  }
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
  out.id_N = out.x_NF.select(1, 0).to(at::kInt);
  if (device.is_cpu()) return out;
  std::vector<at::Tensor*> parts = {&out.x_NF,        &out.id_N, &out.node_ptr_G1, &out.in_ptr_N1,
                                    &out.in_source_E, &out.y_G,  &out.graph_id_G};
  if (out.edge_attr_ED.defined()) parts.push_back(&out.edge_attr_ED);
  if (at::GradMode::is_enabled()) {  // gradients flow along edges by source
    EdgesBySource& lists = *out.by_source;
    lists = lists_of(out.node_ptr_G1, out.in_ptr_N1, out.in_source_E);
    parts.insert(parts.end(), {&lists.out_ptr_N1, &lists.out_edge_E, &lists.target_E});
  }
  move_together(parts, device);
  out.by_source->of = at::GradMode::is_enabled() ? out.in_source_E : at::Tensor();
  return out;
}

at::Tensor copy_to(const at::Tensor& of_cpu, at::Device device) {
  at::Tensor out = of_cpu.contiguous();
  if (device.is_cpu()) return out.clone();
  move_together({&out}, device);
  return out;
}

at::Tensor edge_targets(const BatchTensors& batch) {
  return expand_ptr(batch.in_ptr_N1, batch.edges);
}

const EdgesBySource& edges_by_source(const BatchTensors& batch) {
  EdgesBySource& out = *batch.by_source;
  if (out.of.is_same(batch.in_source_E)) return out;
  out = lists_of(batch.node_ptr_G1.cpu(), batch.in_ptr_N1.cpu(), batch.in_source_E.cpu());
  for (at::Tensor* t : {&out.out_ptr_N1, &out.out_edge_E, &out.target_E}) {
    *t = t->to(batch.in_source_E.device());
  }
  out.of = batch.in_source_E;
  return out;
}

at::Tensor node_graphs(const BatchTensors& batch) {
  return expand_ptr(batch.node_ptr_G1, batch.nodes);
}

}  // namespace kdgat::kernels
