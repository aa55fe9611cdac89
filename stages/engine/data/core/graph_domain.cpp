#include "engine/data/core/graph_domain.h"

#include <utility>

#include "engine/graph/sections/common_arrays.h"

namespace kdgat::data {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

json size_counts(std::vector<int64_t> sizes) {
  json out = graph::size_facts(std::move(sizes));
  out.erase("sum");
  return out;
}

json size_counts_of(const graph::GraphStore& store, const std::vector<int64_t>& graphs) {
  std::vector<int64_t> nodes, edges;
  int64_t unlabelled = 0;
  for (const int64_t graph : graphs) {
    const auto g = static_cast<std::size_t>(graph);
    nodes.push_back(store.node_ptr()[g + 1] - store.node_ptr()[g]);
    edges.push_back(store.edge_ptr()[g + 1] - store.edge_ptr()[g]);
    unlabelled += store.y()[g] < 0 ? 1 : 0;
  }
  return {{"graphs", graphs.size()},
          {"unlabelled", unlabelled},
          {"nodes", size_counts(std::move(nodes))},
          {"edges", size_counts(std::move(edges))}};
}

}  // namespace

bool GraphDomain::is_store(const file::SafetensorsFile& file) const {
  return graph::GraphStore::is_store(file) && owns(file);
}

StoreView GraphDomain::open(const fs::path& store, graph::Check check) const {
  const graph::GraphStore graphs = graph::GraphStore::open(store, check);
  StoreView out{graphs.content_hash(), graphs.facts(),  graphs.options(),
                graphs.sources(),      graphs.graphs(), 0};
  for (const graph::Source& source : out.sources) out.rows += source.rows;
  return out;
}

std::vector<Diagnostic> GraphDomain::verify(const fs::path& store) const {
  std::vector<Diagnostic> problems;
  const fs::path split = store.parent_path() / kSplitName;
  try {
    const graph::GraphStore graphs = graph::GraphStore::open(store, graph::Check::kRanges);
    problems = graphs.verify();
    if (fs::exists(split)) graph::load_split(split, graphs);
  } catch (const Error& e) {
    problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
  }
  return problems;
}

json GraphDomain::inspect(const fs::path& path) const {
  const graph::GraphStore store = graph::GraphStore::open(path);
  json out = {{"path", path.string()},  {"content_hash", store.content_hash()},
              {"facts", store.facts()}, {"options", store.options()},
              {"files", json::array()}, {"parts", json::object()}};
  const auto counts = [&](const std::vector<int64_t>& graphs) {
    json one = size_counts_of(store, graphs);
    add_counts(store, graphs, one);
    return one;
  };
  for (const graph::Source& source : store.sources()) {
    std::vector<int64_t> graphs(static_cast<std::size_t>(source.graphs));
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      graphs[i] = source.first_graph + static_cast<int64_t>(i);
    }
    json file = counts(graphs);
    file["name"] = source.path;
    file["format"] = source.format;
    file["rows"] = source.rows;
    file["malformed"] = source.malformed;
    out["files"].push_back(std::move(file));
  }
  const fs::path split = path.parent_path() / kSplitName;
  if (fs::exists(split)) {
    for (const auto& [name, graphs] : graph::load_split(split, store).parts) {
      out["parts"][name] = counts(graphs);
    }
  }
  return out;
}

}  // namespace kdgat::data
