#include "pipeline/report/store_summary.h"

#include "pipeline/show/json_lookup.h"

namespace kdgat {
namespace {

using nlohmann::json;

SizeSpread spread_of(const json& in) {
  return {below(in, "p50"), below(in, "p99"), below(in, "max")};
}

/// Of a list of objects with names, or of an object by name.
std::vector<GraphCounts> graphs_of(const json& items) {
  std::vector<GraphCounts> out;
  for (const auto& [key, item] : items.items()) {
    const json& name = below(item, "name");
    out.push_back({name.is_string() ? name.get<std::string>() : key, below(item, "graphs"),
                   below(item, "attack"), below(item, "benign"), below(item, "unlabelled"),
                   below(item, "rows"), below(item, "malformed"), below(item, "format")});
  }
  return out;
}

}  // namespace

StoreSummary read_store_summary(const json& data) {
  StoreSummary out;
  out.facts = below(data, "facts");
  out.options = below(data, "options");
  out.path = below(data, "path");
  out.content_hash = below(data, "content_hash");
  out.nodes = spread_of(below(out.facts, "nodes"));
  out.edges = spread_of(below(out.facts, "edges"));
  out.parts = graphs_of(below(data, "parts"));
  out.files = graphs_of(below(data, "files"));
  return out;
}

}  // namespace kdgat
