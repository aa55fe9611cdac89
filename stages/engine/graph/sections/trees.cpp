#include "engine/graph/sections/trees.h"

#include <algorithm>

#include "engine/arrays/index.h"
#include "engine/arrays/ranges.h"

namespace kdgat::graph {

namespace {

/// Numbers of one graph's nodes, see euler_tour().
struct Tour {
  explicit Tour(std::span<const int32_t> parent) : in(parent.size()), out(parent.size()) {
    arrays::euler_tour(parent, in, out);
  }
  std::vector<int32_t> in, out;
};

}  // namespace

std::string Trees::fault(const Data& data, const CommonArrays& graphs) {
  if (data.parent.size() != arrays::at(graphs.nodes())) return "parent does not match node_ptr";
  for (std::size_t g = 0; g < graphs.graphs(); ++g) {
    if (!arrays::faulty_nodes(graphs.of_nodes(std::span(data.parent), g)).empty()) {
      return "the parents of graph " + std::to_string(g) + " do not form a forest";
    }
  }
  return "";
}

Trees::Derived Trees::derive(const Data& data, const CommonArrays& graphs) {
  const std::size_t nodes = data.parent.size();
  Derived out;
  out.tour.resize(2 * nodes);
  out.relations.reserve(3 * graphs.graphs());
  for (std::size_t g = 0; g < graphs.graphs(); ++g) {
    const std::span<const int32_t> parent = graphs.of_nodes(std::span(data.parent), g);
    const Tour tour(parent);
    const auto first = out.tour.begin() + static_cast<std::ptrdiff_t>(graphs.node_ptr[g]);
    std::copy(tour.in.begin(), tour.in.end(), first);
    std::copy(tour.out.begin(), tour.out.end(), first + static_cast<std::ptrdiff_t>(nodes));
    const arrays::Relations found = arrays::relations_of(parent, tour.in, tour.out);
    out.relations.insert(out.relations.end(), {found.edges, found.internal, found.unrelated});
  }
  return out;
}

std::optional<Trees> Trees::read(const file::SafetensorsFile& file, const CommonArrays& graphs) {
  if (!file.has("parent") && !file.has("tour") && !file.has("relations")) return std::nullopt;
  const auto count = static_cast<int64_t>(graphs.graphs());
  return Trees{file.require<int32_t>("parent", {graphs.nodes()}),
               file.require<int32_t>("tour", {2, graphs.nodes()}),
               file.require<int64_t>("relations", {count, 3})};
}

std::string Trees::fault(const CommonArrays& graphs, std::size_t g) const {
  const std::span<const int32_t> of_graph = graphs.of_nodes(parent, g);
  if (!arrays::faulty_nodes(of_graph).empty()) return "has parents that do not form a forest";
  const Tour wanted(of_graph);
  if (!std::ranges::equal(wanted.in, graphs.of_nodes(tour.first(parent.size()), g)) ||
      !std::ranges::equal(wanted.out, graphs.of_nodes(tour.last(parent.size()), g))) {
    return "has a tour that is not that of its parents";
  }
  return arrays::relations_of(of_graph, wanted.in, wanted.out) == relations_of(g)
             ? ""
             : "has relations that are not those of its parents";
}

bool Trees::is_within(const CommonArrays& graphs, std::size_t g) const {
  const int64_t nodes = graphs.node_ptr[g + 1] - graphs.node_ptr[g];
  return arrays::are_within(graphs.of_nodes(parent, g), -1, nodes) &&
         arrays::are_within(graphs.of_nodes(tour.first(parent.size()), g), 0, nodes) &&
         arrays::are_within(graphs.of_nodes(tour.last(parent.size()), g), 0, nodes + 1);
}

void Trees::write_graphs(file::SafetensorsWriter& writer) const {
  writer.add("relations", {static_cast<int64_t>(relations.size() / 3), 3}, relations);
}

void Trees::write_nodes(file::SafetensorsWriter& writer) const {
  const auto nodes = static_cast<int64_t>(parent.size());
  writer.add("parent", {nodes}, parent);
  writer.add("tour", {2, nodes}, tour);
}

void Trees::gather(const CommonArrays& graphs, std::span<const int64_t> ids,
                   std::span<const int32_t> node_ptr, Batch& out) const {
  for (arrays::Buffer<int32_t>* buffer : {&out.parent, &out.tour_in, &out.tour_out}) {
    buffer->resize(node_ptr.back());
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t g = arrays::at(ids[i]);
    const int32_t first = node_ptr[i];
    std::ranges::transform(graphs.of_nodes(parent, g), out.parent.data() + first,
                           [first](int32_t p) { return p < 0 ? -1 : p + first; });
    std::ranges::copy(graphs.of_nodes(tour.first(parent.size()), g), out.tour_in.data() + first);
    std::ranges::copy(graphs.of_nodes(tour.last(parent.size()), g), out.tour_out.data() + first);
  }
}

void Trees::add_facts(const CommonArrays& graphs, nlohmann::json& facts) const {
  bool are_trees = true;
  for (std::size_t g = 0; g < graphs.graphs(); ++g) {
    const int64_t edges = relations_of(g).edges;
    are_trees = are_trees && 2 * edges == graphs.edge_ptr[g + 1] - graphs.edge_ptr[g] &&
                edges + 1 == graphs.node_ptr[g + 1] - graphs.node_ptr[g];
  }
  facts["are_trees"] = are_trees;
}

}  // namespace kdgat::graph
