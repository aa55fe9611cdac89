// The example of docs/onnx.md, run as it stands there, against the network computed natively.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "engine/export/onnx/onnx_network.h"
#include "engine/graph/graph_store.h"
#include "engine/graph/pack.h"
#include "engine/native/networks.h"
#include "support/can/log_text.h"
#include "support/graphs/random_graphs.h"
#include "support/graphs/random_networks.h"
#include "support/programs/command.h"
#include "support/programs/python.h"

namespace kdgat::exporting {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kGraphs = 700;  // more than the example gives to the network at once

/// Graphs whose features are like those of windows.
graph::GraphStoreData window_graphs() {
  test::RandomGraphs wanted;
  wanted.files = {kGraphs};
  wanted.node_features = wanted.edge_features = 11;
  graph::GraphStoreData data = test::random_graphs(wanted);
  for (std::size_t i = 0; i < data.x.size(); ++i) {
    if (i % 11 != 0) data.x[i] /= 1000;
  }
  return data;
}

/// The same with ids counted by another vocabulary.
graph::GraphStoreData renumbered(graph::GraphStoreData data, const std::vector<int64_t>& known) {
  const std::vector<int64_t>& ids = data.sections.ids->vocabulary;
  for (std::size_t i = 0; i < data.x.size(); i += 11) {
    const auto number = static_cast<std::size_t>(data.x[i]);
    const auto found =
        number < ids.size() ? std::find(known.begin(), known.end(), ids[number]) : known.end();
    data.x[i] = static_cast<float>(found - known.begin());
  }
  return data;
}

std::string python_of(const fs::path& page) {
  const std::string text = test::read_text(page), mark = "```python\n";
  const std::size_t begin = text.find(mark);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = text.find("```", begin + mark.size());
  return text.substr(begin + mark.size(), end - begin - mark.size());
}

TEST_CASE("the example of docs/onnx.md scores a store of another vocabulary", "[onnx][docs]") {
  const auto python = test::python_with("onnxruntime, safetensors.numpy");
  if (!python) return;
  const std::vector<int64_t> known = {0x80, 0x100, 0x2A0, 0x7FF, 0x1FFFF000};
  for (const std::string conv : {"gat", "gatv2"}) {
    const test::ScratchFolder scratch;
    model::GatConfig config = model::GatConfig::student(std::ssize(known) + 1);
    config.conv = conv;
    RandomNetwork(5).write(scratch / "model.safetensors", config, {{"vocabulary", known}});
    const auto file = file::SafetensorsFile::open(scratch / "model.safetensors");
    model::ModelHeader header = model::load_header(file);

    const graph::GraphStoreData data = window_graphs();
    graph::write_graph_store(scratch / "graphs.safetensors", data);
    graph::write_graph_store(scratch / "renumbered.safetensors", renumbered(data, known));
    const auto store = graph::GraphStore::open(scratch / "renumbered.safetensors");
    graph::GraphBatch batch;
    graph::gather(store, test::all_ids(store), true, batch);
    std::vector<float> raw(static_cast<std::size_t>(kGraphs));
    const auto network = native::load_network(file, header);
    network->raw_scores(batch, raw);
    std::vector<double> expected;
    for (const float score : raw) expected.push_back(network->score_of(score));
    std::vector<double> sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    const double threshold = (sorted[350] + sorted[351]) / 2;
    header.decision = {{"threshold", threshold}, {"from", "val"}};

    test::write_text(scratch / "model.onnx", onnx_network(file, header, kNewestOpset));
    test::write_text(scratch / "example.py", python_of(fs::current_path() / "docs/onnx.md"));
    const auto ran =
        test::run_shell(*python + " -B example.py model.onnx graphs.safetensors", scratch.path());
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    std::istringstream said(ran.out);
    int attacks = 0;
    for (std::size_t g = 0; g < expected.size(); ++g) {
      std::size_t number = 0;
      double score = 0;
      std::string decision;
      REQUIRE((said >> number >> score >> decision));
      REQUIRE(number == g);
      CHECK(std::abs(score - expected[g]) < 1e-5);
      if (std::abs(expected[g] - threshold) > 1e-5) {
        CHECK((decision == "attack") == (expected[g] > threshold));
      }
      attacks += decision == "attack" ? 1 : 0;
    }
    CHECK(attacks > 300);
    CHECK(attacks < 400);
  }
}

}  // namespace
}  // namespace kdgat::exporting
