#include <string>
#include <vector>

#include "fields/space/data/space_domain.h"
#include "kdgat/text.h"

namespace kdgat::space {

using nlohmann::json;

namespace {

data::DescribedTable classes_table(const json& result) {
  const json& facts = result.at("facts");
  const json& spatial = facts.at("spatial");
  const json& parts = result.at("parts");
  data::DescribedTable table;
  std::vector<std::string> heading = {"class", "graphs"};
  for (const auto& [name, part] : parts.items()) heading.push_back(name);
  table.add(std::move(heading));
  const auto row = [&](const std::string& name, const json& all, const auto& of_part) {
    std::vector<std::string> cells = {name, grouped(all)};
    for (const json& part : parts) cells.push_back(grouped(of_part(part)));
    table.add(std::move(cells));
  };
  for (std::size_t c = 0; c < spatial.at("classes").size(); ++c) {
    row(spatial.at("classes")[c].get<std::string>(), spatial.at("class_graphs")[c],
        [c](const json& part) { return part.at("classes")[c]; });
  }
  if (facts.at("unlabelled") != 0) {
    row("(none)", facts.at("unlabelled"), [](const json& part) { return part.at("unlabelled"); });
  }
  row("all", facts.at("graphs"), [](const json& part) { return part.at("graphs"); });
  return table;
}

std::string space_headline(const json& facts) {
  const json& spatial = facts.at("spatial");
  const int64_t graphs = facts.at("graphs");
  std::string out = grouped(graphs) + (spatial.at("are_trees").get<bool>() ? " tree" : " graph");
  if (graphs != 1) out += 's';
  const std::size_t classes = spatial.at("classes").size();
  if (classes > 0) out += ", " + std::to_string(classes) + (classes == 1 ? " class" : " classes");
  if (const int64_t targets = spatial.at("targets"); targets > 0) {
    out += ", " + grouped(targets) + " with a target";
  } else if (classes == 0) {
    out += " (without labels)";
  }
  return out;
}

data::Description describe_space_import(const json& result) {
  data::Description out;
  if (result.at("sources").size() <= data::kMostFiles) {
    data::DescribedTable table;
    data::FolderNames folders;
    for (const json& source : result.at("sources")) {
      const int64_t graphs = source.at("graphs");
      std::vector<std::string> cells = {folders.name(table, source.at("path")),
                                        grouped(source.at("rows")) + " rows",
                                        grouped(graphs) + (graphs == 1 ? " graph" : " graphs"),
                                        source.at("format").get<std::string>()};
      if (source.at("malformed") != 0) {
        cells.push_back(grouped(source.at("malformed")) + " left out");
      }
      table.add(std::move(cells));
    }
    out.table(std::move(table));
  }
  return out.text(space_headline(result) + data::parts_text(result) + data::place_text(result));
}

data::Description describe_space_store(const json& result) {
  const json& facts = result.at("facts");
  const json& spatial = facts.at("spatial");
  const std::string length =
      format_number("%.4g", spatial.at("edge_length").at("median").get<double>());
  data::Description out;
  out.text(result.at("path").get<std::string>() + ": " + space_headline(facts) + ", " +
           grouped(facts.at("unlabelled")) + " without class\n" +
           grouped(facts.at("node_features")) + " node features; " +
           grouped(facts.at("nodes").at("sum")) + " nodes, " +
           grouped(facts.at("edges").at("sum")) + " edges of median length " + length + ", " +
           grouped(spatial.at("paths").at("sum")) + " paths\n")
      .options()
      .text("\nnodes, edges and paths of a graph: p50/p95/p99/max " +
            data::sizes_text(facts.at("nodes")) + ", " + data::sizes_text(facts.at("edges")) +
            ", " + data::sizes_text(spatial.at("paths")) + "\n\n")
      .table(classes_table(result));
  if (result.at("files").size() > data::kMostFiles) return out;
  data::DescribedTable files;
  data::FolderNames folders;
  files.add({"file", "rows", "graphs", "nodes", "edges"});
  for (const json& file : result.at("files")) {
    const std::string name = folders.name(files, file.at("name"));
    files.add({name, grouped(file.at("rows")), grouped(file.at("graphs")),
               data::sizes_text(file.at("nodes")), data::sizes_text(file.at("edges"))});
  }
  return out.text("\n").table(std::move(files));
}

}  // namespace

const data::Wording& space_wording() {
  static constexpr data::Wording wording = {space_headline, describe_space_import,
                                            describe_space_store};
  return wording;
}

}  // namespace kdgat::space
