// Labelled graphs in three tables: graphs.csv (graph, label, maybe split and group), nodes.csv
// (graph, node, and features) and edges.csv (graph, source, target, and features). Names of graphs
// and nodes are any text; those of nodes are of their graph alone. Rows may stand in any order.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>

#include "engine/arrays/index.h"
#include "engine/data/core/feature_columns.h"
#include "engine/data/graphs/graphs_import.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"

namespace kdgat::data {
namespace {

/// A graph while its rows are read.
struct TableGraph {
  std::unordered_map<std::string, int32_t> nodes;  // by name
  GivenGraph given;
  int64_t line = 0;  // of graphs.csv
};

struct TableGraphs {
  std::vector<TableGraph> graphs;
  std::unordered_map<std::string, std::size_t> by_name;
  std::string table;  // "graphs.csv", in messages

  /// The graph that a row of another table names.
  TableGraph& of(const file::CsvReader& rows, std::size_t column) {
    const auto found = by_name.find(rows.field(column));
    if (found != by_name.end()) return graphs[found->second];
    throw Error(
        ExitCode::kData,
        "graph '" + file::shown(rows.field(column)) + "' has no row in " + table + ": no label", "",
        rows.where());
  }
};

/// The column of labels; none where the table has none.
std::optional<std::size_t> label_column_of(const file::CsvReader& table,
                                           const GraphsOptions& options) {
  if (options.names_label()) {
    return table.require(options.label_column);
  }
  const auto label = table.find("label");
  return label ? label : table.find(options.label_name());
}

/// Columns of numbers to be predicted: those whose names begin with "target", unless there are
/// labels.
std::vector<std::size_t> target_columns_of(const file::CsvReader& table, bool has_labels) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; !has_labels && c < table.header().size(); ++c) {
    if (table.header()[c].starts_with("target")) out.push_back(c);
  }
  return out;
}

/// NaN of an empty field.
float target_in(const file::CsvReader& table, std::size_t column) {
  const std::string& text = table.field(column);
  if (text.empty()) return std::numeric_limits<float>::quiet_NaN();
  const std::optional<double> number = file::number_in(text);
  if (number && std::isfinite(static_cast<float>(*number))) return static_cast<float>(*number);
  throw Error(ExitCode::kData,
              file::shown(table.header()[column]) + " is '" + file::shown(text) +
                  "', not a number to be predicted",
              "a target that is not known is left empty", table.where());
}

std::string part_in(const file::CsvReader& table, std::size_t column) {
  const std::string& word = table.field(column);
  if (word.empty() || word == "train" || word == "val" || word == "test") return word;
  if (word == "valid" || word == "validation") return "val";
  throw Error(ExitCode::kData,
              file::shown(table.header()[column]) + " is '" + file::shown(word) +
                  "', not train, val or test",
              "", table.where());
}

void read_graphs(const GraphsImport& import, const std::filesystem::path& path, TableGraphs& out,
                 GraphCollection& collection) {
  file::CsvReader table(file::LineReader(path, import.cancelled));
  const std::size_t graph = table.require("graph");
  const auto label = label_column_of(table, import.options);
  if (label) collection.label = file::shown(table.header()[*label]);
  const auto part = table.find("split"), group = table.find("group");
  const std::vector<std::size_t> targets = target_columns_of(table, label.has_value());
  for (const std::size_t column : targets) {
    collection.targets.push_back(file::shown(table.header()[column]));
  }
  std::vector<std::optional<std::size_t>> used = {graph, label, part, group};
  used.insert(used.end(), targets.begin(), targets.end());
  report_unused_columns(table, used, import.warnings);
  while (table.next()) {
    const std::string& name = table.filled(graph);
    if (!out.by_name.emplace(name, out.graphs.size()).second) {
      throw Error(ExitCode::kData, "graph '" + file::shown(name) + "' appears twice", "",
                  table.where());
    }
    GraphInfo info;
    if (label) {
      info.label = table.field(*label);
      if (info.label.empty()) {
        throw Error(ExitCode::kData, "graph '" + file::shown(name) + "' has no label",
                    "graphs without any label: a table without this column", table.where());
      }
    }
    for (const std::size_t column : targets) info.targets.push_back(target_in(table, column));
    if (part) info.part = part_in(table, *part);
    if (group) info.group = table.field(*group);
    collection.graphs.push_back(std::move(info));
    out.graphs.emplace_back().line = table.line();
  }
  if (out.graphs.empty()) throw Error(ExitCode::kData, "no graph", "", table.name());
  import.done(table.bytes_read());
}

void read_nodes(const GraphsImport& import, const std::filesystem::path& path, TableGraphs& out,
                GraphCollection& collection) {
  file::CsvReader table(file::LineReader(path, import.cancelled));
  const std::size_t graph = table.require("graph"), node = table.require("node");
  FeatureColumns features(table, {graph, node}, import.warnings);
  for (const std::string& name : features.names()) {
    if (name != collection.label && name != "label" && name != "class") continue;
    import.warnings.push_back({table.name(),
                               "column " + file::shown(name) +
                                   " is used as a feature of nodes, though it is called as labels "
                                   "of graphs are",
                               "leave it out if it holds what is to be learned"});
  }
  while (table.next()) {
    TableGraph& of = out.of(table, graph);
    const std::string& name = table.filled(node);
    if (!of.nodes.emplace(name, static_cast<int32_t>(of.given.nodes)).second) {
      throw Error(ExitCode::kData,
                  "node '" + file::shown(name) + "' of graph '" + file::shown(table.field(graph)) +
                      "' appears twice",
                  "", table.where());
    }
    ++of.given.nodes;
    features.append(table, of.given.x);
  }
  const auto counters = features.counters(out.graphs.size(), import.warnings);
  for (TableGraph& of : out.graphs) erase_columns(of.given.x, features.size(), counters);
  collection.node_features = features.names();
  erase_columns(collection.node_features, counters);
  import.done(table.bytes_read());
}

void read_edges(const GraphsImport& import, const std::filesystem::path& path, TableGraphs& out,
                GraphCollection& collection) {
  file::CsvReader table(file::LineReader(path, import.cancelled));
  const std::size_t graph = table.require("graph"), source = table.require("source"),
                    target = table.require("target");
  FeatureColumns features(table, {graph, source, target}, import.warnings);
  while (table.next()) {
    TableGraph& of = out.of(table, graph);
    const auto end_of = [&](std::size_t column) {
      const auto found = of.nodes.find(table.field(column));
      if (found != of.nodes.end()) return found->second;
      throw Error(ExitCode::kData,
                  "graph '" + file::shown(table.field(graph)) + "' has no node '" +
                      file::shown(table.field(column)) + "'",
                  "nodes.csv has the nodes of each graph", table.where());
    };
    of.given.source.push_back(end_of(source));
    of.given.target.push_back(end_of(target));
    features.append(table, of.given.edge_attr);
  }
  const auto counters = features.counters(out.graphs.size(), import.warnings);
  for (TableGraph& of : out.graphs) erase_columns(of.given.edge_attr, features.size(), counters);
  collection.edge_features = features.names();
  erase_columns(collection.edge_features, counters);
  import.done(table.bytes_read());
}

}  // namespace

GraphCollection read_graph_tables(const GraphsImport& import) {
  const std::vector<LogFile>& files = import.input.files;
  GraphCollection out;
  out.name = files[0].name;
  out.format = kGraphTables;
  const auto read = std::make_shared<TableGraphs>();
  read->table = files[0].name;
  read_graphs(import, files[0].path, *read, out);
  read_nodes(import, files[1].path, *read, out);
  out.where = [read, path = files[0].path.string()](std::size_t g) {
    return path + ":" + std::to_string(read->graphs[g].line);
  };
  for (std::size_t g = 0; g < read->graphs.size(); ++g) {
    if (read->graphs[g].given.nodes > 0) continue;
    throw Error(ExitCode::kData, "a graph without nodes: " + files[1].name + " has none of it", "",
                out.where(g));
  }
  read_edges(import, files[2].path, *read, out);
  for (TableGraph& graph : read->graphs) graph.nodes.clear();
  out.graph = [read](std::size_t g) { return std::move(read->graphs[g].given); };
  return out;
}

}  // namespace kdgat::data
