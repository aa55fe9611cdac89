// A small data set of random graphs for the stages of the detector, and options for a run of a
// second.
#pragma once

#include <filesystem>
#include <set>

#include "autoencoder/autoencoder_options.h"
#include "classifier/classifier_options.h"
#include "support/graphs/random_graphs.h"
#include "support/runs/stage_data.h"

namespace kdgat::test {

/// A data set folder of random graphs with 11 node features in [0, 1], in attacks the second one
/// higher. The first `clean` graphs of the test file are benign.
struct StageFixture : StageData {
  explicit StageFixture(const std::set<int>& labels = {0, 1}, std::size_t clean = 0) {
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
    graph::write_graph_store(store_file(), data);
    const graph::GraphStore store = graph::GraphStore::open(store_file());
    graph::SplitOptions options;
    options.kind = "random";
    graph::write_split(folder / "data" / "split.safetensors", graph::make_split(store, options));
  }
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
