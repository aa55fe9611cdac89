// Networks written as ONNX files: accepted by ONNX's checker and computed by ONNX Runtime as by
// engine/native/networks.h, for numbers of nodes, edges and graphs that nothing in the file knows.
#include "engine/export/onnx/onnx_network.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/native/networks.h"
#include "kdgat/error.h"
#include "support/can/log_text.h"
#include "support/graphs/random_networks.h"
#include "support/programs/command.h"
#include "support/programs/python.h"

namespace kdgat::exporting {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kIds = 20, kFeatures = 11;
const std::string kPackages = "onnx, onnxruntime, safetensors.numpy";

/// Graphs of every kind: of windows, without edges, of one node, without nodes, large; and none.
const std::vector<std::vector<GraphSize>>& batches() {
  static const std::vector<std::vector<GraphSize>> all = {
      {{30, 90}},
      {{1, 0}},
      {{1, 1}},  // its only edge is a loop
      {{5, 0}, {3, 0}},
      {{12, 20}, {1, 0}, {40, 8}, {0, 0}, {2, 4}, {7, 49}},
      {{101, 201}, {250, 4000}, {90, 100}},
      {},
  };
  return all;
}

std::string file_name(int opset) { return "model-opset" + std::to_string(opset) + ".onnx"; }

/// The model of `folder` as ONNX of both opsets beside it, and cases with its scores. Returns the
/// number of cases for all of them.
int write_cases(const fs::path& folder, double most_of_edges = 1) {
  const auto file = file::SafetensorsFile::open(folder / "model.safetensors");
  const model::ModelHeader header = model::load_header(file);
  int opsets = 0;
  for (const int opset : {kOldestOpset, kNewestOpset}) {
    if (opset < least_opset(header)) continue;
    ++opsets;
    test::write_text(folder / file_name(opset), onnx_network(file, header, opset));
  }
  const auto network = native::load_network(file, header);
  arrays::Random random(99);
  int cases = 0;
  for (const std::vector<GraphSize>& sizes : batches()) {
    // ONNX Runtime's LSTM ends the process where there are no nodes.
    if (sizes.empty() && header.config.value("jk", "") == "lstm") continue;
    const graph::GraphBatch batch = random_batch(sizes, kIds, kFeatures, kFeatures, most_of_edges,
                                                 static_cast<uint64_t>(cases) + 1);
    std::vector<float> raw(sizes.size()), expected;
    network->raw_scores(batch, raw);
    for (const float r : raw) expected.push_back(static_cast<float>(network->score_of(r)));
    // Any order of edges is one.
    std::vector<int64_t> order, targets, edge_index, graph_of;
    for (int64_t n = 0; n < batch.nodes; ++n) {
      for (int32_t e = batch.in_ptr[n]; e < batch.in_ptr[n + 1]; ++e) {
        order.push_back(e);
        targets.push_back(n);
      }
    }
    random.shuffle(order);
    std::vector<float> edge_attr;
    for (const int64_t e : order) {
      edge_index.push_back(batch.in_source[e]);
      const float* row = batch.edge_attr.data() + e * kFeatures;
      edge_attr.insert(edge_attr.end(), row, row + kFeatures);
    }
    for (const int64_t e : order) edge_index.push_back(targets[static_cast<std::size_t>(e)]);
    for (int64_t g = 0; g < batch.graphs; ++g) {
      graph_of.resize(static_cast<std::size_t>(batch.node_ptr[g + 1]), g);
    }
    file::SafetensorsWriter writer;
    writer.without_padding();
    writer.add("x", {batch.nodes, kFeatures},
               std::span<const float>(batch.x.data(), static_cast<std::size_t>(batch.x.size())));
    writer.add("edge_index", {2, batch.edges}, std::span<const int64_t>(edge_index));
    writer.add("edge_attr", {batch.edges, kFeatures}, std::span<const float>(edge_attr));
    writer.add("batch", {batch.nodes}, std::span<const int64_t>(graph_of));
    writer.add("raw", {batch.graphs}, std::span<const float>(raw));
    writer.add("expected", {batch.graphs}, std::span<const float>(expected));
    writer.write(folder / ("case_" + std::to_string(cases++) + ".safetensors"));
  }
  return opsets * cases;
}

/// What the script says of all models below `folder`.
json checked(const std::string& python, const fs::path& folder) {
  const fs::path script = fs::current_path() / "tests/unit/engine/export/onnx/check_onnx.py";
  const auto ran = test::run_shell(python + " -B '" + script.string() + "' */", folder);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return json::parse(ran.out);
}

/// The scores of so many cases below `folder` are those of the native engine.
void check_computed(const std::string& python, const fs::path& folder, int cases) {
  const json said = checked(python, folder);
  INFO(said);
  CHECK(said.at("cases") == cases);
  CHECK(said.at("worst") < 1e-5);
  CHECK(said.at("spread") > 0.01);  // they are not all the same
}

fs::path made(const test::ScratchFolder& scratch, const std::string& name) {
  fs::create_directory(scratch / name);
  return scratch / name;
}

TEST_CASE("ONNX Runtime computes a classifier of any form as natively", "[onnx]") {
  const auto python = test::python_with(kPackages);
  if (!python) return;
  const test::ScratchFolder scratch;
  int cases = 0;
  uint64_t seed = 1;
  for (const std::string conv : {"gat", "gatv2"}) {
    for (const std::string norm : {"none", "graph"}) {
      for (const std::string jk : {"cat", "lstm"}) {
        for (const std::string ids : {"table", "hashed"}) {
          model::GatConfig config = model::GatConfig::student(kIds);
          config.conv = conv;
          config.norm = norm;
          config.jk = jk;
          config.id_embedding = ids;
          config.standardise = ids == "hashed";
          const fs::path folder = made(scratch, conv + "-" + norm + "-" + jk + "-" + ids);
          RandomNetwork(seed++).write(folder / "model.safetensors", config);
          cases += write_cases(folder);
        }
      }
    }
  }
  for (const auto& [layers, heads] : {std::pair{1, 1}, {3, 8}, {4, 3}}) {
    for (const std::string jk : {"cat", "lstm"}) {
      model::GatConfig config = model::GatConfig::student(kIds);
      config.layers = layers;
      config.heads = heads;
      config.hidden = 7;
      config.fc_layers = layers;
      config.jk = jk;
      const fs::path folder = made(scratch, std::to_string(layers) + "-layers-" + jk);
      RandomNetwork(seed++).write(folder / "model.safetensors", config);
      cases += write_cases(folder);
    }
  }
  check_computed(*python, scratch.path(), cases);
}

TEST_CASE("ONNX Runtime computes sums over neighbours and every pool as natively", "[onnx]") {
  const auto python = test::python_with(kPackages);
  if (!python) return;
  const test::ScratchFolder scratch;
  int cases = 0;
  uint64_t seed = 1;
  for (const std::string conv : {"gin", "none", "gat"}) {
    for (const std::string norm : {"none", "graph", "batch"}) {
      for (const std::string pooling : {"mean", "sum", "max"}) {
        model::GatConfig config = model::GatConfig::student(kIds);
        config.conv = conv;
        config.norm = norm;
        config.pooling = pooling;
        config.node_features = kFeatures;
        config.has_ids = seed % 2 == 0;
        config.standardise = seed % 3 == 0;
        config.jk = seed % 5 == 0 ? "lstm" : "cat";
        const fs::path folder = made(scratch, conv + "-" + norm + "-" + pooling);
        RandomNetwork(seed++).write(folder / "model.safetensors", config);
        cases += write_cases(folder);
      }
    }
  }
  check_computed(*python, scratch.path(), cases);
}

TEST_CASE("a maximum over nodes has no form of opset 16", "[onnx]") {
  const test::ScratchFolder scratch;
  model::GatConfig config = model::GatConfig::student(kIds);
  config.pooling = "max";
  RandomNetwork(1).write(scratch / "model.safetensors", config);
  const auto file = file::SafetensorsFile::open(scratch / "model.safetensors");
  CHECK_THROWS_WITH(onnx_network(file, model::load_header(file), kOldestOpset),
                    Catch::Contains("opset 18"));
}

TEST_CASE("ONNX Runtime computes an autoencoder of any form as natively", "[onnx]") {
  const auto python = test::python_with(kPackages);
  if (!python) return;
  const test::ScratchFolder scratch;
  int cases = 0;
  for (const std::string norm : {"batch", "graph"}) {
    for (const std::string ids : {"table", "hashed"}) {
      for (const bool is_small : {true, false}) {
        model::VgaeConfig config =
            is_small ? model::VgaeConfig::student(kIds) : model::VgaeConfig::teacher(kIds);
        config.norm = norm;
        config.id_embedding = ids;
        config.standardise = ids == "hashed";
        const fs::path folder = made(scratch, norm + "-" + ids + (is_small ? "-small" : ""));
        RandomNetwork(7).write(folder / "model.safetensors", config);
        cases += write_cases(folder);
      }
    }
  }
  check_computed(*python, scratch.path(), cases);
}

TEST_CASE("scores of edges hundreds apart stay a softmax in either opset", "[onnx]") {
  const auto python = test::python_with(kPackages);
  if (!python) return;
  const test::ScratchFolder scratch;
  int cases = 0;
  for (const std::string conv : {"gat", "gatv2"}) {
    model::GatConfig config = model::GatConfig::student(kIds);
    config.conv = conv;
    config.layers = 1;
    const fs::path folder = made(scratch, conv);
    RandomNetwork(3, conv == "gat" ? 150 : 60).write(folder / "model.safetensors", config);
    cases += write_cases(folder, 3);
  }
  const json said = checked(*python, scratch.path());
  INFO(said);
  CHECK(said.at("cases") == cases);
  CHECK(said.at("worst") < 1e-4);  // such scores are rounded to 1e-5, and weights are their powers
}

TEST_CASE("what an ONNX file says of its model", "[onnx]") {
  const test::ScratchFolder scratch;
  const fs::path path = scratch / "model.safetensors";
  const json data = {{"node_features", {"id", "byte0_mean"}},
                     {"vocabulary", {256, 512}},
                     {"import", {{"window", 100}, {"stride", 50}}}};
  RandomNetwork(1).write(path, model::GatConfig::student(kIds), data);
  const auto file = file::SafetensorsFile::open(path);
  const std::string bytes = onnx_network(file, model::load_header(file), kNewestOpset);
  for (const std::string word :
       {"vocabulary_size", "[256,512]", "[\"id\",\"byte0_mean\"]", "window", "classifier",
        "probability of attack", "threshold", "convs.0.att_src", "max(batch) + 1"}) {
    INFO(word);
    CHECK(bytes.find(word) != std::string::npos);
  }
  CHECK(bytes == onnx_network(file, model::load_header(file), kNewestOpset));
  CHECK(bytes != onnx_network(file, model::load_header(file), kOldestOpset));
}

TEST_CASE("what has no ONNX form is refused with what to change", "[onnx]") {
  const test::ScratchFolder scratch;
  const fs::path path = scratch / "model.safetensors";
  model::GatConfig config = model::GatConfig::student(kIds);
  RandomNetwork(1).write(path, config);
  const auto file = file::SafetensorsFile::open(path);
  model::ModelHeader header = model::load_header(file);
  CHECK_THROWS_WITH(onnx_network(file, header, 17), Catch::Contains("use opset 16 or 18"));
  header.name = "fusion";
  CHECK_THROWS_WITH(onnx_network(file, header, 18),
                    Catch::Contains("its classifier and its autoencoder"));
  header.name = "pocket";
  CHECK_THROWS_WITH(onnx_network(file, header, 18), Catch::Contains("'pocket' has no ONNX form"));
  header.name = "gat";
  config.layers = 3;
  header.config = config;
  CHECK_THROWS_WITH(onnx_network(file, header, 18), Catch::Contains("convs.2"));
}

}  // namespace
}  // namespace kdgat::exporting
