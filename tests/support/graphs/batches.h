// Batches of random graphs and golden values, for tests of models and objectives. Needs torch
// first.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/file/safetensors.h"
#include "engine/graph/pack.h"
#include "engine/kernels/batch_tensors.h"
#include "engine/kernels/cpu/isa/level.h"
#include "support/catch_torch.h"

namespace kdgat::test {

/// One graph: `x` row-major, edges as (source, target).
struct SmallGraph {
  int64_t nodes = 0;
  std::vector<float> x;
  std::set<std::pair<int32_t, int32_t>> edges;
  int64_t y = 0;
  int64_t id = 0;
};

inline graph::GraphBatch make_batch(const std::vector<SmallGraph>& graphs, int64_t features = 11) {
  graph::GraphBatch out;
  out.graphs = static_cast<int64_t>(graphs.size());
  out.node_features = features;
  for (const SmallGraph& g : graphs) {
    out.nodes += g.nodes;
    out.edges += static_cast<int64_t>(g.edges.size());
  }
  out.x.resize(out.nodes * features);
  out.node_ptr.resize(out.graphs + 1);
  out.in_ptr.resize(out.nodes + 1);
  out.in_source.resize(out.edges);
  out.y.resize(out.graphs);
  out.graph_id.resize(out.graphs);
  int64_t node = 0, edge = 0;
  for (int64_t g = 0; g < out.graphs; ++g) {
    const SmallGraph& graph = graphs[static_cast<std::size_t>(g)];
    out.node_ptr[g] = static_cast<int32_t>(node);
    out.y[g] = graph.y;
    out.graph_id[g] = graph.id;
    std::copy(graph.x.begin(), graph.x.end(), out.x.data() + node * features);
    std::vector<std::pair<int32_t, int32_t>> by_target;
    for (const auto& [source, target] : graph.edges) by_target.emplace_back(target, source);
    std::sort(by_target.begin(), by_target.end());
    auto at = by_target.begin();
    for (int32_t n = 0; n < graph.nodes; ++n) {
      out.in_ptr[node + n] = static_cast<int32_t>(edge);
      for (; at != by_target.end() && at->first == n; ++at) {
        out.in_source[edge++] = static_cast<int32_t>(node) + at->second;
      }
    }
    node += graph.nodes;
  }
  out.node_ptr[out.graphs] = static_cast<int32_t>(node);
  out.in_ptr[out.nodes] = static_cast<int32_t>(edge);
  return out;
}

/// Random graphs; among them one of a single node, one without edges, one with many self-loops.
inline std::vector<SmallGraph> random_small_graphs(int64_t count, uint64_t seed,
                                                   int64_t num_ids = 20) {
  arrays::Random random(seed);
  std::vector<SmallGraph> out;
  for (int64_t g = 0; g < count; ++g) {
    SmallGraph graph;
    graph.nodes = g == 0 ? 1 : 2 + static_cast<int64_t>(random.below(30));
    graph.y = static_cast<int64_t>(random.below(2));
    graph.id = 1000 + 7 * g;
    for (int64_t n = 0; n < graph.nodes; ++n) {
      graph.x.push_back(static_cast<float>(random.below(static_cast<uint64_t>(num_ids))));
      for (int f = 1; f < 11; ++f) graph.x.push_back(static_cast<float>(random.uniform()));
    }
    const auto nodes = static_cast<uint64_t>(graph.nodes);
    for (uint64_t e = g == 1 ? 0 : random.below(3 * nodes); e > 0; --e) {
      const auto source = static_cast<int32_t>(random.below(nodes));
      const bool loop = g == 2 && e % 2 == 0;
      graph.edges.emplace(source, loop ? source : static_cast<int32_t>(random.below(nodes)));
    }
    out.push_back(std::move(graph));
  }
  return out;
}

/// Graphs of at most `most` nodes, for finite differences; one is a node alone, the last has an
/// edge to itself.
inline graph::GraphBatch few_nodes(int64_t count, int64_t most) {
  std::vector<SmallGraph> graphs = random_small_graphs(count, 21);
  for (SmallGraph& graph : graphs) {
    graph.nodes = std::min(graph.nodes, most);
    graph.x.resize(static_cast<std::size_t>(graph.nodes * 11));
    std::erase_if(graph.edges,
                  [&](const auto& e) { return e.first >= graph.nodes || e.second >= graph.nodes; });
  }
  graphs.back().edges.insert({{0, 1}, {1, 0}, {1, 1}});
  return make_batch(graphs);
}

/// A file of golden values, or nothing, said aloud, where they are not at hand.
inline std::optional<file::SafetensorsFile> fixture(const std::string& name) {
  const char* shared = std::getenv("KDGAT_SHARED");
  const std::filesystem::path path =
      std::filesystem::path(shared != nullptr ? shared : "../shared") / "fixtures" /
      (name + ".safetensors");
  if (!std::filesystem::exists(path)) {
    std::cout << "skipped: no golden values " << path.string() << "\n";
    return std::nullopt;
  }
  return file::SafetensorsFile::open(path);
}

inline torch::Tensor tensor_of(const file::SafetensorsFile& file, const std::string& name) {
  const file::TensorView& view = file.tensor(name);
  const auto type = view.dtype == file::DType::kI64 ? torch::kLong : torch::kFloat;
  return torch::from_blob(const_cast<std::byte*>(view.data), view.shape, type).clone();
}

/// The graphs of a golden file: x, edge_index, y, node_ptr, edge_ptr.
inline std::vector<SmallGraph> graphs_of(const file::SafetensorsFile& file) {
  const torch::Tensor x = tensor_of(file, "x"), edges = tensor_of(file, "edge_index");
  const torch::Tensor y = tensor_of(file, "y"), node_ptr = tensor_of(file, "node_ptr"),
                      edge_ptr = tensor_of(file, "edge_ptr");
  std::vector<SmallGraph> out;
  for (int64_t g = 0; g < y.size(0); ++g) {
    SmallGraph graph;
    const auto first = node_ptr[g].item<int64_t>(), last = node_ptr[g + 1].item<int64_t>();
    graph.nodes = last - first;
    const float* row = x.const_data_ptr<float>() + first * x.size(1);
    graph.x.assign(row, row + graph.nodes * x.size(1));
    for (auto e = edge_ptr[g].item<int64_t>(); e < edge_ptr[g + 1].item<int64_t>(); ++e) {
      graph.edges.emplace(edges[0][e].item<int32_t>(), edges[1][e].item<int32_t>());
    }
    graph.y = y[g].item<int64_t>();
    graph.id = g;
    out.push_back(std::move(graph));
  }
  return out;
}

/// |a - b| <= absolute + relative |b|, everywhere.
inline void check_close(const torch::Tensor& a, const torch::Tensor& b, const std::string& what,
                        double absolute = 1e-5, double relative = 1e-4) {
  INFO(what);
  REQUIRE(a.defined());
  REQUIRE(a.sizes() == b.sizes());
  const torch::Tensor gap = (a.to(torch::kDouble) - b.to(torch::kDouble)).abs() - absolute -
                            relative * b.to(torch::kDouble).abs();
  if (gap.numel() > 0) CHECK(gap.max().item<double>() <= 0);
}

/// Runs body(level) at every instruction set of the machine.
template <class Body>
void at_every_isa(const Body& body) {
  const std::string before(kernels::isa_level());
  for (const std::string& level : kernels::isa_levels_available()) {
    kernels::set_isa_level(level);
    INFO("instruction set " << level);
    body();
  }
  kernels::set_isa_level(before);
}

}  // namespace kdgat::test
