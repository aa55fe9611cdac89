// Sections that are not what they should be: not written, not opened, or found by verify.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include "engine/arrays/random.h"
#include "engine/graph/sections/sections.h"
#include "support/can/log_text.h"
#include "support/graphs/section_graphs.h"
#include "support/graphs/store_problems.h"
#include "support/programs/command.h"

namespace kdgat::graph {
namespace {

using namespace test;

struct Tensor {
  file::DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  template <class T>
  T& value(std::size_t i) {
    return reinterpret_cast<T*>(bytes.data())[i];
  }
};
using Tensors = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

/// A copy of the store `from` with sound hashes, after `change` of its tensors and metadata.
void rewrite(const std::filesystem::path& from, const std::filesystem::path& to,
             const std::function<void(Tensors&, Metadata&)>& change) {
  const file::SafetensorsFile file = file::SafetensorsFile::open(from);
  Tensors tensors;
  for (const auto& [name, view] : file.tensors()) {
    tensors[name] = {view.dtype, view.shape, {view.data, view.data + view.bytes}};
  }
  Metadata metadata = file.metadata();
  std::erase_if(metadata, [](const auto& entry) { return entry.first.starts_with("hash."); });
  change(tensors, metadata);
  file::SafetensorsWriter writer;
  for (const auto& [name, tensor] : tensors) {
    writer.add(name, tensor.dtype, tensor.shape, tensor.bytes.data());
  }
  writer.metadata(metadata);
  writer.write(to, true);
}

std::string faults(const std::filesystem::path& path) { return problems_of<GraphStore>(path); }

TEST_CASE("sections that do not agree with the graphs are not written", "[sections][store]") {
  const test::ScratchFolder folder;
  const auto refused = [&](auto change, std::size_t targets = 1) {
    GraphStoreData data = graphs_with(kAll, 3, targets);
    change(data.sections);
    return test::data_error([&] { write_graph_store(folder / "g", data); });
  };
  CHECK_THAT(refused([](SectionData& s) { s.targets->classes = {"p"}; }),
             Catch::Contains(" has the label "));
  CHECK_THAT(refused([](SectionData& s) { s.positions->pos.pop_back(); }),
             Catch::Contains("pos does not match node_ptr"));
  CHECK_THAT(refused([](SectionData& s) { s.positions->pos[2] = INFINITY; }),
             Catch::Contains("a position is not finite"));
  CHECK_THAT(refused([](SectionData& s) { s.trees->parent[0] = 0; }),
             Catch::Contains("the parents of graph 0 do not form a forest"));
  CHECK_THAT(refused([](SectionData& s) { s.trees->parent.push_back(-1); }),
             Catch::Contains("parent does not match"));
  CHECK_THAT(refused([](SectionData& s) { s.targets->values = {1}; }),
             Catch::Contains("target is not one number a graph"));
  CHECK_THAT(refused([](SectionData& s) { s.targets->values.resize(30); }, 2),
             Catch::Contains("target is not one number a graph and name"));
  CHECK_THAT(refused([](SectionData& s) {
               s.ids->vocabulary = {5, 5};
             }),
             Catch::Contains("the vocabulary is not strictly ascending"));
  CHECK_THAT(refused([](SectionData& s) { s.ids->vocabulary.clear(); }),
             Catch::Contains("ids of graphs in space need a vocabulary"));
}

TEST_CASE("verify finds a changed bit of any section", "[sections][store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", graphs_with(kAll, 4, 3));
  const std::string sound = test::read_text(folder / "g");
  const file::SafetensorsFile file =
      file::SafetensorsFile::parse(std::as_bytes(std::span(sound)), "g");
  arrays::Random random(4);
  for (const char* name : {"pos", "parent", "tour", "relations", "paths", "target", "vocabulary"}) {
    for (int round = 0; round < 5; ++round) {
      const file::TensorView& view = file.tensor(name);
      const auto at = static_cast<std::size_t>(view.data - std::as_bytes(std::span(sound)).data()) +
                      random.below(view.bytes);
      std::string bytes = sound;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      std::ofstream(folder / "bad", std::ios::binary) << bytes;
      CHECK_FALSE(faults(folder / "bad").empty());
      CHECK_THAT(test::data_error([&] { GraphStore::open(folder / "bad"); }),
                 Catch::Contains("tensor '" + std::string(name) + "' differs from its hash"));
    }
  }
}

TEST_CASE("verify finds sections that are not those of the graphs, even with sound hashes",
          "[sections][store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", graphs_with(kAll, 5, 2));
  const auto faults_after = [&](auto change) {
    rewrite(folder / "g", folder / "bad", [&](Tensors& t, Metadata&) { change(t); });
    return faults(folder / "bad");
  };
  CHECK(faults_after([](Tensors&) {}).empty());
  CHECK(faults_after([](Tensors& t) { t["pos"].value<float>(4) = INFINITY; }) ==
        "graph 0 has a position that is not finite; ");
  CHECK(faults_after([](Tensors& t) { t["parent"].value<int32_t>(0) = 0; }) ==
        "graph 0 has parents that do not form a forest; ");
  CHECK(faults_after([](Tensors& t) { ++t["tour"].value<int32_t>(0); }) ==
        "graph 0 has a tour that is not that of its parents; ");
  CHECK(faults_after([](Tensors& t) { ++t["relations"].value<int64_t>(2); }) ==
        "graph 0 has relations that are not those of its parents; ");
  CHECK(faults_after([](Tensors& t) { ++t["paths"].value<int64_t>(0); }) ==
        "graph 0 has numbers of paths that are not those of its edges; ");
  CHECK(faults_after([](Tensors& t) { t["target"].value<float>(5) = INFINITY; }) ==
        "graph 2 has a target that is not finite; ");
  CHECK(faults_after([](Tensors& t) { t["y"].value<int32_t>(1) = 5; }) ==
        "graph 1 has a label that is not one of the classes; ");
  CHECK(faults_after([](Tensors& t) { t["x"].value<float>(0) = 5; }) ==
        "graph 0 has a node whose id is not in [0, num_ids); ");
  CHECK(faults_after([](Tensors& t) { t["vocabulary"].value<int64_t>(0) = 6; }) ==
        "the vocabulary is not strictly ascending; ");
}

TEST_CASE("opening refuses sections that lead outside of their graph, even with sound hashes",
          "[sections][store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", graphs_with(kAll, 5, 2));
  const auto refused = [&](auto change) {
    rewrite(folder / "g", folder / "bad", change);
    return test::data_error([&] { GraphStore::open(folder / "bad"); });
  };
  const auto of_tensor = [&](const char* name, std::size_t at, int32_t number) {
    return refused([&](Tensors& t, Metadata&) { t[name].value<int32_t>(at) = number; });
  };
  for (const int32_t far : {-2, 1 << 30, std::numeric_limits<int32_t>::min()}) {
    CHECK_THAT(of_tensor("parent", 0, far), Catch::Contains("graph 0 has a tree that leaves"));
    CHECK_THAT(of_tensor("tour", 0, far), Catch::Contains("graph 0 has a tree that leaves"));
    CHECK_THAT(of_tensor("y", 1, far), Catch::Contains("graph 1 has a label"));
    CHECK_THAT(of_tensor("edge_index", 0, far), Catch::Contains("has an edge that names a node"));
    CHECK_THAT(of_tensor("target_order", 0, far), Catch::Contains("has a target_order"));
  }
  CHECK_THAT(refused([](Tensors& t, Metadata&) { t["x"].value<float>(0) = NAN; }),
             Catch::Contains("graph 0 has a node whose id"));
}

TEST_CASE("opening refuses facts that are not those of the data", "[sections][store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", graphs_with(kAll, 5, 2));
  const auto refused = [&](const std::string& key, const std::string& value) {
    rewrite(folder / "g", folder / "bad", [&](Tensors&, Metadata& m) { m[key] = value; });
    return test::data_error([&] { GraphStore::open(folder / "bad"); });
  };
  const std::string sound = GraphStore::open(folder / "g").facts().dump();
  const auto facts_without = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json facts = nlohmann::json::parse(sound);
    facts[nlohmann::json::json_pointer(pointer)] = value;
    return refused("facts", facts.dump());
  };
  CHECK(refused("facts", sound).empty());
  CHECK_THAT(refused("facts", "null"), Catch::Contains("'facts': not an object"));
  CHECK_THAT(refused("options", "[]"), Catch::Contains("'options': not an object"));
  CHECK_THAT(facts_without("/graphs", 7), Catch::Contains("/graphs is not what the data hold"));
  CHECK_THAT(facts_without("/nodes/max", 1), Catch::Contains("/nodes/max"));
  CHECK_THAT(facts_without("/attack", "two"), Catch::Contains("/attack is not a number"));
  CHECK_THAT(facts_without("/spatial/paths", nullptr), Catch::Contains("/paths/p50"));
  CHECK_THAT(facts_without("/spatial/are_trees", 1), Catch::Contains("/are_trees"));
  CHECK_THAT(facts_without("/spatial/classes", {"z"}), Catch::Contains("/classes"));
  CHECK_THAT(facts_without("/spatial/class_graphs", {-1}), Catch::Contains("/class_graphs"));
  nlohmann::json sources = GraphStore::open(folder / "g").sources();
  sources[0]["graphs"] = int64_t{1} << 40;
  CHECK_THAT(refused("sources", sources.dump()), Catch::Contains("graphs that are not there"));
  const std::string deep(100'000, '[');
  for (const char* key : {"facts", "options", "sources", "classes", "node_feature_names"}) {
    CHECK_THAT(refused(key, deep + std::string(deep.size(), ']')),
               Catch::Contains("nested deeper than 100 levels"));
  }
}

TEST_CASE("a section of which only a part is there is refused", "[sections][store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", graphs_with(kAll, 6, 2));
  const auto refused = [&](const std::function<void(Tensors&, Metadata&)>& change) {
    rewrite(folder / "g", folder / "half", change);
    return test::data_error([&] { GraphStore::open(folder / "half"); });
  };
  for (const std::string name : {"parent", "tour", "relations", "target"}) {
    CHECK_THAT(refused([&](Tensors& t, Metadata&) { t.erase(name); }),
               Catch::Contains("no tensor '" + name + "'"));
  }
  CHECK_THAT(refused([](Tensors&, Metadata& m) { m.erase("classes"); }),
             Catch::Contains("no metadata 'classes'"));
  CHECK_THAT(refused([](Tensors&, Metadata& m) { m["classes"] = "{"; }),
             Catch::Contains("malformed metadata 'classes': not valid JSON"));
  CHECK_THAT(refused([](Tensors&, Metadata& m) { m["target_names"] = "[7]"; }),
             Catch::Contains("malformed metadata 'target_names': "));
  CHECK_THAT(refused([](Tensors&, Metadata& m) { m.erase("target_names"); }),
             Catch::Contains("tensor 'target' has shape [30,2] instead of [30]"));
  for (const std::string name : {"pos", "paths", "parent"}) {
    CHECK_THAT(refused([&](Tensors& t, Metadata&) {
                 t[name].shape = {
                     static_cast<int64_t>(t[name].bytes.size() / file::dtype_size(t[name].dtype)),
                     1};
               }),
               Catch::Contains("tensor '" + name + "' has shape"));
  }
  // As a whole it may be left out.
  rewrite(folder / "g", folder / "less", [](Tensors& t, Metadata& m) {
    for (const char* name : {"parent", "tour", "relations", "target", "paths"}) t.erase(name);
    m.erase("classes");
    m.erase("target_names");
    std::memset(t["y"].bytes.data(), 0, t["y"].bytes.size());
  });
  CHECK(faults(folder / "less").empty());
}

}  // namespace
}  // namespace kdgat::graph
