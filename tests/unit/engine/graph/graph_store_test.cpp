#include "engine/graph/graph_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>

#include "engine/graph/verified_files.h"
#include "support/graphs/random_graphs.h"
#include "support/graphs/span_copy.h"
#include "support/graphs/store_problems.h"
#include "support/graphs/variable.h"
#include "support/programs/command.h"
#include "support/programs/python.h"

namespace kdgat::graph {
namespace {

using test::copy;
using test::random_graphs;
using test::RandomGraphs;

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Flips one bit of the first value of a tensor, without changing the file's size.
void damage(const std::filesystem::path& path, const std::string& tensor) {
  std::string bytes = test::read_text(path);
  const file::SafetensorsFile file =
      file::SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "damage");
  const auto at = reinterpret_cast<const char*>(file.tensor(tensor).data) - bytes.data();
  bytes[static_cast<std::size_t>(at)] ^= 1;
  std::ofstream(path, std::ios::binary | std::ios::in) << bytes;
}

TEST_CASE("a graph store holds what it was made from", "[store]") {
  const test::ScratchFolder folder;
  RandomGraphs wanted;
  wanted.files = {30, 1, 20};
  wanted.test_scenarios = {"test_01"};
  const GraphStoreData data = random_graphs(wanted);
  write_graph_store(folder / "g", data);
  const GraphStore store = GraphStore::open(folder / "g");
  CHECK(store.path() == folder / "g");
  CHECK(store.graphs() == 51);
  CHECK(store.nodes() == data.node_ptr.back());
  CHECK(store.edges() == data.edge_ptr.back());
  CHECK(store.node_features() == 3);
  CHECK(store.edge_features() == 2);
  REQUIRE(store.ids() != nullptr);
  CHECK(store.ids()->count() == 6);
  CHECK(copy(store.x()) == data.x);
  CHECK(copy(store.edge_source()) == data.edge_source);
  CHECK(copy(store.edge_target()) == data.edge_target);
  CHECK(copy(store.edge_attr()) == data.edge_attr);
  CHECK(copy(store.y()) == data.y);
  CHECK(copy(store.node_ptr()) == data.node_ptr);
  CHECK(copy(store.edge_ptr()) == data.edge_ptr);
  CHECK(copy(store.row_begin()) == data.row_begin);
  CHECK(copy(store.row_end()) == data.row_end);
  CHECK(copy(store.source_of()) == data.source_of);
  CHECK(copy(store.ids()->vocabulary) == data.sections.ids->vocabulary);
  CHECK(store.node_feature_names() == data.node_feature_names);
  CHECK(store.edge_feature_names() == data.edge_feature_names);
  CHECK(store.options() == data.options);
  REQUIRE(store.sources().size() == 3);
  CHECK(nlohmann::json(store.sources()) == nlohmann::json(data.sources));
  CHECK(store.verify().empty());
}

TEST_CASE("target_order sorts the edges of each graph by target and source", "[store]") {
  const test::ScratchFolder folder;
  const GraphStore store = test::random_store(folder / "g");
  for (int64_t g = 0; g < store.graphs(); ++g) {
    const int64_t begin = store.edge_ptr()[g], size = store.edge_ptr()[g + 1] - begin;
    std::vector<std::pair<int32_t, int32_t>> wanted, found;
    for (int64_t e = begin; e < begin + size; ++e) {
      wanted.emplace_back(store.edge_target()[e], store.edge_source()[e]);
      const int64_t at = begin + store.target_order()[e];
      found.emplace_back(store.edge_target()[at], store.edge_source()[at]);
    }
    std::sort(wanted.begin(), wanted.end());
    REQUIRE(found == wanted);
  }
}

TEST_CASE("the facts of a store are those of its arrays", "[store]") {
  const test::ScratchFolder folder;
  GraphStoreData data;
  data.node_features = 1;
  data.node_feature_names = {"id"};
  data.sections.ids = {{1, 2}};
  data.sources = {{"a.csv", "", "train", "hcrl", 100, 0, 0, 100}};
  for (int64_t g = 0; g < 100; ++g) {  // 1, 2, ... 100 nodes and no edges
    data.node_ptr.push_back(data.node_ptr.back() + g + 1);
    data.edge_ptr.push_back(0);
    data.y.push_back(g < 10 ? 1 : g < 30 ? -1 : 0);
    data.source_of.push_back(0);
    data.row_begin.push_back(g);
    data.row_end.push_back(g + 1);
  }
  data.x.resize(5050);
  write_graph_store(folder / "g", data);
  CHECK(GraphStore::open(folder / "g").facts() ==
        nlohmann::json::parse(R"({"graphs":100,"attack":10,"benign":70,"unlabelled":20,
          "num_ids":3,"node_features":1,"edge_features":0,
          "nodes":{"p50":50,"p95":95,"p99":99,"max":100,"sum":5050},
          "edges":{"p50":0,"p95":0,"p99":0,"max":0,"sum":0}})"));
}

TEST_CASE("a store may be empty", "[store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", GraphStoreData{});
  const GraphStore store = GraphStore::open(folder / "g", Check::kAlways);
  CHECK(store.graphs() == 0);
  CHECK(store.nodes() == 0);
  CHECK(store.ids() == nullptr);
  CHECK(store.facts()["nodes"]["max"] == 0);
  CHECK(store.verify().empty());
}

TEST_CASE("the content hash follows every array and every word of the header", "[store]") {
  const test::ScratchFolder folder;
  const GraphStoreData data = random_graphs({});
  const auto hash = [&folder](const GraphStoreData& changed) {
    write_graph_store(folder / "g", changed);
    return GraphStore::open(folder / "g").content_hash();
  };
  const std::string original = hash(data);
  CHECK(hash(data) == original);
  GraphStoreData changed = data;
  changed.x[7] += 1;
  CHECK(hash(changed) != original);
  changed = data;
  changed.edge_attr.back() += 1;
  CHECK(hash(changed) != original);
  changed = data;
  changed.sources[0].malformed = 1;
  CHECK(hash(changed) != original);
  changed = data;
  changed.options["window"] = 50;
  CHECK(hash(changed) != original);
}

TEST_CASE("arrays that do not agree are not written", "[store]") {
  const test::ScratchFolder folder;
  const std::vector<std::pair<const char*, std::function<void(GraphStoreData&)>>> faults = {
      {"differ in length", [](GraphStoreData& d) { d.row_end.pop_back(); }},
      {"differ in length", [](GraphStoreData& d) { d.node_ptr.clear(); }},
      {"feature names", [](GraphStoreData& d) { d.edge_feature_names.pop_back(); }},
      {"node_ptr does not start at 0", [](GraphStoreData& d) { d.node_ptr[0] = 1; }},
      {"node_ptr decreases", [](GraphStoreData& d) { d.node_ptr[3] = d.node_ptr[5]; }},
      {"edge_ptr does not end", [](GraphStoreData& d) { ++d.edge_ptr.back(); }},
      {"x does not match", [](GraphStoreData& d) { d.x.pop_back(); }},
      {"edge_attr does not match", [](GraphStoreData& d) { d.edge_attr.push_back(0); }},
      {"without source or target", [](GraphStoreData& d) { d.edge_target.pop_back(); }},
      {"outside its graph", [](GraphStoreData& d) { d.edge_target[0] = 12; }},
      {"outside its graph", [](GraphStoreData& d) { d.edge_source[0] = -1; }},
      {"the label 2", [](GraphStoreData& d) { d.y[0] = 2; }},
      {"source that is not listed", [](GraphStoreData& d) { d.source_of[0] = 1; }},
      {"row range", [](GraphStoreData& d) { d.row_end[0] = -1; }},
      {"the role ''", [](GraphStoreData& d) { d.sources[0].role = ""; }},
      {"strictly ascending",
       [](GraphStoreData& d) { d.sections.ids->vocabulary[1] = d.sections.ids->vocabulary[0]; }},
  };
  for (const auto& [message, spoil] : faults) {
    GraphStoreData data = random_graphs({});
    spoil(data);
    INFO(message);
    CHECK_THROWS_WITH(write_graph_store(folder / "g", data), Catch::Contains(message));
    CHECK_FALSE(std::filesystem::exists(folder / "g"));
  }
  GraphStoreData data = random_graphs({});
  std::size_t g = 0;
  while (data.edge_ptr[g + 1] - data.edge_ptr[g] < 2) ++g;
  std::swap(data.edge_source[data.edge_ptr[g]], data.edge_source[data.edge_ptr[g] + 1]);
  std::swap(data.edge_target[data.edge_ptr[g]], data.edge_target[data.edge_ptr[g] + 1]);
  CHECK_THROWS_WITH(write_graph_store(folder / "g", data), Catch::Contains("ordered"));
}

TEST_CASE("a truncated store is refused wherever it is cut", "[store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", random_graphs({}));
  const std::string bytes = test::read_text(folder / "g");
  const file::SafetensorsFile file =
      file::SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "g");
  std::vector<std::size_t> cuts = {0, 7, 8, 9, 100, bytes.size() - 1};
  for (const auto& [name, view] : file.tensors()) {
    const auto at =
        static_cast<std::size_t>(reinterpret_cast<const char*>(view.data) - bytes.data());
    cuts.insert(cuts.end(), {at - 1, at, at + 1, at + view.bytes - 1});
  }
  for (const std::size_t cut : cuts) {
    INFO("cut to " << cut << " of " << bytes.size() << " bytes");
    write_text(folder / "cut", bytes.substr(0, cut));
    CHECK_THROWS_AS(GraphStore::open(folder / "cut"), Error);
  }
}

TEST_CASE("a changed header is refused on opening", "[store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", random_graphs({}));
  std::string bytes = test::read_text(folder / "g");
  bytes.replace(bytes.find("log_0.csv"), 9, "log_1.csv");
  write_text(folder / "g", bytes);
  CHECK_THROWS_WITH(GraphStore::open(folder / "g"),
                    Catch::Contains("header differs from its hash"));
}

TEST_CASE("changed data is found by verify, in every tensor", "[store]") {
  const test::ScratchFolder folder;
  for (const char* name : {"x", "edge_index", "target_order", "edge_attr", "y", "row_begin",
                           "row_end", "vocabulary"}) {
    write_graph_store(folder / "g", random_graphs({}));
    damage(folder / "g", name);
    INFO(name);
    CHECK_FALSE(test::problems_of<GraphStore>(folder / "g").empty());
    CHECK_THROWS_WITH(GraphStore::open(folder / "g"),
                      Catch::Contains("tensor '" + std::string(name) + "' differs from its hash"));
  }
}

TEST_CASE("data hashes are checked once for each identity of a file", "[store]") {
  const test::ScratchFolder folder;
  const test::Variable cache("XDG_CACHE_HOME", (folder / "cache").string());
  write_graph_store(folder / "g", random_graphs({}));
  const GraphStore store = GraphStore::open(folder / "g");
  GraphStore::open(folder / "g");
  const std::filesystem::path list = folder / "cache" / "kdgat" / "verified";
  const std::string remembered = test::read_text(list);
  CHECK(std::count(remembered.begin(), remembered.end(), '\n') == 1);

  struct stat before {};
  REQUIRE(::stat((folder / "g").c_str(), &before) == 0);
  damage(folder / "g", "edge_attr");
  CHECK_NOTHROW(GraphStore::open(folder / "g", Check::kRanges));
  const auto refuses = [&](Check check) {
    CHECK_THROWS_WITH(GraphStore::open(folder / "g", check),
                      Catch::Contains("differs from its hash"));
  };
  refuses(Check::kOnce);
  // With its old time it is still another file: it was changed.
  const struct timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, (folder / "g").c_str(), times, 0) == 0);
  refuses(Check::kOnce);

  // A bit that the disk itself lost leaves no trace: it is found after a day, or when asked for.
  const std::string identity = identity_of(folder / "g", store.content_hash());
  const auto verified_before = [&](int64_t seconds) {
    write_text(list, identity + " " + std::to_string(std::time(nullptr) - seconds) + "\n");
  };
  verified_before(23 * 3600);
  CHECK_NOTHROW(GraphStore::open(folder / "g"));
  refuses(Check::kAlways);
  verified_before(25 * 3600);
  refuses(Check::kOnce);
  verified_before(-3600);  // by a clock that was wrong
  refuses(Check::kOnce);
}

TEST_CASE("the list of verified files does not grow for ever", "[store]") {
  const test::ScratchFolder folder;
  const test::Variable cache("XDG_CACHE_HOME", (folder / "cache").string());
  const std::filesystem::path list = folder / "cache" / "kdgat" / "verified";
  const std::string now = std::to_string(std::time(nullptr));
  std::filesystem::create_directories(list.parent_path());
  std::string old = "recent " + now + "\n";
  while (old.size() < 100'000) old += "old 1000\n";
  write_text(list, old);
  remember_verified("new");
  const std::string kept = test::read_text(list);
  CHECK(kept.starts_with("recent " + now + "\nnew "));
  CHECK(std::count(kept.begin(), kept.end(), '\n') == 2);
  CHECK(is_verified("recent"));
  CHECK(is_verified("new"));
  CHECK_FALSE(is_verified("old"));
  CHECK_FALSE(is_verified("rec"));
}

TEST_CASE("a cache folder that cannot be written does not matter", "[store]") {
  const test::ScratchFolder folder;
  write_text(folder / "file", "");
  const test::Variable cache("XDG_CACHE_HOME", (folder / "file").string());
  write_graph_store(folder / "g", random_graphs({}));
  CHECK_NOTHROW(GraphStore::open(folder / "g"));
}

TEST_CASE("Python's safetensors opens a graph store and its split", "[store]") {
  const std::optional<std::string> python = test::python_with_safetensors();
  if (!python) return;
  const test::ScratchFolder folder;
  const GraphStore store = test::random_store(folder / "graphs.safetensors");
  const Split split = make_split(store, {});
  write_split(folder / "split.safetensors", split);
  write_text(
      folder / "read.py",
      "from safetensors.numpy import load_file\n"
      "g, s = load_file('graphs.safetensors'), load_file('split.safetensors')\n"
      "print(*g['x'].shape, *g['edge_index'].shape, g['node_ptr'][-1], s['val'].tolist())\n");
  std::string val;
  for (const int64_t id : split.parts.at("val")) {
    val += (val.empty() ? "" : ", ") + std::to_string(id);
  }
  const test::CommandResult result = test::run_shell(*python + " read.py", folder.path());
  CHECK(result.err.empty());
  CHECK(result.out == std::to_string(store.nodes()) + " 3 2 " + std::to_string(store.edges()) +
                          " " + std::to_string(store.nodes()) + " [" + val + "]\n");
}

/// A store of three graphs written tensor by tensor, so that a test may write what
/// write_graph_store() would refuse.
struct HandMade {
  static constexpr const char* kFacts =
      R"({"graphs":3,"attack":1,"benign":1,"unlabelled":1,"num_ids":3,"node_features":1,
          "edge_features":1,"nodes":{"p50":2,"p95":3,"p99":3,"max":3,"sum":6},
          "edges":{"p50":2,"p95":2,"p99":2,"max":2,"sum":4}})";
  std::vector<float> x = {0, 1, 2, 0, 1, 0};
  std::vector<int32_t> edge_index = {0, 1, 0, 1, 0, 1, 0, 0};  // sources, then targets
  std::vector<int32_t> target_order = {0, 1, 1, 0};
  std::vector<float> edge_attr = {1, 2, 3, 4};
  std::vector<int32_t> y = {0, 1, -1}, source_of = {0, 0, 0};
  std::vector<int64_t> node_ptr = {0, 3, 5, 6}, edge_ptr = {0, 2, 4, 4};
  std::vector<int64_t> row_begin = {0, 10, 20}, row_end = {10, 20, 30}, vocabulary = {5, 6};
  std::map<std::string, std::string> metadata = {{"format", "kdgat.graphs"},
                                                 {"version", "1"},
                                                 {"sources", ""},
                                                 {"node_feature_names", "[\"id\"]"},
                                                 {"options", "{}"},
                                                 {"edge_feature_names", "[\"gap\"]"},
                                                 {"facts", kFacts}};

  HandMade() {
    metadata["sources"] =
        nlohmann::json(std::vector<Source>{{"a.csv", "", "train", "hcrl", 30, 0, 0, 3}}).dump();
  }
  std::filesystem::path write(const test::ScratchFolder& folder) const {
    file::SafetensorsWriter writer;
    const auto add = [&writer](const char* name, std::vector<int64_t> shape, const auto& values) {
      writer.add(name, std::move(shape), std::span(values));
    };
    const auto size = [](const auto& values) { return static_cast<int64_t>(values.size()); };
    add("x", {size(x), 1}, x);
    add("edge_index", {2, size(edge_index) / 2}, edge_index);
    add("target_order", {size(target_order)}, target_order);
    add("edge_attr", {size(edge_attr), 1}, edge_attr);
    add("y", {size(y)}, y);
    add("source_of", {size(source_of)}, source_of);
    add("node_ptr", {size(node_ptr)}, node_ptr);
    add("edge_ptr", {size(edge_ptr)}, edge_ptr);
    add("row_begin", {size(row_begin)}, row_begin);
    add("row_end", {size(row_end)}, row_end);
    add("vocabulary", {size(vocabulary)}, vocabulary);
    for (const auto& [key, value] : metadata) writer.metadata(key, value);
    writer.write(folder / "hand", true);
    return folder / "hand";
  }
};

TEST_CASE("opening refuses arrays that do not fit together", "[store]") {
  const test::ScratchFolder folder;
  // Graph 1's edges are (0,0) and (1,0): both into node 0, in the order of their sources.
  HandMade sound;
  sound.target_order = {0, 1, 0, 1};
  const GraphStore store = GraphStore::open(sound.write(folder));
  CHECK(store.graphs() == 3);
  CHECK(store.verify().empty());

  const std::vector<std::pair<const char*, std::function<void(HandMade&)>>> faults = {
      {"not a graph store", [](HandMade& s) { s.metadata["format"] = "kdgat.split"; }},
      {"not a graph store", [](HandMade& s) { s.metadata.erase("format"); }},
      {"format version 2", [](HandMade& s) { s.metadata["version"] = "2"; }},
      {"no metadata 'facts'", [](HandMade& s) { s.metadata.erase("facts"); }},
      {"malformed metadata", [](HandMade& s) { s.metadata["facts"] = "{"; }},
      {"malformed metadata", [](HandMade& s) { s.metadata["sources"] = "[{}]"; }},
      {"'node_ptr' has shape", [](HandMade& s) { s.node_ptr = s.edge_ptr = {0}; }},
      {"'row_end' has shape", [](HandMade& s) { s.row_end.pop_back(); }},
      {"'target_order' has shape", [](HandMade& s) { s.target_order.pop_back(); }},
      {"node_ptr does not start at 0", [](HandMade& s) { s.node_ptr[0] = 1; }},
      {"node_ptr does not end at 6", [](HandMade& s) { s.node_ptr[3] = 7; }},
      {"node_ptr decreases after graph 1", [](HandMade& s) { s.node_ptr[1] = 6; }},
      {"edge_ptr does not end at 4", [](HandMade& s) { s.edge_ptr[3] = 3; }},
      {"edge_ptr decreases", [](HandMade& s) { s.edge_ptr[1] = -1; }},
      {"source that is not listed", [](HandMade& s) { s.source_of[1] = 1; }},
      {"source that is not listed", [](HandMade& s) { s.source_of[1] = -1; }},
  };
  for (const auto& [message, spoil] : faults) {
    HandMade spoilt = sound;
    spoil(spoilt);
    INFO(message);
    std::string found = "opened";
    try {
      GraphStore::open(spoilt.write(folder));
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kData);
      found = error.what();
    }
    CHECK_THAT(found, Catch::Contains(message));
  }
}

TEST_CASE("verify finds features that are no numbers", "[store]") {
  const test::ScratchFolder folder;
  GraphStoreData data = random_graphs({});
  data.x[1] = std::nanf("");
  write_graph_store(folder / "g", data);
  CHECK(test::problems_of<GraphStore>(folder / "g") ==
        "graph 0 has a node feature that is not finite; ");
}

TEST_CASE("verify names the first graph of each kind of fault", "[store]") {
  const test::ScratchFolder folder;
  HandMade sound;
  sound.target_order = {0, 1, 0, 1};
  const std::vector<std::pair<const char*, std::function<void(HandMade&)>>> faults = {
      {"graph 1 has an edge that names a node", [](HandMade& s) { s.edge_index[6] = 2; }},
      {"graph 0 has an edge that is not ordered",
       [](HandMade& s) {
         s.edge_index[1] = 0;
         s.edge_index[5] = 0;
       }},
      {"graph 1 has a target_order",
       [](HandMade& s) { std::swap(s.target_order[2], s.target_order[3]); }},
      {"graph 0 has a target_order", [](HandMade& s) { s.target_order[0] = 1 << 30; }},
      {"graph 2 has a label", [](HandMade& s) { s.y[2] = 7; }},
      {"graph 0 has a node whose id", [](HandMade& s) { s.x[2] = 3; }},
      {"graph 1 has a node whose id", [](HandMade& s) { s.x[4] = 0.5F; }},
      {"graph 0 has a node whose id", [](HandMade& s) { s.x[2] = std::nanf(""); }},
      {"graph 0 has an edge feature",
       [](HandMade& s) { s.edge_attr[1] = std::numeric_limits<float>::infinity(); }},
      {"graph 1 has a malformed row range", [](HandMade& s) { s.row_end[1] = 9; }},
      {"the vocabulary",
       [](HandMade& s) {
         s.vocabulary = {6, 5};
       }},
  };
  for (const auto& [message, spoil] : faults) {
    HandMade spoilt = sound;
    spoil(spoilt);
    const std::string found = test::problems_of<GraphStore>(spoilt.write(folder));
    INFO(message);
    CHECK(std::count(found.begin(), found.end(), ';') == 1);
    CHECK_THAT(found, Catch::StartsWith(message));
  }
}

}  // namespace
}  // namespace kdgat::graph
