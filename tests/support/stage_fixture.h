// Around a stage in a test: a host that remembers, a small data set, options for a run of a second.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "autoencoder/autoencoder_options.h"
#include "classifier/classifier_options.h"
#include "kdgat/stage.h"
#include "support/random_graphs.h"

namespace kdgat::test {

using nlohmann::json;

/// A host that remembers log, progress and the numbers of epochs, and leaves when told.
struct FakeHost {
  kdgat_host raw{KDGAT_ABI_MAJOR, KDGAT_ABI_MINOR, sizeof(kdgat_host), this, emit, cancelled,
                 nullptr,         nullptr};
  Host host{&raw};
  std::string log;
  std::vector<json> epochs;    ///< values of each
  std::vector<json> memory;    ///< what was said of memory
  std::vector<json> progress;  ///< events
  std::vector<double> losses;  ///< means of the epoch so far
  int64_t polls_left = -1;     ///< -1 = for ever

  static void emit(void* context, const char* text) {
    auto* self = static_cast<FakeHost*>(context);
    const json event = json::parse(text);
    if (event.at("event") == "log") self->log += event.at("message").get<std::string>() + "\n";
    if (event.at("event") == "progress") self->progress.push_back(event);
    if (event.at("event") == "metrics") {
      (event.at("what") == "epoch" ? self->epochs : self->memory).push_back(event.at("values"));
    }
    const json metrics = event.value("metrics", json::object());
    if (event.at("event") == "progress" && metrics.contains("loss")) {
      self->losses.push_back(metrics.at("loss"));
    }
  }
  static int32_t cancelled(void* context) {
    auto* self = static_cast<FakeHost*>(context);
    if (self->polls_left < 0 || self->polls_left-- > 0) return 0;
    return static_cast<int32_t>(ExitCode::kRequeue);
  }
};

/// A data set folder of random graphs with 11 node features in [0, 1], in attacks the second one
/// higher. The first `clean` graphs of the test file are benign.
struct StageFixture {
  explicit StageFixture(const std::set<int>& labels = {0, 1}, std::size_t clean = 0)
      : folder(std::filesystem::temp_directory_path() /
               ("kdgat_stages_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "data");
    RandomGraphs wanted;
    wanted.files = {200, 40};
    wanted.test_scenarios = {"test_01"};
    wanted.node_features = 11;
    graph::GraphStoreData data = random_graphs(wanted);
    for (std::size_t i = 0; i < data.x.size(); ++i) {
      if (i % 11 != 0) data.x[i] /= 1000;
    }
    for (std::size_t g = 0; g < data.y.size(); ++g) {
      const int label = g % 4 == 0 && (g < 200 || g >= 200 + clean) ? 1 : 0;
      data.y[g] = labels.contains(label) ? label : labels.contains(0) ? 0 : -1;
      for (int64_t n = data.node_ptr[g]; n < data.node_ptr[g + 1]; ++n) {
        data.x[static_cast<std::size_t>(n * 11 + 1)] += static_cast<float>(label);
      }
    }
    graph::write_graph_store(folder / "data" / "graphs.safetensors", data);
    const graph::GraphStore store = graph::GraphStore::open(folder / "data" / "graphs.safetensors");
    graph::SplitOptions options;
    options.kind = "random";
    graph::write_split(folder / "data" / "split.safetensors", graph::make_split(store, options));
  }
  ~StageFixture() { std::filesystem::remove_all(folder); }

  Request request(const std::string& step) const {
    Request r;
    r.step = step;
    r.run_dir = folder / step;
    std::filesystem::create_directories(r.run_dir);
    r.inputs["graphs"] = {{"data", "graphs", folder / "data", json::object()}};
    return r;
  }

  /// Names and hashes of the tensors of a step's model.
  std::string weights(const std::string& step) const {
    const graph::SafetensorsFile file =
        graph::SafetensorsFile::open(folder / step / "model.safetensors");
    std::string out;
    for (const auto& [name, tensor] : file.tensors()) {
      out += name + graph::hash_bytes(tensor.data, tensor.bytes);
    }
    return out;
  }

  std::filesystem::path folder;
  FakeHost fake;
};

template <class Options>
Options small() {
  Options o;
  o.max_epochs = 3;
  o.heads = 1;
  o.embedding_dim = 4;
  o.lr = 0.01;
  o.batch_size = 32;
  return o;
}

inline classifier::ClassifierOptions small_classifier() {
  auto o = small<classifier::ClassifierOptions>();
  o.hidden = 8;
  o.layers = 2;
  return o;
}

inline autoencoder::AutoencoderOptions small_autoencoder() {
  auto o = small<autoencoder::AutoencoderOptions>();
  o.hidden_dims = {16, 8};
  o.latent_dim = 8;
  return o;
}

}  // namespace kdgat::test
