#include <string>
#include <vector>

#include "engine/data/can/can_domain.h"
#include "kdgat/text.h"

namespace kdgat::data {

using nlohmann::json;

namespace {

std::string windows_text(int64_t count) {
  return grouped(count) + (count == 1 ? " window" : " windows");
}

/// "45 ids" and what is between it and other words; nothing of nodes that no id names.
std::string ids_text(const json& facts, const std::string& before, const std::string& behind) {
  const int64_t ids = facts.at("num_ids");
  return ids > 1 ? before + grouped(ids) + " ids" + behind : "";
}

std::vector<std::string> with_counts(std::vector<std::string> cells, const json& counts) {
  for (const char* key : {"graphs", "attack", "benign", "unlabelled", "ids"}) {
    cells.push_back(grouped(counts.at(key)));
  }
  cells.push_back(sizes_text(counts.at("nodes")));
  cells.push_back(sizes_text(counts.at("edges")));
  return cells;
}

std::string can_headline(const json& facts) {
  const int64_t graphs = facts.at("graphs");
  const bool is_labelled = facts.at("unlabelled") != facts.at("graphs");
  return windows_text(graphs) +
         (is_labelled ? " (" + grouped(facts.at("attack")) + " attack)" : " (without labels)");
}

Description describe_can_import(const json& result) {
  DescribedTable table;
  FolderNames folders;
  for (const json& source : result.at("sources")) {
    std::vector<std::string> cells = {
        folders.name(table, source.at("path")), grouped(source.at("rows")) + " rows",
        windows_text(source.at("graphs")), source.at("format").get<std::string>()};
    if (source.at("malformed") != 0) {
      cells.push_back(grouped(source.at("malformed")) + " malformed");
    }
    table.add(std::move(cells));
  }
  return Description()
      .table(std::move(table))
      .text(can_headline(result) + ids_text(result, ", ", "") + parts_text(result) +
            place_text(result));
}

Description describe_can_store(const json& result) {
  const json& facts = result.at("facts");
  Description out;
  out.text(result.at("path").get<std::string>() + ": " +
           windows_text(facts.at("graphs").get<int64_t>()) + ", " + grouped(facts.at("attack")) +
           " attack, " + grouped(facts.at("benign")) + " benign, " +
           grouped(facts.at("unlabelled")) + " without label\n" + ids_text(facts, "", ", ") +
           grouped(facts.at("node_features")) + " node and " + grouped(facts.at("edge_features")) +
           " edge features; " + grouped(facts.at("nodes").at("sum")) + " nodes, " +
           grouped(facts.at("edges").at("sum")) + " edges\n")
      .options()
      .text("\nnodes and edges of a window: p50/p95/p99/max\n\n");
  DescribedTable files;
  FolderNames folders;
  files.add({"file", "rows", "windows", "attack", "benign", "none", "ids", "nodes", "edges"});
  for (const json& file : result.at("files")) {
    const std::string name = folders.name(files, file.at("name"));
    files.add(with_counts({name, grouped(file.at("rows"))}, file));
  }
  out.table(std::move(files));
  if (result.at("parts").empty()) return out;
  DescribedTable parts;
  FolderNames folders_of_parts;
  parts.add({"part", "windows", "attack", "benign", "none", "ids", "nodes", "edges"});
  for (const auto& [name, part] : result.at("parts").items()) {
    parts.add(with_counts({folders_of_parts.name(parts, name)}, part));
  }
  return out.text("\n").table(std::move(parts));
}

}  // namespace

const Wording& can_wording() {
  static constexpr Wording wording = {can_headline, describe_can_import, describe_can_store};
  return wording;
}

}  // namespace kdgat::data
