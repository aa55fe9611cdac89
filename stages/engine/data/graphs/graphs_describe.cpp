#include <algorithm>
#include <string>
#include <vector>

#include "engine/data/graphs/graphs_domain.h"
#include "kdgat/text.h"

namespace kdgat::data {

using nlohmann::json;

namespace {

std::string graphs_headline(const json& facts) {
  const json& labels = facts.at("classified");
  const int64_t graphs = facts.at("graphs");
  const std::size_t classes = labels.at("classes").size();
  std::string out = grouped(graphs) + (graphs == 1 ? " graph" : " graphs");
  if (const json targets = labels.value("target_names", json::array()); !targets.empty()) {
    out += targets.size() == 1
               ? " with a number to predict: "
               : " with " + std::to_string(targets.size()) + " numbers to predict: ";
    constexpr std::size_t kShown = 3;
    for (std::size_t t = 0; t < std::min(targets.size(), kShown); ++t) {
      out += (t > 0 ? ", " : "") + targets[t].get<std::string>();
    }
    if (targets.size() > kShown) out += ", ...";
    const int64_t unknown = graphs - labels.at("targets").get<int64_t>();
    return unknown > 0 ? out + ", " + grouped(unknown) + " without" : out;
  }
  if (classes == 0) return out + " (without labels)";
  out += " of " + std::to_string(classes) + (classes == 1 ? " class" : " classes");
  if (const int64_t unlabelled = facts.at("unlabelled"); unlabelled > 0) {
    out += ", " + grouped(unlabelled) + " without label";
  }
  return out;
}

/// Graphs of each part.
DescribedTable targets_table(const json& seen) {
  DescribedTable table;
  table.add({"part", "graphs"});
  for (const auto& [name, part] : seen.at("parts").items()) {
    table.add({name, grouped(part.at("graphs"))});
  }
  table.add({"all", grouped(seen.at("facts").at("graphs"))});
  return table;
}

/// A row a class, a column a part.
DescribedTable labels_table(const json& seen) {
  const json& labels = seen.at("facts").at("classified");
  DescribedTable table;
  if (labels.contains("target_names")) return targets_table(seen);
  std::vector<std::string> heading = {"class", "graphs"};
  for (const auto& [name, part] : seen.at("parts").items()) heading.push_back(name);
  table.add(std::move(heading));
  const json& names = labels.at("classes");
  for (std::size_t c = 0; c < names.size(); ++c) {
    std::vector<std::string> row = {names[c].get<std::string>(),
                                    grouped(labels.at("class_graphs")[c])};
    for (const json& part : seen.at("parts")) row.push_back(grouped(part.at("classes")[c]));
    table.add(std::move(row));
  }
  std::vector<std::string> all = {"all", grouped(seen.at("facts").at("graphs"))};
  for (const json& part : seen.at("parts")) all.push_back(grouped(part.at("graphs")));
  table.add(std::move(all));
  return table;
}

Description describe_graphs_import(const json& result) {
  Description out;
  DescribedTable table;
  if (result.at("sources").size() <= kMostFiles) {
    for (const json& source : result.at("sources")) {
      const int64_t graphs = source.at("graphs");
      const bool is_val = source.at("scenario") == "val";
      table.add({source.at("path").get<std::string>(),
                 grouped(graphs) + (graphs == 1 ? " graph" : " graphs"),
                 is_val ? "val" : source.at("role").get<std::string>(),
                 source.at("format").get<std::string>()});
    }
    out.table(std::move(table));
  }
  return out.text(graphs_headline(result) + parts_text(result) + place_text(result));
}

Description describe_graphs_store(const json& result) {
  const json& facts = result.at("facts");
  Description out;
  out.text(result.at("path").get<std::string>() + ": " + graphs_headline(facts) + "\n" +
           grouped(facts.at("node_features")) + " node features, " +
           grouped(facts.at("edge_features")) + " edge features; " +
           grouped(facts.at("nodes").at("sum")) + " nodes, " +
           grouped(facts.at("edges").at("sum")) + " edges\n")
      .options()
      .text("\nnodes and edges of a graph: p50/p95/p99/max " + sizes_text(facts.at("nodes")) +
            ", " + sizes_text(facts.at("edges")) + "\n\n")
      .table(labels_table(result));
  return out;
}

}  // namespace

const Wording& graphs_wording() {
  static constexpr Wording wording = {graphs_headline, describe_graphs_import,
                                      describe_graphs_store};
  return wording;
}

}  // namespace kdgat::data
