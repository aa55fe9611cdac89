#include "engine/graph/sections/path_counts.h"

#include <algorithm>
#include <numeric>

#include "engine/arrays/index.h"
#include "engine/arrays/paths.h"
#include "engine/arrays/spatial.h"

namespace kdgat::graph {

namespace {

/// Outgoing edges of graph `g`.
struct OwnedOutEdges {
  OwnedOutEdges(const CommonArrays& graphs, std::size_t g)
      : ptr(arrays::out_pointers(graphs.of_edges(graphs.edge_source, g),
                                 graphs.node_ptr[g + 1] - graphs.node_ptr[g])),
        target(graphs.of_edges(graphs.edge_target, g)) {}
  arrays::OutEdges view() const { return {ptr, target}; }

  std::vector<int32_t> ptr;
  std::span<const int32_t> target;
};

}  // namespace

int64_t PathCounts::of_graph(std::span<const int64_t> node_ptr, std::size_t g) const {
  return std::accumulate(count.begin() + node_ptr[g], count.begin() + node_ptr[g + 1], int64_t{0});
}

PathCounts::Derived PathCounts::derive(const CommonArrays& graphs) {
  Derived out;
  out.count.reserve(arrays::at(graphs.nodes()));
  for (std::size_t g = 0; g < graphs.graphs(); ++g) {
    const arrays::PathTotals totals = arrays::count_all_paths(OwnedOutEdges(graphs, g).view());
    out.count.insert(out.count.end(), totals.of_node.begin(), totals.of_node.end());
    out.triplets += totals.triplets;
    out.arcs += totals.arcs;
  }
  return out;
}

std::optional<PathCounts> PathCounts::read(const file::SafetensorsFile& file,
                                           const CommonArrays& graphs) {
  if (!file.has("paths")) return std::nullopt;
  return PathCounts{file.require<int64_t>("paths", {graphs.nodes()})};
}

std::string PathCounts::fault(const CommonArrays& graphs, std::size_t g) const {
  return std::ranges::equal(arrays::count_paths(OwnedOutEdges(graphs, g).view()),
                            graphs.of_nodes(count, g))
             ? ""
             : "has numbers of paths that are not those of its edges";
}

void PathCounts::write(file::SafetensorsWriter& writer) const {
  writer.add("paths", {static_cast<int64_t>(count.size())}, count);
}

void PathCounts::gather(const CommonArrays& graphs, std::span<const int64_t> ids,
                        std::span<const int32_t> node_ptr, Batch& out) const {
  int64_t edges = 0;
  for (const int64_t id : ids)
    edges += graphs.edge_ptr[arrays::at(id) + 1] - graphs.edge_ptr[arrays::at(id)];
  out.out_target.resize(edges);
  out.out_ptr.resize(int64_t{node_ptr.back()} + 1);
  int32_t* const ptr = out.out_ptr.data();
  std::fill(ptr, ptr + node_ptr.back() + 1, 0);
  int32_t* target = out.out_target.data();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const int32_t first = node_ptr[i];
    for (const int32_t v : graphs.of_edges(graphs.edge_source, arrays::at(ids[i])))
      ++ptr[first + v + 1];
    target = std::ranges::transform(graphs.of_edges(graphs.edge_target, arrays::at(ids[i])), target,
                                    [first](int32_t v) { return first + v; })
                 .out;
  }
  std::partial_sum(ptr, ptr + node_ptr.back() + 1, ptr);
}

void PathCounts::add_facts(const Derived& derived, const CommonArrays& graphs,
                           nlohmann::json& facts) {
  std::vector<int64_t> sizes;
  const PathCounts counts{derived.count};
  for (std::size_t g = 0; g < graphs.graphs(); ++g) {
    sizes.push_back(counts.of_graph(graphs.node_ptr, g));
  }
  facts["paths"] = size_facts(std::move(sizes));
  facts["triplets"] = {{"sum", derived.triplets}};
  facts["arcs"] = {{"sum", derived.arcs}};
}

}  // namespace kdgat::graph
