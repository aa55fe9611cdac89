#include "engine/data/graphs/graphs_import.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "engine/data/graphs/synth_graphs.h"
#include "engine/graph/section_facts.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/graphs/npz_text.h"
#include "support/graphs/span_copy.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::copy;
using test::data_error;
using test::write_text;

ImportReport import_to(const test::ScratchFolder& folder, const fs::path& source,
                       const json& values = json::object()) {
  return import_source(all_domains(), source, folder / "out", values);
}

graph::GraphStore store_in(const test::ScratchFolder& folder) {
  graph::GraphStore store = graph::GraphStore::open(folder / "out/graphs.safetensors");
  CHECK(store.verify().empty());
  return store;
}

/// What is said of an import that fails: message and place.
std::string fault_of(const test::ScratchFolder& folder, const fs::path& source) {
  return data_error([&] { import_to(folder, source); });
}

constexpr const char* kLabels = "graph,label\na,yes\nb,no\nc,yes\n";
constexpr const char* kNodes = "graph,node,size,red\nb,n1,1,0\na,n1,2,1\na,n2,3,0\nc,7,4,0.5\n";
constexpr const char* kEdges = "graph,source,target,weight\na,n2,n1,7\na,n2,n2,1\na,n2,n1,9\n";

fs::path tables_in(const test::ScratchFolder& folder, const std::string& labels = kLabels,
                   const std::string& nodes = kNodes, const std::string& edges = kEdges) {
  write_text(folder / "in/graphs.csv", labels);
  write_text(folder / "in/nodes.csv", nodes);
  write_text(folder / "in/edges.csv", edges);
  return folder / "in";
}

fs::path tu_in(const test::ScratchFolder& folder,
               const std::map<std::string, std::string>& others = {}) {
  std::map<std::string, std::string> files = {{"A", "1, 2\n2, 1\n4, 3\n"},
                                              {"graph_indicator", "1\n1\n2\n2\n3\n"},
                                              {"graph_labels", "1\n-1\n1\n"},
                                              {"node_labels", "3\n0\n3\n3\n9\n"},
                                              {"node_attributes", "0.5,1\n1,1\n2,1\n3,1\n4,-1e3\n"},
                                              {"edge_labels", "2\n2\n5\n"}};
  for (const auto& [kind, text] : others) files[kind] = text;
  for (const auto& [kind, text] : files) write_text(folder / ("tu/T_" + kind + ".txt"), text);
  return folder / "tu";
}

TEST_CASE("tables of graphs, nodes and edges become graphs with their labels", "[graphs]") {
  const test::ScratchFolder folder;
  const ImportReport report = import_to(folder, tables_in(folder));
  CHECK(report.graphs == 3);
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0].message, Catch::Contains("1 that stood twice, 1 from a node"));
  const graph::GraphStore store = store_in(folder);
  CHECK(store.targets()->classes == std::vector<std::string>{"no", "yes"});
  CHECK(copy(store.y()) == std::vector<int32_t>{1, 0, 1});
  CHECK(store.node_feature_names() == std::vector<std::string>{"size", "red"});
  CHECK(store.edge_feature_names() == std::vector<std::string>{"weight"});
  CHECK(copy(store.x()) == std::vector<float>{2, 1, 3, 0, 1, 0, 4, 0.5});
  CHECK(copy(store.node_ptr()) == std::vector<int64_t>{0, 2, 3, 4});
  CHECK(copy(store.edge_ptr()) == std::vector<int64_t>{0, 1, 1, 1});
  CHECK(copy(store.edge_source()) == std::vector<int32_t>{1});
  CHECK(copy(store.edge_attr()) == std::vector<float>{7});
  CHECK(store.facts().at(graph::kClassifiedFacts).at("class_graphs") == std::vector<int>{1, 2});
  CHECK_FALSE(store.facts().contains(graph::kSectionFacts));
  CHECK(store.ids() == nullptr);

  import_to(folder, folder / "in", {{"undirected", true}});
  const graph::GraphStore both = store_in(folder);
  CHECK(copy(both.edge_source()) == std::vector<int32_t>{0, 1});
  CHECK(copy(both.edge_attr()) == std::vector<float>{7, 7});
}

TEST_CASE("graphs without features have degrees, and without a column of labels no class",
          "[graphs]") {
  const test::ScratchFolder folder;
  import_to(folder, tables_in(folder, "graph\na\nb\nc\n", "graph,node\na,1\na,2\nb,1\nc,1\n",
                              "graph,source,target\na,1,2\n"));
  const graph::GraphStore store = store_in(folder);
  CHECK(store.node_feature_names() == std::vector<std::string>{"degree"});
  CHECK(copy(store.x()) == std::vector<float>{0, 1, 0, 0});
  CHECK(store.edge_features() == 0);
  CHECK(store.targets()->classes.empty());
  CHECK(copy(store.y()) == std::vector<int32_t>{-1, -1, -1});
}

TEST_CASE("parts and groups of a table are those of the split", "[graphs]") {
  const test::ScratchFolder folder;
  std::string labels = "graph,label,split,group\n", nodes = "graph,node\n";
  for (int g = 0; g < 40; ++g) {
    const std::string name = std::to_string(g);
    const char* part = g < 4 ? "test" : g < 9 ? "val" : "";
    const std::string group = g < 9 || g % 2 == 0 ? "" : "person" + std::to_string(g % 3);
    labels += name + "," + std::to_string(g % 2) + "," + part + "," + group + "\n";
    nodes += name + ",n\n";
  }
  import_to(folder, tables_in(folder, labels, nodes, "graph,source,target\n"));
  const graph::GraphStore store = store_in(folder);
  const graph::Split split = graph::load_split(folder / "out/split.safetensors", store);
  const auto given = [&](const char* part) {
    std::set<int64_t> out;
    for (const int64_t id : split.parts.at(part)) {
      out.insert(store.row_begin()[static_cast<std::size_t>(id)]);
    }
    return out;
  };
  CHECK(given("test") == std::set<int64_t>{0, 1, 2, 3});
  CHECK(given("val") == std::set<int64_t>{4, 5, 6, 7, 8});
  CHECK(given("train").size() == 31);

  // Every graph that is not for a part is in the test part of one fold; groups stay whole.
  std::map<int64_t, int> tested;
  for (int fold = 0; fold < 3; ++fold) {
    const graph::Split one = graph::make_split(store, {"group", 0.2, 0.2, 1, 3, fold});
    std::map<std::string, std::set<std::string>> parts_of;
    for (const auto& [part, ids] : one.parts) {
      for (const int64_t id : ids) {
        const auto at = static_cast<std::size_t>(store.source_of()[static_cast<std::size_t>(id)]);
        if (!store.sources()[at].independent) parts_of[store.sources()[at].path].insert(part);
      }
    }
    CHECK(parts_of.size() == 3);
    for (const auto& [group, parts] : parts_of) CHECK(parts.size() == 1);
    for (const int64_t id : one.parts.at("test")) ++tested[id];
  }
  for (int64_t id = 0; id < store.graphs(); ++id) {
    const int64_t row = store.row_begin()[static_cast<std::size_t>(id)];
    CHECK(tested[id] == (row < 4 ? 3 : row < 9 ? 0 : 1));
  }
  write_text(folder / "in/graphs.csv", "graph,label,split,group\n0,1,train,p\n1,0,test,p\n");
  CHECK_THAT(fault_of(folder, folder / "in"), Catch::Contains("nodes.csv:4"));
  write_text(folder / "in/nodes.csv", "graph,node\n0,n\n1,n\n");
  CHECK_THAT(fault_of(folder, folder / "in"),
             Catch::Contains("graphs.csv:3") && Catch::Contains("group 'p'"));
}

TEST_CASE("what is wrong in tables of graphs is said with file and line", "[graphs]") {
  const std::string nodes = kNodes, edges = kEdges, labels = kLabels;
  const auto fault = [&](const std::string& of_graphs, const std::string& of_nodes,
                         const std::string& of_edges) {
    const test::ScratchFolder folder;
    return fault_of(folder, tables_in(folder, of_graphs, of_nodes, of_edges));
  };
  using Catch::Contains;
  CHECK_THAT(fault(labels, nodes, edges + "a,n1,n9,1\n"),
             Contains("edges.csv:5") && Contains("'a' has no node 'n9'"));
  CHECK_THAT(fault(labels, nodes, edges + "d,n1,n1,1\n"),
             Contains("edges.csv:5") && Contains("'d' has no row in graphs.csv"));
  CHECK_THAT(fault(labels, nodes + "a,n1,1,1\n", edges),
             Contains("nodes.csv:6") && Contains("appears twice"));
  CHECK_THAT(fault(labels, nodes + "a,n3,nan,1\n", edges), Contains("nodes.csv:6"));
  CHECK_THAT(fault(labels, nodes, edges + "a,n1,n2,1e99\n"), Contains("edges.csv:5"));
  CHECK_THAT(fault(labels, nodes + "a,n3\n", edges), Contains("2 fields, the header has 4"));
  CHECK_THAT(fault(labels + "a,no\n", nodes, edges),
             Contains("graphs.csv:5") && Contains("appears twice"));
  CHECK_THAT(fault(labels + "d,\n", nodes, edges),
             Contains("graphs.csv:5") && Contains("has no label"));
  CHECK_THAT(fault(labels + "d,no\n", nodes, edges),
             Contains("graphs.csv:5") && Contains("without nodes"));
  CHECK_THAT(fault("name,label\na,1\n", nodes, edges), Contains("no column 'graph'"));
  const test::ScratchFolder folder;
  fs::remove(tables_in(folder) / "edges.csv");
  CHECK_THAT(fault_of(folder, folder / "in"), Contains("no edges.csv in this folder"));
}

TEST_CASE("labels are classes or numbers to be predicted, wherever they stand", "[graphs]") {
  using Catch::Contains;
  const test::ScratchFolder folder;
  const auto of_labels = [&](const std::vector<std::string>& labels, const char* task = "auto") {
    std::string graphs = "graph,target\n", nodes = "graph,node\n";
    for (std::size_t g = 0; g < labels.size(); ++g) {
      graphs += std::to_string(g) + "," + labels[g] + "\n";
      nodes += std::to_string(g) + ",n\n";
    }
    tables_in(folder, graphs, nodes, "graph,source,target\n");
    return data_error([&] {
      import_to(folder, folder / "in", {{"label_column", "target"}, {"task", task}});
    });
  };
  const auto classes = [&] { return store_in(folder).targets()->classes; };
  const auto numbers = [&] { return copy(store_in(folder).targets()->values); };
  using Names = std::vector<std::string>;
  using Numbers = std::vector<float>;
  CHECK(of_labels({"1", "0.1371", "3"}).empty());
  CHECK(classes().empty());
  CHECK(store_in(folder).targets()->names == Names{"target"});
  CHECK(numbers() == Numbers{1, 0.1371F, 3});
  CHECK_THAT(of_labels({"1", "0.1371", "3"}, "classes"),
             Contains("graphs.csv:3: target is 0.1371, not the number or name of a class") &&
                 Contains("task=regression"));
  std::vector<std::string> counts;
  for (int g = 0; g < 30; ++g) counts.push_back(std::to_string(3 * g));
  CHECK(of_labels(counts).empty());
  CHECK(numbers()[29] == 87);
  CHECK_THAT(of_labels(counts, "classes"),
             Contains("graphs.csv:2: target has 30 different numbers for 30 graphs, 0 among them"));
  CHECK(of_labels({"1.0", "2.0", "1.0"}).empty());
  CHECK(classes() == Names{"1.0", "2.0"});
  CHECK(of_labels({"1.0", "2.0", "-1"}, "regression").empty());
  CHECK(numbers() == Numbers{1, 2, -1});
  CHECK(of_labels({"0", "1", "2", "3"}).empty());
  CHECK(classes().size() == 4);
  CHECK(of_labels({"0.5", "none"}).empty());
  CHECK(classes() == Names{"0.5", "none"});
  CHECK_THAT(of_labels({"0.5", "none"}, "regression"),
             Contains("graphs.csv:3: target is none, not a number to be predicted"));
  CHECK_THAT(of_labels({"0.5", "1e99"}, "regression"), Contains("graphs.csv:3"));

  // Several numbers of a graph.
  const std::string nodes = "graph,node\na,n\nb,n\n", edges = "graph,source,target\n";
  tables_in(folder, "graph,target_x,other,target_y\na,1.5,7,\nb,2,8,-4\n", nodes, edges);
  import_to(folder, folder / "in");
  CHECK(store_in(folder).targets()->names == Names{"target_x", "target_y"});
  CHECK(numbers()[0] == 1.5F);
  CHECK(std::isnan(numbers()[1]));
  CHECK(numbers()[3] == -4);
  tables_in(folder, "graph,target_x\na,1.5\nb,much\n", nodes, edges);
  CHECK_THAT(fault_of(folder, folder / "in"),
             Contains("graphs.csv:3: target_x is 'much', not a number to be predicted"));

  import_to(folder, tu_in(folder, {{"graph_labels", "1\n0.25\n1\n"}}));
  CHECK(numbers() == Numbers{1, 0.25F, 1});
  import_to(folder, tu_in(folder, {{"graph_attributes", "1,5\n0.25,6\n1,7\n"}}),
            {{"task", "regression"}});
  CHECK(numbers() == Numbers{1, 5, 0.25F, 6, 1, 7});
  import_to(folder, tu_in(folder, {{"graph_attributes", "1,5\n0.25,6\n1,7\n"}}));
  CHECK(classes() == Names{"-1", "1"});

  const auto of_arrays = [&](const std::string& y) {
    auto entries = test::small_npz();
    entries[3].content = y;
    write_text(folder / "g.npz", test::npz(entries, false));
    return fault_of(folder, folder / "g.npz");
  };
  CHECK(of_arrays(test::npy("<f4", "(2,)", test::bytes_of<float>({1, 0.5}))).empty());
  CHECK(numbers() == Numbers{1, 0.5F});
  CHECK(of_arrays(test::npy("<f8", "(2,)", test::bytes_of<double>({1, 0}))).empty());
  CHECK(classes() == Names{"0", "1"});
  CHECK(of_arrays(test::npy("<f8", "(2, 2)", test::bytes_of<double>({1, 0.5, NAN, 7}))).empty());
  CHECK(store_in(folder).targets()->names == Names{"y_0", "y_1"});
  CHECK(numbers()[3] == 7);
  CHECK_THAT(of_arrays(test::npy("<f8", "(2, 2)", test::bytes_of<double>({1, 0, NAN, 1}))),
             Contains("y has 2 columns of 0 and 1: several labels a graph are not read"));
  CHECK_THAT(of_arrays(test::npy("<f8", "(2,)", test::bytes_of<double>({1, INFINITY}))),
             Contains("y of graph 1 is not finite"));
}

TEST_CASE("a TUDataset folder is read with labels as columns", "[graphs]") {
  const test::ScratchFolder folder;
  import_to(folder, tu_in(folder));
  const graph::GraphStore store = store_in(folder);
  CHECK(store.targets()->classes == std::vector<std::string>{"-1", "1"});
  CHECK(copy(store.y()) == std::vector<int32_t>{1, 0, 1});
  CHECK(store.node_feature_names() ==
        std::vector<std::string>{"attribute_0", "attribute_1", "label_0", "label_3", "label_9"});
  CHECK(copy(store.x().first(10)) == std::vector<float>{0.5, 1, 0, 1, 0, 1, 1, 1, 0, 0});
  CHECK(copy(store.x().last(5)) == std::vector<float>{4, -1000, 0, 0, 1});
  CHECK(copy(store.node_ptr()) == std::vector<int64_t>{0, 2, 4, 5});
  CHECK(copy(store.edge_source()) == std::vector<int32_t>{0, 1, 1});
  CHECK(copy(store.edge_target()) == std::vector<int32_t>{1, 0, 0});
  CHECK(copy(store.edge_attr()) == std::vector<float>{1, 0, 1, 0, 0, 1});
  import_to(folder, folder / "tu", {{"attributes", false}});
  CHECK(store_in(folder).node_features() == 3);
}

TEST_CASE("what is wrong in a TUDataset folder is said with file and line", "[graphs]") {
  const auto fault = [](const std::string& kind, const std::string& text) {
    const test::ScratchFolder folder;
    return fault_of(folder, tu_in(folder, {{kind, text}}));
  };
  using Catch::Contains;
  CHECK_THAT(fault("A", "1, 2\n2, 6\n4, 3\n"),
             Contains("T_A.txt:2") && Contains("node 6") && Contains("has 5 nodes"));
  CHECK_THAT(fault("A", "1, 2\n2, 3\n4, 3\n"), Contains("between graph 1 and graph 2"));
  CHECK_THAT(fault("A", "1, 2\n2, x\n4, 3\n"), Contains("T_A.txt:2"));
  CHECK_THAT(fault("A", "1, 2\n2, 1\n"), Contains("T_edge_labels.txt:3") && Contains("too many"));
  CHECK_THAT(fault("graph_indicator", "1\n1\n2\n2\n4\n"),
             Contains("T_graph_indicator.txt:5") && Contains("has 3 lines"));
  CHECK_THAT(fault("graph_labels", "1\n-1\n1\n0\n"),
             Contains("T_graph_labels.txt:4") && Contains("without nodes"));
  CHECK_THAT(fault("node_attributes", "1,1\n1,1\n2,nan\n3,1\n4,1\n"),
             Contains("T_node_attributes.txt:3"));
  CHECK_THAT(fault("node_attributes", "1,1\n1,1\n2,1\n3\n4,1\n"),
             Contains("T_node_attributes.txt:4") && Contains("1 numbers, not 2"));
  CHECK_THAT(fault("node_labels", "3\n0\n3\n"), Contains("ends after 3 lines"));
}

TEST_CASE("the graphs of three published collections are all there", "[graphs]") {
  struct Published {
    const char* name;
    int64_t graphs, nodes, edges, node_features, edge_features;
    std::vector<int64_t> classes;
  };
  // Counted in the files by a script of their own: lines of graph_labels, graph_indicator and A,
  // and different labels of nodes and edges.
  for (const Published& is : {Published{"MUTAG", 188, 3371, 7442, 7, 4, {63, 125}},
                              Published{"PROTEINS", 1113, 43471, 162088, 4, 0, {663, 450}},
                              Published{"BZR", 405, 14479, 31070, 13, 0, {319, 86}}}) {
    const auto source = test::shared_path(std::string("data/tu/") + is.name);
    if (!source) continue;
    INFO(is.name);
    const test::ScratchFolder folder;
    import_to(folder, *source);
    const graph::GraphStore store = store_in(folder);
    CHECK(store.graphs() == is.graphs);
    CHECK(store.nodes() == is.nodes);
    CHECK(store.edges() == is.edges);
    CHECK(store.node_features() == is.node_features);
    CHECK(store.edge_features() == is.edge_features);
    CHECK(store.facts().at(graph::kClassifiedFacts).at("class_graphs") == is.classes);
  }
}

TEST_CASE("files of arrays are read, stored or deflated, by rows or by columns", "[graphs]") {
  const test::ScratchFolder folder;
  for (const bool deflated : {false, true}) {
    for (const bool is_wide : {false, true}) {
      write_text(folder / "g.npz", test::npz(test::small_npz(), deflated, is_wide));
      import_to(folder, folder / "g.npz");
      const graph::GraphStore store = store_in(folder);
      CHECK(store.targets()->classes == std::vector<std::string>{"b",
                                                                 "\xC3\xA9"
                                                                 "a"});
      CHECK(copy(store.x()) == std::vector<float>{1, 2, 3, 4, 5, 6});
      CHECK(copy(store.edge_source()) == std::vector<int32_t>{0, 1});
      CHECK(copy(store.edge_target()) == std::vector<int32_t>{1, 0});
      CHECK(copy(store.edge_attr()) == std::vector<float>{0.5, 1.5});
      CHECK(copy(store.edge_ptr()) == std::vector<int64_t>{0, 2, 2});
    }
  }
}

TEST_CASE("what is wrong in an archive of arrays is said", "[graphs]") {
  const test::ScratchFolder folder;
  const auto fault = [&](std::vector<test::NpzEntry> entries, bool deflated = true) {
    write_text(folder / "g.npz", test::npz(entries, deflated));
    return fault_of(folder, folder / "g.npz");
  };
  const auto with = [](std::size_t entry, const std::string& content) {
    auto out = test::small_npz();
    out[entry].content = content;
    return out;
  };
  using Catch::Contains;
  using test::bytes_of;
  using test::npy;
  auto bomb = test::small_npz();
  bomb[0].told_size = uint64_t{3} << 30;
  CHECK_THAT(fault(bomb), Contains("x.npy has 3072 MiB, the limit is 1024"));
  bomb[0].told_size = uint64_t{1} << 29;
  CHECK_THAT(fault(bomb), Contains("cannot have the size"));
  bomb[0].told_size = 1000;
  CHECK_THAT(fault(bomb), Contains("x.npy is damaged"));
  CHECK_THAT(fault(with(0, npy("<f4", "(4, 2)", bytes_of<float>({1, 2, 3, 4, 5, 6})))),
             Contains("24 bytes of data"));
  CHECK_THAT(fault(with(0, npy(">f4", "(3, 2)", std::string(24, '\0')))), Contains("type >f4"));
  CHECK_THAT(fault(with(0, npy("|O", "(3, 2)", std::string(24, '\0')))), Contains("objects"));
  CHECK_THAT(fault(with(0, npy("<f4", "(3, 2)", bytes_of<float>({1, 2, 3, NAN, 5, 6})))),
             Contains("not finite") && Contains("row 1"));
  CHECK_THAT(fault(with(1, npy("<i8", "(2, 2)", bytes_of<int64_t>({0, 2, 1, 0})))),
             Contains("graph 0 has an edge of node 2, and 2 nodes"));
  CHECK_THAT(fault(with(4, npy("<i8", "(3,)", bytes_of<int64_t>({0, 2, 4})))),
             Contains("node_ptr does not cut 0 .. 3"));
  CHECK_THAT(fault(with(3, npy("<i8", "(1,)", bytes_of<int64_t>({1})))),
             Contains("y has 1 values for 2 graphs"));
  auto missing = test::small_npz();
  missing.pop_back();
  CHECK_THAT(fault(missing), Contains("no array 'edge_ptr'"));
  const std::string whole = test::npz(test::small_npz(), true);
  write_text(folder / "g.npz", whole.substr(0, whole.size() - 30));
  CHECK_THAT(fault_of(folder, folder / "g.npz"), Contains("not a whole zip archive"));
}

TEST_CASE("tensors of a safetensors file are graphs, with names of classes", "[graphs]") {
  const test::ScratchFolder folder;
  const std::vector<float> x = {1, 2, 3};
  const std::vector<int32_t> edges = {0, 1};
  const std::vector<int64_t> y = {2, 0}, nodes = {0, 2, 3}, pointers = {0, 1, 1}, part = {2, 0};
  const auto write = [&](const std::string& classes) {
    file::SafetensorsWriter writer;
    writer.add("x", {3, 1}, std::span(x));
    writer.add("edge_index", {2, 1}, std::span(edges));
    writer.add("y", {2}, std::span(y));
    writer.add("node_ptr", {3}, std::span(nodes));
    writer.add("edge_ptr", {3}, std::span(pointers));
    writer.add("split", {2}, std::span(part));
    writer.metadata("classes", classes);
    writer.write(folder / "g.safetensors");
  };
  write(R"(["low","middle","high"])");
  import_to(folder, folder / "g.safetensors");
  const graph::GraphStore store = store_in(folder);
  CHECK(store.targets()->classes == std::vector<std::string>{"low", "middle", "high"});
  CHECK(copy(store.y()) == std::vector<int32_t>{0, 2});  // the test graph stands last
  CHECK(graph::load_split(folder / "out/split.safetensors", store).parts.at("test") ==
        std::vector<int64_t>{1});
  write(R"(["low","middle"])");
  CHECK_THAT(fault_of(folder, folder / "g.safetensors"),
             Catch::Contains("y of graph 0 is 2, and there are 2 classes"));
  write("[1]");
  CHECK_THAT(fault_of(folder, folder / "g.safetensors"), Catch::Contains("malformed metadata"));
}

TEST_CASE("made-up classes differ in what is joined to what, and in nothing else", "[graphs]") {
  const test::ScratchFolder folder;
  SynthSize size;
  size.graphs = 60;
  size.nodes = 36;
  size.classes = 6;
  write_synthetic_graphs(folder / "in", size);
  import_to(folder, folder / "in");
  const graph::GraphStore store = store_in(folder);
  const auto kinds = static_cast<std::size_t>(store.node_features());
  CHECK(kinds == 6);
  std::map<int32_t, std::vector<double>> joined;  // of each class: edges by kinds of their ends
  std::map<int32_t, double> all;
  for (std::size_t g = 0; g < 60; ++g) {
    const auto first = static_cast<std::size_t>(store.node_ptr()[g]);
    const auto nodes = static_cast<std::size_t>(store.node_ptr()[g + 1]) - first;
    std::vector<int> of_kind(kinds, 0), kind_of(nodes), degree(nodes, 0);
    for (std::size_t v = 0; v < nodes; ++v) {
      for (std::size_t k = 0; k < kinds; ++k) {
        if (store.x()[(first + v) * kinds + k] == 1) kind_of[v] = static_cast<int>(k);
      }
      ++of_kind[static_cast<std::size_t>(kind_of[v])];
    }
    CHECK(std::set<int>(of_kind.begin(), of_kind.end()).size() == 1);
    auto& table = joined[store.y()[g]];
    table.resize(kinds * kinds, 0);
    for (int64_t e = store.edge_ptr()[g]; e < store.edge_ptr()[g + 1]; ++e) {
      const auto from = static_cast<std::size_t>(store.edge_source()[static_cast<std::size_t>(e)]);
      const auto to = static_cast<std::size_t>(store.edge_target()[static_cast<std::size_t>(e)]);
      ++degree[from];
      table[static_cast<std::size_t>(kind_of[from]) * kinds +
            static_cast<std::size_t>(kind_of[to])] += 1;
      all[store.y()[g]] += 1;
    }
    // Each kind has the same degrees, but for an edge that found no place.
    std::vector<int> sums(kinds, 0);
    for (std::size_t v = 0; v < nodes; ++v) sums[static_cast<std::size_t>(kind_of[v])] += degree[v];
    CHECK(*std::max_element(sums.begin(), sums.end()) -
              *std::min_element(sums.begin(), sums.end()) <=
          3);
  }
  std::set<std::set<std::size_t>> pairings;
  for (const auto& [label, table] : joined) {
    std::set<std::size_t> pairs;
    double between_pairs = 0;
    for (std::size_t k = 0; k < kinds; ++k) {
      const auto row = table.begin() + static_cast<std::ptrdiff_t>(k * kinds);
      const auto most = std::max_element(row, row + static_cast<std::ptrdiff_t>(kinds));
      pairs.insert(static_cast<std::size_t>(most - table.begin()));
      between_pairs += *most;
    }
    pairings.insert(pairs);
    CHECK(between_pairs / all.at(label) > 0.75);
  }
  CHECK(pairings.size() == 6);
  CHECK(node_kinds(15) == 6);
  CHECK(node_kinds(16) == 8);
  CHECK(node_kinds(256) == 10);
}

}  // namespace
}  // namespace kdgat::data
