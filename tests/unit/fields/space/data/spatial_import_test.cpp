#include "fields/space/data/spatial_import.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/arrays/random.h"
#include "engine/arrays/spatial.h"
#include "fields/space/data/spatial_options.h"
#include "fields/space/data/subtrees.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/graphs/span_copy.h"
#include "support/graphs/synth_of.h"
#include "support/graphs/tar_text.h"
#include "support/programs/command.h"

namespace kdgat::space {
namespace {

using ImportChoices = graph::ImportOptionsWith<SpatialOptions>;

using test::copy;
using test::data_error;
using test::write_text;

constexpr const char* kNeuron = "1 1 0 0 0 1 -1\n2 3 0 0 3 1 1\n3 3 0 4 3 1 2\n4 2 2 0 0 1 1\n";

data::ImportReport import_to(const test::ScratchFolder& folder, const std::filesystem::path& source,
                             const ImportChoices& options = {}) {
  return graph::import_logs(source, folder / "out", options);
}

graph::GraphStore store_in(const test::ScratchFolder& folder) {
  graph::GraphStore store = graph::GraphStore::open(folder / "out/graphs.safetensors");
  CHECK(store.verify().empty());
  return store;
}

TEST_CASE("neurons of a folder become graphs with their labels", "[spatial_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/b.swc", kNeuron);
  write_text(folder / "in/deep/a.swc", "5 9 1 1 1 3 -1\n");
  write_text(folder / "in/labels.csv",
             "file,note,class,age\nb.swc,\"x, y\",old,7.5\na.swc,,new,\n");
  ImportChoices options;
  options.target_column = "age";
  const data::ImportReport report = import_to(folder, folder / "in", options);
  CHECK(report.rows == 5);
  CHECK(report.graphs == 2);
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0].message, Catch::Contains("column note is not used"));
  const graph::GraphStore store = store_in(folder);
  REQUIRE(store.positions() != nullptr);
  CHECK(store.node_features() == 9);
  CHECK(store.node_feature_names().back() == "log_radius");
  CHECK(store.targets()->classes == std::vector<std::string>{"new", "old"});
  CHECK(copy(store.y()) == std::vector<int32_t>{1, 0});
  CHECK(store.targets()->values[0] == 7.5F);
  CHECK(std::isnan(store.targets()->values[1]));
  CHECK(store.sources()[0].path == "b.swc");
  CHECK(store.sources()[1].path == "deep/a.swc");
  CHECK(copy(store.trees()->parent) == std::vector<int32_t>{-1, 0, 1, 0, -1});
  CHECK(copy(store.edge_source()) == std::vector<int32_t>{0, 0, 1, 1, 2, 3});
  CHECK(copy(store.edge_target()) == std::vector<int32_t>{1, 3, 0, 2, 1, 0});
  CHECK(copy(store.trees()->tour) == std::vector<int32_t>{0, 1, 2, 3, 0, 4, 3, 3, 4, 1});
  CHECK(copy(store.trees()->relations) == std::vector<int64_t>{3, 2, 2, 0, 0, 0});
  CHECK(copy(store.path_counts()->count) == std::vector<int64_t>{1, 1, 2, 2, 1});
  const auto x = store.x();
  CHECK(copy(x.subspan(0, 9)) == std::vector<float>{0, 1, 0, 0, 0, 0, 0, 0, std::log1p(1.0F)});
  CHECK(x[36 + 5] == 1);  // type 9 counts as 5
  const auto& facts = store.facts().at("spatial");
  CHECK(facts.at("are_trees") == true);
  CHECK(facts.at("targets") == 1);
  CHECK(facts.at("class_graphs") == std::vector<int>{1, 1});
  CHECK(facts.at("edge_length").at("median") == 3.0);
  CHECK(facts.at("paths").at("sum") == 7);
}

TEST_CASE("folders for train, val and test say what neurons are for", "[spatial_import]") {
  const test::ScratchFolder folder;
  for (const char* name : {"Train/a", "Train/b", "val/c", "Test/d", "deep/TEST/e", "f"}) {
    write_text(folder / "in" / (std::string(name) + ".swc"), kNeuron);
  }
  write_text(folder / "in/labels.csv", "file,class\na.swc,x\nz.swc,y\n");
  const data::ImportReport report = import_to(folder, folder / "in");
  const graph::Split split = graph::load_split(folder / "out/split.safetensors", store_in(folder));
  const auto names = [&](const std::string& part) {
    std::string out;
    const graph::GraphStore store = store_in(folder);
    for (const int64_t id : split.parts.at(part)) {
      out +=
          store.sources()[static_cast<std::size_t>(store.source_of()[static_cast<std::size_t>(id)])]
              .path +
          " ";
    }
    return out;
  };
  CHECK(names("test") == "Test/d.swc deep/TEST/e.swc ");
  CHECK(names("val") == "val/c.swc ");
  CHECK(names("train") == "Train/a.swc Train/b.swc f.swc ");
  std::string said;
  for (const data::Note& one : report.warnings) said += one.text() + "\n";
  CHECK_THAT(said, Catch::Contains("no graph has the label of z.swc") &&
                       Catch::Contains("taken for training: the folder itself (1)"));
}

TEST_CASE("a row of labels that neurons of two folders share is reported", "[spatial_import]") {
  const test::ScratchFolder folder;
  const auto said = [&](const char* in, const std::string& rows) {
    write_text(folder / in / "train/a.swc", kNeuron);
    write_text(folder / in / "test/a.swc", kNeuron);
    write_text(folder / in / "labels.csv", "file,class\n" + rows);
    std::string out;
    for (const data::Note& one : import_to(folder, folder / in).warnings) out += one.text() + "\n";
    return out;
  };
  CHECK_THAT(said("shared", "a.swc,x\n"),
             Catch::Contains("the row of a.swc labels files of several folders"));
  CHECK_THAT(said("named", "train/a.swc,x\ntest/a.swc,x\n"), !Catch::Contains("several"));
}

TEST_CASE("folders of neurons that contradict each other, or train none, are reported",
          "[spatial_import]") {
  const test::ScratchFolder folder;
  const auto said = [&](const char* in, std::vector<const char*> names) {
    for (const char* name : names) {
      write_text(folder / in / (std::string(name) + ".swc"), kNeuron);
    }
    std::string out;
    for (const data::Note& one : import_to(folder, folder / in).warnings) out += one.text() + "\n";
    return out;
  };
  CHECK_THAT(said("one", {"test/a", "test/b", "validation/c"}),
             Catch::Contains("none is for training"));
  CHECK_THAT(said("two", {"train/test/a", "train/b", "train/c"}), Catch::Contains("train"));
  CHECK(said("three", {"testis/a", "validated/b", "c", "d"}).empty());
}

TEST_CASE("a file, a folder and archives of the same neurons give the same graphs",
          "[spatial_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/a.swc", kNeuron);
  write_text(folder / "in/b.swc", "1 1 0 0 0 1 -1\n");
  write_text(folder / "labels.csv", "file,class\na.swc,1\nb.swc,2\n");
  ImportChoices options;
  options.labels = (folder / "labels.csv").string();
  const auto arrays = [&](const std::string& source) {
    import_to(folder, folder / source, options);
    const graph::GraphStore store = store_in(folder);
    return std::tuple(copy(store.x()), copy(store.positions()->pos), copy(store.y()),
                      copy(store.trees()->tour));
  };
  const auto wanted = arrays("in");
  // In the archive b stands first, and there is a file of another kind.
  const std::string archive =
      test::tar_entry("b.swc", "1 1 0 0 0 1 -1\n") + test::tar_entry("._a.swc", "junk") +
      test::tar_entry("a.swc", kNeuron) + test::tar_entry("readme", "text") + test::tar_end();
  write_text(folder / "n.tar", archive);
  test::write_gzip(folder / "n.tar.gz", archive);
  test::write_gzip(folder / "packed/n.tgz", archive);
  for (const std::string source : {"n.tar", "n.tar.gz", "packed"}) {
    INFO(source);
    CHECK(arrays(source) == wanted);
  }
  CHECK(import_to(folder, folder / "in/a.swc", options).graphs == 1);
  CHECK(import_to(folder, folder / "in/a.swc", options).reused);
  write_text(folder / "labels.csv", "file,class\na.swc,3\nb.swc,20\n");
  CHECK_FALSE(import_to(folder, folder / "in", options).reused);
  CHECK(store_in(folder).targets()->classes == std::vector<std::string>{"3", "20"});

  write_text(folder / "own.tar", test::tar_entry("labels.csv", "file,class\na.swc,own\n") +
                                     test::tar_entry("a.swc", kNeuron) + test::tar_end());
  CHECK(import_to(folder, folder / "own.tar").graphs == 1);
}

TEST_CASE("bad neurons are refused with their places, and leave nothing", "[spatial_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/a.swc", "1 1 0 0 0 0 -1\n");
  write_text(folder / "in/b.swc", kNeuron);
  write_text(folder / "in/c.swc", "1 1 0 0 0 1 -1\n2 1 0 0 0 1 -1\n");
  const std::string message = data_error([&] { import_to(folder, folder / "in"); });
  CHECK_THAT(message, Catch::Contains((folder / "in/a.swc").string() + ":1: the radius"));
  CHECK_THAT(message, Catch::Contains((folder / "in/c.swc").string() + ":2: a second root"));
  CHECK(std::filesystem::is_empty(folder / "out"));
  ImportChoices options;
  options.repair = {"radius", "roots"};
  const data::ImportReport report = import_to(folder, folder / "in", options);
  REQUIRE(report.warnings.size() == 2);
  CHECK(report.warnings[0].text() == "a.swc: repaired radius: 1 row of 1 file");
  CHECK(report.warnings[1].text() == "c.swc: repaired roots: 1 row of 1 file");
  CHECK(store_in(folder).sources()[2].malformed == 1);

  write_text(folder / "bad.tar", test::tar_entry("x.swc", "1 1 0\n") + test::tar_end());
  CHECK_THAT(data_error([&] { import_to(folder, folder / "bad.tar"); }),
             Catch::Contains("bad.tar/x.swc:1: too few fields: 3"));
  write_text(folder / "none.tar", test::tar_entry("x.txt", "1") + test::tar_end());
  CHECK_THAT(data_error([&] { import_to(folder, folder / "none.tar"); }),
             Catch::Contains("no .swc file in this archive"));
}

TEST_CASE("labels that do not fit are refused or told", "[spatial_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/a.swc", kNeuron);
  const auto fails = [&](const std::string& labels, const ImportChoices& options = {}) {
    write_text(folder / "in/labels.csv", labels);
    return data_error([&] { import_to(folder, folder / "in", options); });
  };
  const std::string name = (folder / "in/labels.csv").string();
  CHECK(fails("file,kind\na.swc,1\n") ==
        name + ":1: no column 'class'\n  hint: its columns: file, kind");
  CHECK(fails("class\n1\n") == name + ":1: no column 'file'\n  hint: its columns: class");
  CHECK(fails("file,class\na.swc\n") == name + ":2: 1 fields, the header has 2");
  CHECK(fails("file,class\na.swc,1\na.swc,2\n") == name + ":3: 'a.swc' appears twice");
  CHECK(fails("file,class\na.swc,0.25\n") ==
        name +
            ":2: class is 0.25, not the number or name of a class\n"
            "  hint: for numbers to be predicted: data.target_column=class");
  CHECK(fails("file,class\na.swc,\"1\n") == name + ":2: a quoted field does not end in its line");
  CHECK(fails("file,\"class\na.swc,1\n") == name + ":1: a quoted field does not end in its line");
  CHECK(fails("file,class\n,1\n") == name + ":2: no file");
  ImportChoices options;
  options.target_column = "age";
  CHECK(fails("file,age\na.swc,old\n", options) == name + ":2: age is not a number: old");
  CHECK(fails("file,age\na.swc,1e2\n", options).empty());  // no classes, but targets
  CHECK(store_in(folder).targets()->classes.empty());
  options.labels = (folder / "absent.csv").string();
  CHECK_THAT(data_error([&] { import_to(folder, folder / "in", options); }),
             Catch::Contains("absent.csv: no such file"));
  write_text(folder / "in/labels.csv", "file,class\nother.swc,1\n");
  const data::ImportReport report = import_to(folder, folder / "in");
  REQUIRE(report.warnings.size() == 2);
  CHECK_THAT(report.warnings[0].message, Catch::Contains("1 file without a row"));
  CHECK_THAT(report.warnings[1].message, Catch::Contains("no graph has the label of other.swc"));
  CHECK(store_in(folder).y()[0] == -1);
}

TEST_CASE("options of logs do not matter to graphs in space, nor these to logs",
          "[spatial_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "n.swc", kNeuron);
  write_text(folder / "log.csv",
             "timestamp,arbitration_id,data_field,attack\n1.0,1A0,00,0\n1.1,1A1,00,0\n");
  ImportChoices plain, other = plain;
  other.window = 50;
  CHECK(graph::import_fingerprint(folder / "n.swc", plain) ==
        graph::import_fingerprint(folder / "n.swc", other));
  CHECK(graph::import_fingerprint(folder / "log.csv", plain) !=
        graph::import_fingerprint(folder / "log.csv", other));
  other = plain;
  other.neighbours = 4;
  CHECK(graph::import_fingerprint(folder / "log.csv", plain) ==
        graph::import_fingerprint(folder / "log.csv", other));
  CHECK(graph::import_fingerprint(folder / "n.swc", plain) !=
        graph::import_fingerprint(folder / "n.swc", other));
  // As before there were graphs in space.
  const nlohmann::json of_logs = data::all_domains().front()->import_identity(dump_options(plain));
  CHECK(of_logs.size() == 14);
  CHECK_FALSE(of_logs.contains("folds"));
}

TEST_CASE("places and radii are divided by the median edge of their neuron", "[spatial_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "n.swc", kNeuron);  // edges of 3, 4 and 2
  ImportChoices options;
  options.normalise = "graph_source";
  import_to(folder, folder / "n.swc", options);
  const graph::GraphStore store = store_in(folder);
  CHECK(store.positions()->pos[5] == 1);
  CHECK(store.x()[8] == Approx(std::log1p(1.0 / 3)));
  CHECK(store.facts().at("spatial").at("edge_length").at("median") == 1.0);
}

TEST_CASE("shares are even as far as there are branch points", "[spatial_import]") {
  CHECK(even_shares({10, 10, 10}, 9) == std::vector<int64_t>{3, 3, 3});
  CHECK(even_shares({10, 1, 10}, 9) == std::vector<int64_t>{4, 1, 4});
  CHECK(even_shares({2, 1, 0}, 9) == std::vector<int64_t>{2, 1, 0});
  const auto shares = even_shares({5, 5, 5}, 7);
  CHECK(std::accumulate(shares.begin(), shares.end(), int64_t{0}) == 7);
  CHECK(*std::max_element(shares.begin(), shares.end()) == 3);
  CHECK(even_shares({}, 3).empty());
}

TEST_CASE("subtrees are whole where they fit, else what is nearest the branch point",
          "[spatial_import]") {
  //      0 - 1 - 2, 3 below 1, 4 below 3, 5 below 0
  const std::vector<int32_t> parent = {-1, 0, 1, 1, 3, 0};
  const BranchPoints points = branch_points(parent, 3, 4);
  CHECK(points.fitting == std::vector<int32_t>{1});
  CHECK(points.larger == std::vector<int32_t>{0});
  CHECK(subtree(parent, 1, 4) == std::vector<int32_t>{1, 2, 3, 4});
  CHECK(subtree(parent, 0, 4) == std::vector<int32_t>{0, 1, 2, 5});
  arrays::Random random(1);
  CHECK(choose(points, 1, random) == std::vector<int32_t>{1});
  CHECK(choose(points, 9, random) == std::vector<int32_t>{0, 1});
}

TEST_CASE("samples of synthetic trees have the sizes and labels asked for", "[spatial_import]") {
  const test::ScratchFolder folder;
  graph::write_synthetic(folder / "trees", test::synth_of("tree", 6, 400));
  ImportChoices options;
  options.subtrees = 60;
  options.min_nodes = 20;
  options.max_nodes = 80;
  CHECK(import_to(folder, folder / "trees", options).graphs == 60);
  const graph::GraphStore store = store_in(folder);
  std::set<std::vector<float>> different;
  for (int64_t g = 0; g < store.graphs(); ++g) {
    const auto at = static_cast<std::size_t>(g);
    const auto first = static_cast<std::size_t>(store.node_ptr()[at]);
    const auto nodes = static_cast<std::size_t>(store.node_ptr()[at + 1]) - first;
    CHECK(nodes >= 20);
    CHECK(nodes <= 80);
    const auto parent = store.trees()->parent.subspan(first, nodes);
    const arrays::Children children = arrays::children_of(parent);
    REQUIRE(children.roots.size() == 1);
    CHECK(children.of(children.roots[0]).size() >= 2);
    CHECK(store.y()[at] == store.source_of()[at] % 3);
    different.insert(copy(store.positions()->pos.subspan(3 * first, 3 * nodes)));
  }
  CHECK(different.size() == 60);
  for (const graph::Source& source : store.sources()) CHECK(source.graphs == 10);
  const std::string hash = store.content_hash();
  options.subtree_seed = 2;
  import_to(folder, folder / "trees", options);
  CHECK(store_in(folder).content_hash() != hash);
  options.min_nodes = options.max_nodes = 4000;
  CHECK_THAT(data_error([&] { import_to(folder, folder / "trees", options); }),
             Catch::Contains("no branch point has 4000 nodes below it"));
}

TEST_CASE("a table of points becomes graphs of nearest neighbours", "[spatial_import]") {
  const test::ScratchFolder folder;
  const std::string table =
      "graph,x,y,red,flat\n"
      "b,0,0,1,2\na,0,0,5,0\nb,1,0,2,2\nb,3,0,3,2\nb,7,0.5,6,2\n";
  write_text(folder / "in/centroids.csv", table);
  write_text(folder / "in/labels.csv", "graph,class\na,1\nb,0\n");
  ImportChoices options;
  options.neighbours = 1;
  const data::ImportReport report = import_to(folder, folder / "in", options);
  CHECK(report.rows == 5);
  const graph::GraphStore store = store_in(folder);
  CHECK(store.graphs() == 2);
  CHECK(store.node_feature_names() == std::vector<std::string>{"red", "flat"});
  CHECK(copy(store.y()) == std::vector<int32_t>{0, 1});  // b stands first
  CHECK(copy(store.edge_source()) == std::vector<int32_t>{0, 1, 2, 3});
  CHECK(copy(store.edge_target()) == std::vector<int32_t>{1, 0, 1, 2});
  CHECK(copy(store.trees()->parent) == std::vector<int32_t>{1, 2, -1, 2, -1});
  CHECK(store.positions()->pos[10] == 0.5F);
  CHECK(store.positions()->pos[11] == 0);
  // Red of b is 1, 2, 3, 6: mean 3, variance 3.5.
  CHECK(store.x()[0] == Approx(-2 / std::sqrt(3.5)));
  CHECK(store.x()[1] == 0);
  CHECK(store.x()[6] == Approx(3 / std::sqrt(3.5)));
  CHECK(store.facts().at("spatial").at("are_trees") == false);

  options.standardise = false;
  import_to(folder, folder / "in", options);
  CHECK(store_in(folder).x()[0] == 1);
  CHECK(import_to(folder, folder / "in/centroids.csv", options).graphs == 2);

  const auto fails = [&](const std::string& text) {
    write_text(folder / "bad.csv", text);
    ImportChoices forced;
    forced.format = "superpixel";
    return data_error([&] { import_to(folder, folder / "bad.csv", forced); });
  };
  const std::string name = (folder / "bad.csv").string();
  CHECK(fails("graph,x,y\na,0,zero\n") == name + ":2: y is not a number: zero");
  CHECK(fails("graph,x,y\na,0,nan\n") == name + ":2: y is not a number: nan");
  CHECK(fails("graph,x,y\na,0\n") == name + ":2: 2 fields, the header has 3");
  CHECK(fails("graph,x,y\n") == name + ": no point");
  CHECK(fails("graph,x,y\na,0,1\n,1,1\n") == name + ":3: no graph");
  CHECK(fails("graph,x,y\n\"a,0,1\n") == name + ":2: a quoted field does not end in its line");
  CHECK_THAT(fails("graph,x\na,0\n"), Catch::Contains("no column 'y'"));
  CHECK(fails("graph,x,y\na,0,0\na,1,1\n").empty());  // without features
  CHECK(store_in(folder).node_feature_names() == std::vector<std::string>{"one"});
}

/// A file as another program would write it; `change` takes tensors away or alters them.
struct Foreign {
  std::vector<double> x = {1, 2, 3, 4, 5};
  std::vector<float> pos = {0, 0, 1, 0, 2, 0, 0, 0, 0, 5};
  std::vector<int64_t> edges = {0, 1, 1, 1, 0, 1, 1, 2, 2, 1};
  std::vector<int64_t> node_ptr = {0, 3, 5}, edge_ptr = {0, 4, 5}, y = {4, -1}, parent;

  void write(const std::filesystem::path& path) const {
    file::SafetensorsWriter writer;
    writer.add("x", {5, 1}, std::span(x));
    writer.add("pos", {5, 2}, std::span(pos));
    writer.add("edge_index", {2, 5}, std::span(edges));
    if (!node_ptr.empty()) writer.add("node_ptr", {3}, std::span(node_ptr));
    if (!edge_ptr.empty()) writer.add("edge_ptr", {3}, std::span(edge_ptr));
    if (!y.empty()) writer.add("y", {static_cast<int64_t>(y.size())}, std::span(y));
    if (!parent.empty()) writer.add("parent", {5}, std::span(parent));
    writer.write(path);
  }
};

TEST_CASE("spatial graphs of other programs are read, and repeated edges left out",
          "[spatial_import]") {
  const test::ScratchFolder folder;
  Foreign foreign;
  foreign.write(folder / "f.safetensors");
  const data::ImportReport report = import_to(folder, folder / "f.safetensors");
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0].message, Catch::Contains("1 that stood twice, 1 from a node to"));
  const graph::GraphStore store = store_in(folder);
  CHECK(copy(store.x()) == std::vector<float>{1, 2, 3, 4, 5});
  CHECK(copy(store.edge_source()) == std::vector<int32_t>{0, 1, 0});
  CHECK(copy(store.edge_target()) == std::vector<int32_t>{1, 2, 1});
  CHECK(copy(store.trees()->parent) == std::vector<int32_t>{1, -1, 1, -1, 0});
  CHECK(store.targets()->classes == std::vector<std::string>{"4"});
  CHECK(copy(store.y()) == std::vector<int32_t>{0, -1});

  foreign.parent = {-1, 0, 1, 1, -1};
  foreign.write(folder / "f.safetensors");
  import_to(folder, folder / "f.safetensors");
  CHECK(copy(store_in(folder).trees()->parent) == std::vector<int32_t>{-1, 0, 1, 1, -1});

  Foreign one;  // a single graph
  one.node_ptr = one.edge_ptr = one.y = {};
  one.write(folder / "f.safetensors");
  CHECK(import_to(folder, folder / "f.safetensors").graphs == 1);

  const auto fails = [&](const Foreign& bad) {
    bad.write(folder / "f.safetensors");
    return data_error([&] { import_to(folder, folder / "f.safetensors"); });
  };
  Foreign bad;
  bad.edges[4] = 2;  // of the second graph, which has two nodes
  CHECK_THAT(fails(bad), Catch::Contains("graph 1 has an edge to node 2 of 2") &&
                             Catch::Contains("local to their graph"));
  bad = {};
  bad.edges[0] = int64_t{1} << 40;
  CHECK_THAT(fails(bad), Catch::Contains("edge_index holds a number that is too large"));
  bad = {};
  bad.parent = {1, 0, 0, -1, 0};
  CHECK_THAT(fails(bad), Catch::Contains("the parents of graph 0 do not form a forest"));
  bad = {};
  bad.pos[3] = NAN;
  CHECK_THAT(fails(bad), Catch::Contains("not finite"));
  bad = {};
  bad.node_ptr = {0, 4, 3};
  CHECK_THAT(fails(bad), Catch::Contains("node_ptr does not cut 0 .. 5 into graphs"));
  bad = {};
  bad.edge_ptr = {};
  CHECK_THAT(fails(bad), Catch::Contains("not of the same graphs"));
  bad = {};
  bad.y = {1};
  CHECK_THAT(fails(bad), Catch::Contains("y has 1 numbers, not 2"));
}

TEST_CASE("real neurons are cut into samples", "[spatial_import]") {
  const auto neurons = test::shared_path("data/swc");
  if (!neurons) return;
  const test::ScratchFolder folder;
  CHECK_THAT(data_error([&] { import_to(folder, *neurons); }),
             Catch::Contains("the radius is not positive"));
  ImportChoices options;
  options.repair = {"radius"};
  CHECK(import_to(folder, *neurons, options).graphs == 59);
  CHECK(store_in(folder).targets()->classes.size() == 8);
  options.subtrees = 1000;
  options.normalise = "graph_source";
  options.folds = 4;
  const data::ImportReport report = import_to(folder, *neurons, options);
  CHECK(report.graphs == 1000);
  const graph::GraphStore store = store_in(folder);
  for (const auto& nodes : {store.facts().at("nodes")}) {
    CHECK(nodes.at("max") <= 256);
    CHECK(nodes.at("p50") >= 64);
  }
  const graph::Split split = graph::load_split(folder / "out/split.safetensors", store);
  for (const auto& [part, ids] : split.parts) {
    std::set<int32_t> classes;
    for (const int64_t id : ids) classes.insert(store.y()[static_cast<std::size_t>(id)]);
    INFO(part);
    CHECK(classes.size() == 8);
  }
}

}  // namespace
}  // namespace kdgat::space
