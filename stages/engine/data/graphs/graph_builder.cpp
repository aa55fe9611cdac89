#include "engine/data/graphs/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/arrays/index.h"
#include "engine/data/core/class_labels.h"
#include "engine/file/number_text.h"
#include "kdgat/error.h"

namespace kdgat::data {

namespace {

/// Where in a store a graph stands.
struct PlaceInStore {
  int part = 0;           // those to be divided, then train, val and test
  std::size_t group = 0;  // 0 = none
  std::size_t given = 0;
  bool operator==(const PlaceInStore&) const = default;
};

int part_number(const std::string& part) {
  return part.empty() ? 0 : part == "train" ? 1 : part == "val" ? 2 : 3;
}

std::vector<PlaceInStore> places_of(const GraphCollection& collection) {
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> groups;  // number, first
  std::vector<PlaceInStore> out;
  for (std::size_t g = 0; g < collection.graphs.size(); ++g) {
    const GraphInfo& info = collection.graphs[g];
    std::size_t group = 0;
    if (!info.group.empty()) {
      const auto found = groups.emplace(info.group, std::pair(groups.size() + 1, g)).first;
      group = found->second.first;
      const GraphInfo& first = collection.graphs[found->second.second];
      if (first.part != info.part) {
        const auto name = [](const std::string& part) {
          return part.empty() ? std::string("no part") : "the part " + part;
        };
        throw Error(ExitCode::kData,
                    "group '" + file::shown(info.group) + "' has a graph of " + name(info.part) +
                        ", and one of " + name(first.part) + " before",
                    "the graphs of a group stay together", collection.where(g));
      }
    }
    out.push_back({part_number(info.part), group, g});
  }
  std::stable_sort(out.begin(), out.end(), [](const PlaceInStore& a, const PlaceInStore& b) {
    return std::tie(a.part, a.group) < std::tie(b.part, b.group);
  });
  return out;
}

/// How many edges end in each node.
std::vector<float> degrees_of(const GivenGraph& graph) {
  std::vector<float> out(arrays::at(graph.nodes), 0);
  for (const int32_t target : graph.target) ++out[arrays::at(target)];
  return out;
}

}  // namespace

EdgeChanges tidy_edges(GivenGraph& graph, std::size_t edge_features, bool undirected) {
  struct GivenEdge {
    int32_t source, target;
    std::size_t features;  // whose
  };
  EdgeChanges changes;
  std::vector<GivenEdge> edges;
  for (std::size_t e = 0; e < graph.source.size(); ++e) {
    if (graph.source[e] == graph.target[e]) {
      ++changes.loops;
    } else {
      edges.push_back({graph.source[e], graph.target[e], e});
    }
  }
  const auto before = [](const GivenEdge& a, const GivenEdge& b) {
    return std::tie(a.source, a.target) < std::tie(b.source, b.target);
  };
  const auto unite = [&] {
    std::stable_sort(edges.begin(), edges.end(), before);
    const auto is_same = [](const GivenEdge& a, const GivenEdge& b) {
      return a.source == b.source && a.target == b.target;
    };
    edges.erase(std::unique(edges.begin(), edges.end(), is_same), edges.end());
  };
  const std::size_t given = edges.size();
  unite();
  changes.repeated = static_cast<int64_t>(given - edges.size());
  if (undirected) {
    const std::size_t directed = edges.size();
    for (std::size_t e = 0; e < directed; ++e) {
      edges.push_back({edges[e].target, edges[e].source, edges[e].features});
    }
    unite();  // of two that are the same the one that was given stands first
    changes.added = static_cast<int64_t>(edges.size() - directed);
  }
  std::vector<float> attr;
  attr.reserve(edges.size() * edge_features);
  graph.source.clear();
  graph.target.clear();
  for (const GivenEdge& edge : edges) {
    graph.source.push_back(edge.source);
    graph.target.push_back(edge.target);
    const auto from =
        graph.edge_attr.begin() + static_cast<std::ptrdiff_t>(edge.features * edge_features);
    attr.insert(attr.end(), from, from + static_cast<std::ptrdiff_t>(edge_features));
  }
  graph.edge_attr = std::move(attr);
  return changes;
}

void choose_task(GraphCollection& collection, const std::string& task, bool to_learn) {
  if (!collection.targets.empty()) {
    if (task != "classes") return;
    throw Error(ExitCode::kData,
                "task=classes, and " + file::shown(collection.targets.front()) +
                    " is a number to be predicted",
                "leave task away, or give labels of classes", collection.name);
  }
  if (!collection.classes.empty()) {  // named by whoever made the file
    if (task != "regression") return;
    throw Error(ExitCode::kData, "task=regression, and the labels are names of classes",
                "leave task away", collection.name);
  }
  std::vector<std::string> labels;
  labels.reserve(collection.graphs.size());
  for (const GraphInfo& info : collection.graphs) labels.push_back(info.label);
  if (task == "classes" || (task == "auto" && !are_targets(labels, to_learn))) {
    for (std::size_t g = 0; g < labels.size(); ++g) {
      if (labels[g] != collection.no_class) continue;
      labels[g].clear();
      collection.graphs[g].label.clear();
    }
    require_classes(
        labels, {collection.label, collection.where, "task=regression predicts numbers"}, to_learn);
    return;
  }
  collection.targets = {collection.label};
  for (std::size_t g = 0; g < labels.size(); ++g) {
    GraphInfo& info = collection.graphs[g];
    const std::optional<double> number =
        info.label.empty() ? std::nan("") : file::number_in(info.label);
    if (!number || std::isinf(static_cast<float>(*number))) {
      throw Error(
          ExitCode::kData,
          collection.label + " is " + file::shown(info.label) + ", not a number to be predicted",
          "task=classes takes labels as names of classes", collection.where(g));
    }
    info.targets = {static_cast<float>(*number)};
    info.label.clear();
  }
}

std::vector<std::string> classes_of(const std::vector<GraphInfo>& graphs) {
  std::map<std::string, std::optional<double>> found;
  for (const GraphInfo& info : graphs) {
    if (!info.label.empty()) found.emplace(info.label, std::nullopt);
  }
  bool are_numbers = true;
  for (auto& [name, number] : found) {
    number = file::number_in(name);
    are_numbers = are_numbers && number && std::isfinite(*number);
  }
  std::vector<std::string> out;
  out.reserve(found.size());
  for (const auto& [name, number] : found) out.push_back(name);
  if (are_numbers) {
    std::stable_sort(out.begin(), out.end(), [&](const std::string& a, const std::string& b) {
      return *found.at(a) < *found.at(b);
    });
  }
  return out;
}

graph::GraphStoreData build_graphs(const GraphCollection& collection, bool undirected,
                                   const std::filesystem::path& folder,
                                   const std::function<void()>& step, EdgeChanges& changes) {
  graph::GraphStoreData data;
  if (!folder.empty()) data.spill_to(folder);
  const bool has_features = !collection.node_features.empty();
  data.node_feature_names =
      has_features ? collection.node_features : std::vector<std::string>{"degree"};
  data.edge_feature_names = collection.edge_features;
  data.node_features = static_cast<int64_t>(data.node_feature_names.size());
  data.edge_features = static_cast<int64_t>(data.edge_feature_names.size());
  std::vector<std::string> classes =
      collection.classes.empty() ? classes_of(collection.graphs) : collection.classes;
  std::vector<float> targets;
  std::unordered_map<std::string, int32_t> number_of;
  for (const std::string& name : classes) {
    number_of.emplace(name, static_cast<int32_t>(number_of.size()));
  }
  std::optional<PlaceInStore> last;
  for (const PlaceInStore& place : places_of(collection)) {
    step();
    const GraphInfo& info = collection.graphs[place.given];
    if (!last || last->part != place.part || last->group != place.group) {
      graph::Source source;
      source.path = info.group.empty() ? collection.name : info.group;
      source.role = info.part == "test" ? "test" : "train";
      if (info.part == "val") source.validate();
      source.format = collection.format;
      source.first_graph = static_cast<int64_t>(data.y.size());
      source.independent = info.group.empty();
      data.sources.push_back(std::move(source));
    }
    last = place;
    ++data.sources.back().rows;
    ++data.sources.back().graphs;
    GivenGraph graph = collection.graph(place.given);
    const EdgeChanges changed = tidy_edges(graph, collection.edge_features.size(), undirected);
    changes.loops += changed.loops;
    changes.repeated += changed.repeated;
    changes.added += changed.added;
    data.x.append(has_features ? graph.x : degrees_of(graph));
    data.edge_attr.append(graph.edge_attr);
    data.edge_source.append(graph.source);
    data.edge_target.append(graph.target);
    data.node_ptr.push_back(data.node_ptr.back() + graph.nodes);
    data.edge_ptr.push_back(static_cast<int64_t>(data.edge_source.size()));
    data.row_begin.push_back(static_cast<int64_t>(place.given));
    data.row_end.push_back(static_cast<int64_t>(place.given) + 1);
    data.source_of.push_back(static_cast<int32_t>(data.sources.size()) - 1);
    data.y.push_back(info.label.empty() ? -1 : number_of.at(info.label));
    targets.insert(targets.end(), info.targets.begin(), info.targets.end());
  }
  data.sections.targets = {std::move(classes), collection.targets, std::move(targets)};
  return data;
}

}  // namespace kdgat::data
