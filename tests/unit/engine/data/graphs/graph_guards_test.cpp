// What is said of graphs that would teach nothing or the wrong thing, and of what is no graph yet.
#include <catch2/catch.hpp>

#include "engine/graph/graph_store.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using test::data_error;
using test::write_text;

constexpr int kGraphs = 12;

std::string refusal_of(const test::ScratchFolder& folder, const fs::path& source,
                       const nlohmann::json& options = nlohmann::json::object()) {
  return data_error([&] { import_source(all_domains(), source, folder / "out", options); });
}

/// Every warning of an import, a line each.
std::string notes_of(const test::ScratchFolder& folder, const fs::path& source) {
  std::string out;
  for (const Diagnostic& one : graph::import_logs(source, folder / "out", {}).warnings) {
    out += one.where + ": " + one.message + "\n";
  }
  return out;
}

/// Twelve graphs of two nodes, with the index of pandas where `has_index`.
fs::path write_guarded_tables(const test::ScratchFolder& folder, bool has_index,
                              const std::string& last_column = "") {
  const std::string mark = has_index ? "," : "";
  std::string graphs = mark + "graph,label\n",
              nodes = mark + "graph,node,size" + last_column + "\n",
              edges = (has_index ? "Unnamed: 0," : "") + std::string("graph,source,target\n");
  int row = 0;
  for (int g = 0; g < kGraphs; ++g) {
    const auto index = [&](int number) { return has_index ? std::to_string(number) + "," : ""; };
    const std::string name = "g" + std::to_string(g);
    graphs += index(g) + name + (g % 2 == 0 ? ",a\n" : ",b\n");
    for (const char* node : {"n", "m"}) {
      nodes += index(row) + name + "," + node + ",0.5";
      if (!last_column.empty()) nodes += "," + std::to_string(row);
      nodes += "\n";
      ++row;
    }
    edges += index(g) + name + ",n,m\n";
  }
  write_text(folder / "in/graphs.csv", graphs);
  write_text(folder / "in/nodes.csv", nodes);
  write_text(folder / "in/edges.csv", edges);
  return folder / "in";
}

/// Twelve paths of three nodes; numbers of nodes begin anew where `are_local`.
fs::path write_tu(const test::ScratchFolder& folder, const std::string& below, bool are_local,
                  bool has_many_classes = false) {
  std::string edges, indicator, labels;
  for (int g = 0; g < kGraphs; ++g) {
    const int first = are_local ? 1 : 3 * g + 1;
    for (int n = 0; n < 2; ++n) {
      edges += std::to_string(first + n) + ", " + std::to_string(first + n + 1) + "\n";
    }
    for (int n = 0; n < 3; ++n) indicator += std::to_string(g + 1) + "\n";
    labels += std::to_string(has_many_classes ? 7 * g : g % 2) + "\n";
  }
  write_text(folder / below / "T_A.txt", edges);
  write_text(folder / below / "T_graph_indicator.txt", indicator);
  write_text(folder / below / "T_graph_labels.txt", labels);
  return folder / below;
}

}  // namespace

TEST_CASE("columns without a name and counts of rows are no features", "[graphs][guards]") {
  const test::ScratchFolder folder;
  const std::string notes = notes_of(folder, write_guarded_tables(folder, true, ",id"));
  CHECK_THAT(notes, Contains("nodes.csv:1: column 1 has no name and is not used") &&
                        Contains("edges.csv:1: column 1 has no name") &&
                        Contains("column id counts the rows and is not used"));
  const graph::GraphStore store = graph::GraphStore::open(folder / "out/graphs.safetensors");
  CHECK(store.node_features() == 1);
  CHECK(store.edge_features() == 0);
  CHECK(store.x()[1] == 0.5F);
  CHECK(notes_of(folder, write_guarded_tables(folder, false)).empty());
}

TEST_CASE("columns that are not used, or look like labels, are named", "[graphs][guards]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/graphs.csv", "graph,label,fold\na,x,1\nb,y,2\nc,x,1\nd,y,1\n");
  write_text(folder / "in/nodes.csv",
             "graph,node,f,label\na,1,0.5,0\nb,1,0.5,1\nc,1,0,0\nd,1,0,1\n");
  write_text(folder / "in/edges.csv", "graph,source,target\n");
  CHECK_THAT(notes_of(folder, folder / "in"),
             Contains("graphs.csv: column fold is not used") &&
                 Contains("nodes.csv: column label is used as a feature of nodes"));
}

TEST_CASE("as many classes as graphs are refused", "[graphs][guards]") {
  const test::ScratchFolder folder;
  const fs::path numbered = write_tu(folder, "tu", false, true);
  CHECK_THAT(refusal_of(folder, numbered, {{"task", "classes"}}),
             Contains("has 12 different numbers for 12 graphs") && Contains("regression"));
  write_guarded_tables(folder, false);
  std::string graphs = "graph,label\n";
  for (int g = 0; g < kGraphs; ++g) {
    graphs += "g" + std::to_string(g) + ",name" + std::to_string(g / 2) + "\n";
  }
  write_text(folder / "in/graphs.csv", graphs);
  CHECK_THAT(refusal_of(folder, folder / "in"),
             Contains("graphs.csv:2: label has 6 different names for 12 graphs"));
}

TEST_CASE("numbers of nodes that begin anew in each graph are refused", "[graphs][guards]") {
  const test::ScratchFolder folder;
  CHECK_THAT(refusal_of(folder, write_tu(folder, "tu", true)),
             Contains("T_A.txt: 11 of 12 graphs have no edge") && Contains("begin anew"));
  CHECK(notes_of(folder, write_tu(folder, "right", false)).empty());
}

TEST_CASE("the folders of PyTorch Geometric are read", "[graphs][guards]") {
  for (const std::string below : {"a/raw", "a/T/raw", "a/T"}) {
    const test::ScratchFolder folder;
    write_tu(folder, below, false);
    write_text(folder / "a/processed/data.pt", "PK");
    INFO(below);
    CHECK(graph::import_logs(folder / "a", folder / "out", {}).graphs == kGraphs);
  }
}

TEST_CASE("graphs in a form that is not read are named as such", "[graphs][guards]") {
  const test::ScratchFolder folder;
  const auto said = [&](const char* name, const std::string& text) {
    write_text(folder / "one" / name, text);
    const std::string out = refusal_of(folder, folder / "one");
    fs::remove_all(folder / "one");
    CHECK_THAT(out, !Contains("log") && !Contains("timestamp") && Contains("graphs.csv"));
    return out;
  };
  CHECK_THAT(said("a.graphml", "<graphml/>"), Contains("GraphML"));
  CHECK_THAT(said("num-node-list.csv", "3\n"), Contains("OGB"));
  CHECK_THAT(said("ind.cora.graph", "x"), Contains("Planetoid"));
  CHECK_THAT(said("processed/data.pt", "PK"), Contains("PyTorch"));
  CHECK_THAT(said("molecules.csv", "smiles,label\nCCO,1\n"), Contains("SMILES"));
  write_tu(folder, "many/A/raw", false);
  write_tu(folder, "many/B/raw", false);
  CHECK_THAT(refusal_of(folder, folder / "many"), Contains("folders below it") && Contains("raw"));
}

TEST_CASE("real inputs with an index, with local numbers and of PyG", "[graphs][guards]") {
  const test::ScratchFolder folder;
  if (const auto source = test::shared_path("field/graph_tables_index")) {
    graph::import_logs(*source, folder / "out", {});
    const graph::GraphStore store = graph::GraphStore::open(folder / "out/graphs.safetensors");
    CHECK(store.node_features() == 1);
    CHECK(store.edge_features() == 0);
  }
  if (const auto source = test::shared_path("field/tu_local_numbers")) {
    CHECK_THAT(refusal_of(folder, *source), Contains("begin anew in each graph"));
  }
  if (const auto source = test::shared_path("field/pyg_root")) {
    CHECK(graph::import_logs(*source, folder / "pyg", {}).graphs > 0);
  }
}

}  // namespace kdgat::data
