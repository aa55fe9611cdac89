// Model files of networks with random weights, and batches of random graphs for them: as training
// leaves the one and an import the other, without either.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/file/safetensors.h"
#include "engine/graph/pack.h"
#include "engine/model/config/config.h"

namespace kdgat::exporting {

/// Writes the tensors that native::load_network() reads.
class RandomNetwork {
 public:
  /// `sharpness`: factor of what makes the scores of edges.
  explicit RandomNetwork(uint64_t seed, double sharpness = 1)
      : random_(seed), att_(0.4 * sharpness) {}

  void write(const std::filesystem::path& path, const model::GatConfig& config,
             const nlohmann::json& data = nlohmann::json::object()) {
    const int64_t edges = config.conv == "gatv2" ? config.edge_features : 0;
    int64_t width = input(config, config.has_ids ? config.num_ids : 0, config.embedding_dim,
                          config.node_features, edges);
    const int64_t wide = config.width();
    for (int64_t i = 0; i < config.layers; ++i) {
      const std::string number = std::to_string(i), conv = "convs." + number;
      if (config.is_gin()) {
        if (config.conv == "gin") add(conv + ".eps", {1}, -0.5, 0.5);
        linear(conv + ".lin_1", width, wide);
        norm(config.norm, conv + ".norm", wide);
        linear(conv + ".lin_2", wide, wide);
      } else {
        attention(conv, width, config.hidden, config.heads, edges);
      }
      norm(config.norm, "norms." + number, wide);
      width = wide;
    }
    if (config.jk == "lstm") lstm("jk", wide, config.layers);
    perceptron("head", config.jk == "lstm" ? wide : wide * config.layers, 2, config.fc_layers);
    finish(path, "gat", config, data);
  }
  void write(const std::filesystem::path& path, const model::VgaeConfig& config,
             const nlohmann::json& data = nlohmann::json::object()) {
    int64_t width = input(config, config.num_ids, config.embedding_dim, config.node_features, 0);
    std::vector<int64_t> widths = config.hidden_dims;
    if (widths.size() > 1 && widths.back() == config.latent_dim) widths.pop_back();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      width = block("encoder." + std::to_string(i), width, widths[i], i == 0 ? config.heads : 1,
                    config.norm);
    }
    linear("mean", width, config.latent_dim);
    linear("logvar", width, config.latent_dim);
    width = block("decoder", config.latent_dim, widths.back(), 4, config.norm);
    attention("output", width, config.node_features - 1, 1, 0);
    linear("ids", config.latent_dim, config.num_ids);
    perceptron("neighbours", config.latent_dim, config.num_ids, 3);
    finish(path, "vgae", config, data);
  }

 private:
  void add(const std::string& name, const std::vector<int64_t>& shape, double low, double high) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    std::vector<float>& values = kept_.emplace_back(static_cast<std::size_t>(count));
    for (float& value : values) {
      value = static_cast<float>(low + (high - low) * random_.uniform());
    }
    writer_.add(name, shape, std::span<const float>(values));
  }
  void matrix(const std::string& name, int64_t outputs, int64_t inputs) {
    const double most = std::sqrt(6.0 / static_cast<double>(outputs + inputs));
    add(name, {outputs, inputs}, -most, most);
  }
  void linear(const std::string& name, int64_t inputs, int64_t outputs) {
    matrix(name + ".weight", outputs, inputs);
    add(name + ".bias", {outputs}, -0.5, 0.8);
  }
  void perceptron(const std::string& name, int64_t width, int64_t outputs, int64_t layers) {
    for (int64_t i = 0; i < layers; ++i) {
      linear(name + "." + std::to_string(3 * i), width, i + 1 < layers ? width : outputs);
    }
  }
  /// The width of what enters the first layer. `num_ids` 0: nodes have no identifiers.
  int64_t input(const model::InputForm& form, int64_t num_ids, int64_t width, int64_t features,
                int64_t edges) {
    if (num_ids == 0) {
      if (form.standardise) {
        add("input.node_mean", {features}, 0, 0.5);
        add("input.node_scale", {features}, 0.5, 12);
      }
      return features;
    }
    const bool is_hashed = form.id_embedding == "hashed";
    add("input.embedding.weight", {is_hashed ? form.id_buckets : num_ids, width}, -1, 1);
    if (is_hashed) {
      for (int64_t i = 0; i < 2 * num_ids; ++i) {
        buckets_.push_back(
            static_cast<int64_t>(random_.below(static_cast<uint64_t>(form.id_buckets))));
      }
      writer_.add("input.bucket", {num_ids, 2}, std::span<const int64_t>(buckets_));
    }
    if (form.standardise) {
      add("input.node_mean", {features - 1}, 0, 0.5);
      add("input.node_scale", {features - 1}, 0.5, 12);
      if (edges > 0) add("input.edge_mean", {edges}, 0, 0.5);
      if (edges > 0) add("input.edge_scale", {edges}, 0.5, 12);
    }
    return width + features - 1;
  }
  void attention(const std::string& name, int64_t inputs, int64_t channels, int64_t heads,
                 int64_t edges) {
    const int64_t width = heads * channels;
    if (edges == 0) {
      matrix(name + ".lin.weight", width, inputs);
      add(name + ".att_src", {1, heads, channels}, -att_, att_);
      add(name + ".att_dst", {1, heads, channels}, -att_, att_);
    } else {
      linear(name + ".lin_l", inputs, width);
      linear(name + ".lin_r", inputs, width);
      matrix(name + ".lin_edge.weight", width, edges);
      add(name + ".att", {1, heads, channels}, -att_, att_);
    }
    add(name + ".bias", {width}, -0.5, 0.8);
  }
  void graph_norm(const std::string& name, int64_t columns) {
    add(name + ".weight", {columns}, -0.5, 0.8);
    add(name + ".bias", {columns}, -0.5, 0.8);
    add(name + ".mean_scale", {columns}, 0.5, 1.5);
  }
  int64_t block(const std::string& name, int64_t inputs, int64_t width, int64_t heads,
                const std::string& norm) {
    const int64_t channels = width % heads == 0 ? width / heads : width;
    attention(name + ".conv", inputs, channels, heads, 0);
    this->norm(norm, name + ".norm", channels * heads);
    return channels * heads;
  }
  void norm(const std::string& kind, const std::string& name, int64_t columns) {
    if (kind == "none") return;
    if (kind == "graph") return graph_norm(name, columns);
    add(name + ".weight", {columns}, -0.5, 0.8);
    add(name + ".bias", {columns}, -0.5, 0.8);
    add(name + ".running_mean", {columns}, -0.5, 0.5);
    add(name + ".running_var", {columns}, 0.5, 2);
    writer_.add(name + ".num_batches_tracked", {}, std::span<const int64_t>(&batches_, 1));
  }
  void lstm(const std::string& name, int64_t channels, int64_t layers) {
    const int64_t units = layers * channels / 2;
    const double most = 1 / std::sqrt(static_cast<double>(units));
    for (const std::string end : {"l0", "l0_reverse"}) {
      add(name + ".lstm.weight_ih_" + end, {4 * units, channels}, -most, most);
      add(name + ".lstm.weight_hh_" + end, {4 * units, units}, -most, most);
      add(name + ".lstm.bias_ih_" + end, {4 * units}, -most, most);
      add(name + ".lstm.bias_hh_" + end, {4 * units}, -most, most);
    }
    linear(name + ".att", 2 * units, 1);
  }
  void finish(const std::filesystem::path& path, const std::string& name,
              const nlohmann::json& config, const nlohmann::json& data) {
    writer_.metadata("model", name);
    writer_.metadata("config", config.dump());
    writer_.metadata("data", data.dump());
    writer_.write(path, true);
  }

  arrays::Random random_;
  double att_;
  file::SafetensorsWriter writer_;
  std::list<std::vector<float>> kept_;
  std::vector<int64_t> buckets_;
  int64_t batches_ = 7;
};

/// Nodes and edges of one graph.
struct GraphSize {
  int64_t nodes = 1;
  int64_t edges = 0;  ///< at most; self-loops among them, and none twice
};

/// Features are like those of windows: an index in the vocabulary, then numbers of [0, 1); those of
/// edges reach up to `most`.
inline graph::GraphBatch random_batch(const std::vector<GraphSize>& sizes, int64_t num_ids,
                                      int64_t node_features, int64_t edge_features, double most,
                                      uint64_t seed) {
  arrays::Random random(seed);
  graph::GraphBatch batch;
  std::vector<std::pair<int32_t, int32_t>> edges;  // target, source
  batch.graphs = std::ssize(sizes);
  batch.node_ptr.resize(batch.graphs + 1);
  batch.node_ptr[0] = 0;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const GraphSize& size = sizes[static_cast<std::size_t>(g)];
    std::set<std::pair<int32_t, int32_t>> of_graph;
    const auto any_node = [&] {
      return static_cast<int32_t>(batch.nodes) +
             static_cast<int32_t>(random.below(static_cast<uint64_t>(size.nodes)));
    };
    for (int64_t e = 0; e < size.edges; ++e) {
      const int32_t target = any_node(), source = any_node();
      of_graph.emplace(target, source);
    }
    edges.insert(edges.end(), of_graph.begin(), of_graph.end());
    batch.nodes += size.nodes;
    batch.node_ptr[g + 1] = static_cast<int32_t>(batch.nodes);
  }
  batch.node_features = node_features;
  batch.x.resize(batch.nodes * node_features);
  for (int64_t i = 0; i < batch.x.size(); ++i) {
    batch.x[i] = i % node_features == 0
                     ? static_cast<float>(random.below(static_cast<uint64_t>(num_ids)))
                     : static_cast<float>(random.uniform());
  }
  batch.edges = std::ssize(edges);
  batch.in_ptr.resize(batch.nodes + 1);
  batch.in_source.resize(batch.edges);
  for (int64_t n = 0, e = 0; n <= batch.nodes; ++n) {
    while (e < batch.edges && edges[static_cast<std::size_t>(e)].first < n) ++e;
    batch.in_ptr[n] = static_cast<int32_t>(e);
  }
  for (int64_t e = 0; e < batch.edges; ++e) {
    batch.in_source[e] = edges[static_cast<std::size_t>(e)].second;
  }
  batch.edge_features = edge_features;
  batch.edge_attr.resize(batch.edges * edge_features);
  for (int64_t i = 0; i < batch.edge_attr.size(); ++i) {
    batch.edge_attr[i] = static_cast<float>(most * random.uniform());
  }
  return batch;
}

}  // namespace kdgat::exporting
