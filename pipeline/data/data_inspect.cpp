// What stands in a store: kdgat data inspect, and data verify.
#include <algorithm>
#include <set>

#include "data/import.h"
#include "pipeline/data/data.h"
#include "pipeline/data/data_store.h"
#include "pipeline/system/machine.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using graph::GraphStore;
using nlohmann::json;

json size_counts(std::vector<int64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  const auto nearest_rank = [&sizes](std::size_t percent) {
    return sizes.empty() ? 0 : sizes[(sizes.size() * percent + 99) / 100 - 1];
  };
  return {{"p50", nearest_rank(50)},
          {"p95", nearest_rank(95)},
          {"p99", nearest_rank(99)},
          {"max", nearest_rank(100)}};
}

/// Counts of some graphs of a store, as inspect_data() describes.
json count(const GraphStore& store, const std::vector<int64_t>& graphs) {
  std::vector<int64_t> nodes, edges;
  std::set<int64_t> ids;
  int64_t by_label[3] = {};  // none, benign, attack
  const graph::Targets* const targets = store.targets();
  std::vector<int64_t> by_class(targets != nullptr ? targets->classes.size() : 0, 0);
  for (const int64_t graph : graphs) {
    const auto g = static_cast<std::size_t>(graph);
    nodes.push_back(store.node_ptr()[g + 1] - store.node_ptr()[g]);
    edges.push_back(store.edge_ptr()[g + 1] - store.edge_ptr()[g]);
    if (targets != nullptr) {
      if (store.y()[g] < 0) {
        ++by_label[0];
      } else {
        ++by_class[static_cast<std::size_t>(store.y()[g])];
      }
      continue;
    }
    ++by_label[std::clamp(store.y()[g], -1, 1) + 1];
    for (int64_t n = store.node_ptr()[g]; n < store.node_ptr()[g + 1]; ++n) {
      const auto id = static_cast<std::size_t>(n * store.node_features());
      ids.insert(static_cast<int64_t>(store.x()[id]));
    }
  }
  json out = {{"graphs", graphs.size()},
              {"unlabelled", by_label[0]},
              {"nodes", size_counts(nodes)},
              {"edges", size_counts(edges)}};
  if (targets != nullptr) {
    out["classes"] = by_class;
  } else {
    out["attack"] = by_label[2];
    out["benign"] = by_label[1];
    out["ids"] = ids.size();
  }
  return out;
}

json inspect_store(const fs::path& path) {
  if (const OneFileKind* kind = one_file_kind(path)) return kind->inspect(path);
  const GraphStore store = GraphStore::open(path);
  json out = {{"path", path.string()},  {"content_hash", store.content_hash()},
              {"facts", store.facts()}, {"options", store.options()},
              {"files", json::array()}, {"parts", json::object()}};
  for (const graph::Source& source : store.sources()) {
    std::vector<int64_t> graphs(static_cast<std::size_t>(source.graphs));
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      graphs[i] = source.first_graph + static_cast<int64_t>(i);
    }
    json file = count(store, graphs);
    file["name"] = source.path;
    file["format"] = source.format;
    file["rows"] = source.rows;
    file["malformed"] = source.malformed;
    out["files"].push_back(std::move(file));
  }
  const fs::path split = path.parent_path() / kSplit;
  if (fs::exists(split)) {
    for (const auto& [name, graphs] : graph::load_split(split, store).parts) {
      out["parts"][name] = count(store, graphs);
    }
  }
  return out;
}

}  // namespace

json inspect_data(const fs::path& path, const json& options, const DataProgress& progress,
                  const std::function<bool()>& cancelled) {
  require_input(path);
  if (const fs::path store = store_of(path); !store.empty()) return inspect_store(store);
  const TemporaryFolder imported(temporary_folder(), "kdgat-inspect.");
  graph::import_logs(path, imported.path(), load_options<graph::ImportOptions>(options), progress,
                     cancelled);
  json out = inspect_store(imported.path() / kStore);
  out["path"] = path.string();
  return out;
}

std::vector<Diagnostic> verify_data(const fs::path& path) {
  require_input(path);
  const fs::path file = store_of(path);
  if (file.empty()) {
    throw Error(ExitCode::kData, path.string() + " is not a graph store",
                "kdgat data import " + path.string() + " -o DIR makes one");
  }
  std::vector<Diagnostic> problems;
  try {
    if (const OneFileKind* kind = one_file_kind(file)) return kind->verify(file);
    const GraphStore store = GraphStore::open(file);
    problems = store.verify();
    const fs::path split = file.parent_path() / kSplit;
    if (fs::exists(split)) graph::load_split(split, store);
  } catch (const Error& e) {
    problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
  }
  return problems;
}

}  // namespace kdgat
