#include "graph/spatial_store.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/index.h"
#include "graph/spatial.h"

namespace kdgat::graph {

using nlohmann::json;

namespace {

/// Where the nodes and edges of one graph stand.
struct Range {
  std::size_t node, nodes, edge, edges;
};

Range range_of(std::span<const int64_t> node_ptr, std::span<const int64_t> edge_ptr,
               std::size_t g) {
  return {at(node_ptr[g]), at(node_ptr[g + 1] - node_ptr[g]), at(edge_ptr[g]),
          at(edge_ptr[g + 1] - edge_ptr[g])};
}

bool are_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

/// What follows from one graph; arrays of its nodes.
struct GraphDerived {
  std::vector<int32_t> in, out;
  std::vector<int64_t> paths;
  Relations relations;
  int64_t triplets = 0, arcs = 0;
};

GraphDerived derive(std::span<const int32_t> parent, std::span<const int32_t> source,
                    std::span<const int32_t> target) {
  GraphDerived one;
  one.in.resize(parent.size());
  one.out.resize(parent.size());
  euler_tour(parent, one.in, one.out);
  one.relations = relations_of(parent, one.in, one.out);
  const std::vector<int32_t> ptr = out_pointers(source, static_cast<int64_t>(parent.size()));
  one.paths = count_paths({ptr, target});
  constexpr int64_t kBudget = 1 << 14;
  PathCursor cursor({ptr, target}, 0, static_cast<int64_t>(parent.size()));
  for (PathChunk chunk; cursor.next(chunk, kBudget);) {
    one.triplets += chunk.triplets;
    one.arcs += chunk.arcs;
  }
  return one;
}

}  // namespace

std::string spatial_fault(const GraphStoreData& data) {
  const SpatialData& spatial = data.spatial;
  const std::size_t graphs = data.y.size(), nodes = at(data.node_ptr.back());
  if (spatial.pos.size() != 3 * nodes) return "pos does not match node_ptr";
  if (spatial.parent.size() != nodes) return "parent does not match node_ptr";
  if (!spatial.target.empty() && spatial.target.size() != graphs) {
    return "target is not one number a graph";
  }
  if (!are_finite(spatial.pos)) return "a position is not finite";
  for (std::size_t g = 0; g < graphs; ++g) {
    const Range range = range_of(data.node_ptr, data.edge_ptr, g);
    if (!faulty_nodes(std::span(spatial.parent).subspan(range.node, range.nodes)).empty()) {
      return "the parents of graph " + std::to_string(g) + " are no forest";
    }
  }
  return "";
}

SpatialDerived derive_spatial(const GraphStoreData& data) {
  const std::size_t graphs = data.y.size(), nodes = at(data.node_ptr.back());
  SpatialDerived out;
  out.tour.resize(2 * nodes);
  out.paths.reserve(nodes);
  out.relations.reserve(3 * graphs);
  for (std::size_t g = 0; g < graphs; ++g) {
    const Range range = range_of(data.node_ptr, data.edge_ptr, g);
    const GraphDerived one = derive(std::span(data.spatial.parent).subspan(range.node, range.nodes),
                                    std::span(data.edge_source).subspan(range.edge, range.edges),
                                    std::span(data.edge_target).subspan(range.edge, range.edges));
    const auto first = out.tour.begin() + static_cast<std::ptrdiff_t>(range.node);
    std::copy(one.in.begin(), one.in.end(), first);
    std::copy(one.out.begin(), one.out.end(), first + static_cast<std::ptrdiff_t>(nodes));
    out.paths.insert(out.paths.end(), one.paths.begin(), one.paths.end());
    out.relations.insert(out.relations.end(),
                         {one.relations.edges, one.relations.internal, one.relations.unrelated});
    out.triplets += one.triplets;
    out.arcs += one.arcs;
  }
  return out;
}

void add_spatial(const GraphStoreData& data, const SpatialDerived& derived,
                 std::span<const float> target, SafetensorsWriter& writer) {
  const int64_t nodes = data.node_ptr.back(), graphs = static_cast<int64_t>(data.y.size());
  writer.add("relations", {graphs, 3}, std::span(derived.relations));
  writer.add("target", {graphs}, target);
  writer.add("pos", {nodes, 3}, std::span(data.spatial.pos));
  writer.add("parent", {nodes}, std::span(data.spatial.parent));
  writer.add("tour", {2, nodes}, std::span(derived.tour));
  writer.add("paths", {nodes}, std::span(derived.paths));
  writer.metadata("classes",
                  json(data.spatial.classes).dump(-1, ' ', false, json::error_handler_t::replace));
}

json spatial_facts(const GraphStoreData& data, const SpatialDerived& derived) {
  const std::size_t graphs = data.y.size();
  std::vector<int64_t> paths, counts(data.spatial.classes.size(), 0);
  std::vector<double> lengths;
  int64_t targets = 0;
  bool are_trees = true;
  for (std::size_t g = 0; g < graphs; ++g) {
    const Range range = range_of(data.node_ptr, data.edge_ptr, g);
    const auto first = derived.paths.begin() + static_cast<std::ptrdiff_t>(range.node);
    paths.push_back(
        std::accumulate(first, first + static_cast<std::ptrdiff_t>(range.nodes), int64_t{0}));
    add_lengths(std::span(data.spatial.pos).subspan(3 * range.node, 3 * range.nodes),
                std::span(data.edge_source).subspan(range.edge, range.edges),
                std::span(data.edge_target).subspan(range.edge, range.edges), lengths);
    if (data.y[g] >= 0) ++counts[at(data.y[g])];
    if (!data.spatial.target.empty()) targets += !std::isnan(data.spatial.target[g]);
    are_trees = are_trees && at(2 * derived.relations[3 * g]) == range.edges &&
                range.nodes == at(derived.relations[3 * g]) + 1;
  }
  return {{"classes", data.spatial.classes},
          {"class_graphs", counts},
          {"targets", targets},
          {"are_trees", are_trees},
          {"paths", size_facts(std::move(paths))},
          {"triplets", {{"sum", derived.triplets}}},
          {"arcs", {{"sum", derived.arcs}}},
          {"edge_length", {{"median", median(std::move(lengths))}}}};
}

SpatialArrays read_spatial(const SafetensorsFile& file, int64_t graphs, int64_t nodes) {
  SpatialArrays out;
  out.pos = file.require<float>("pos", {nodes, 3});
  out.parent = file.require<int32_t>("parent", {nodes});
  out.tour = file.require<int32_t>("tour", {2, nodes});
  out.paths = file.require<int64_t>("paths", {nodes});
  out.relations = file.require<int64_t>("relations", {graphs, 3});
  out.target = file.require<float>("target", {graphs});
  const auto classes = file.metadata().find("classes");
  if (classes == file.metadata().end()) {
    throw Error(ExitCode::kData, file.path().string() + ": no metadata 'classes'");
  }
  try {
    json::parse(classes->second).get_to(out.classes);
  } catch (const json::exception& e) {
    throw Error(ExitCode::kData, file.path().string() + ": malformed metadata: " + e.what());
  }
  return out;
}

std::string spatial_fault(const GraphArrays& graphs, std::size_t g) {
  const SpatialArrays& spatial = *graphs.spatial;
  const Range range = range_of(graphs.node_ptr, graphs.edge_ptr, g);
  const std::size_t all = spatial.parent.size();
  if (!are_finite(spatial.pos.subspan(3 * range.node, 3 * range.nodes))) {
    return "has a position that is not finite";
  }
  if (std::isinf(spatial.target[g])) return "has a target that is not finite";
  const std::span<const int32_t> parent = spatial.parent.subspan(range.node, range.nodes);
  if (!faulty_nodes(parent).empty()) return "has parents that are no forest";
  const GraphDerived wanted = derive(parent, graphs.edge_source.subspan(range.edge, range.edges),
                                     graphs.edge_target.subspan(range.edge, range.edges));
  const auto equal = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  if (!equal(wanted.in, spatial.tour.subspan(range.node, range.nodes)) ||
      !equal(wanted.out, spatial.tour.subspan(all + range.node, range.nodes))) {
    return "has a tour that is not that of its parents";
  }
  if (!equal(wanted.paths, spatial.paths.subspan(range.node, range.nodes))) {
    return "has numbers of paths that are not those of its edges";
  }
  const std::vector<int64_t> relations = {wanted.relations.edges, wanted.relations.internal,
                                          wanted.relations.unrelated};
  if (!equal(relations, spatial.relations.subspan(3 * g, 3))) {
    return "has relations that are not those of its parents";
  }
  return "";
}

json size_facts(std::vector<int64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  const auto nearest_rank = [&sizes](std::size_t percent) {
    return sizes.empty() ? 0 : sizes[(sizes.size() * percent + 99) / 100 - 1];
  };
  return {{"p50", nearest_rank(50)},
          {"p95", nearest_rank(95)},
          {"p99", nearest_rank(99)},
          {"max", nearest_rank(100)},
          {"sum", std::accumulate(sizes.begin(), sizes.end(), int64_t{0})}};
}

}  // namespace kdgat::graph
