// Files of networks of any form with made-up weights, which need no training and no LibTorch.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/windows/log_windows.h"
#include "engine/data/can/windows/windows.h"
#include "engine/file/safetensors.h"
#include "engine/model/config/config.h"
#include "engine/model/config/model_header.h"

namespace kdgat::test {

/// Ids that a made-up bus has: some of 11 bits, some of 29, ascending.
inline std::vector<int64_t> made_ids(int64_t count) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(i % 7 == 6 ? 0x18000000 + i : 0x40 + 37 * i);
  std::sort(out.begin(), out.end());
  return out;
}

/// Collects tensors as a model has them and writes the file.
class MadeNetwork {
 public:
  MadeNetwork(std::vector<int64_t> ids, data::WindowShape shape, uint64_t seed)
      : ids_(std::move(ids)), shape_(shape), random_(seed) {}

  void write(model::GatConfig config, const std::filesystem::path& path) {
    config.num_ids = std::ssize(ids_) + 1;
    const bool is_second = config.conv == "gatv2";
    input(config, config.num_ids, config.node_features, config.embedding_dim,
          is_second ? config.edge_features : 0);
    const int64_t width = config.hidden * config.heads;
    int64_t inputs = config.embedding_dim + config.node_features - 1;
    for (int64_t i = 0; i < config.layers; ++i) {
      const std::string name = "convs." + std::to_string(i);
      if (is_second) {
        linear(name + ".lin_l", inputs, width);
        linear(name + ".lin_r", inputs, width);
        add(name + ".att", {1, config.heads, config.hidden}, 0.5);
        add(name + ".lin_edge.weight", {width, config.edge_features}, 0.3);
        add(name + ".bias", {width}, 0.2);
      } else {
        attention(name, inputs, config.hidden, config.heads);
      }
      if (config.norm == "graph") norm("norms." + std::to_string(i), width, true);
      inputs = width;
    }
    int64_t pooled = width * config.layers;
    if (config.jk == "lstm") {
      const int64_t units = width * config.layers / 2;
      for (const char* end : {"l0", "l0_reverse"}) {
        for (const auto& [part, size] : {std::pair("ih", width), std::pair("hh", units)}) {
          add(std::string("jk.lstm.weight_") + part + "_" + end, {4 * units, size}, scale_of(size));
          add(std::string("jk.lstm.bias_") + part + "_" + end, {4 * units}, 0.2);
        }
      }
      linear("jk.att", 2 * units, 1);
      pooled = width;
    }
    perceptron("head", pooled, 2, config.fc_layers);
    save("gat", config, path);
  }

  void write(model::VgaeConfig config, const std::filesystem::path& path) {
    config.num_ids = std::ssize(ids_) + 1;
    const int64_t features = config.node_features - 1;
    input(config, config.num_ids, config.node_features, config.embedding_dim, 0);
    std::vector<int64_t> widths = config.hidden_dims;
    if (widths.size() > 1 && widths.back() == config.latent_dim) widths.pop_back();
    int64_t width = config.embedding_dim + features;
    const auto block = [&](const std::string& name, int64_t outputs, int64_t heads) {
      const int64_t channels = outputs % heads == 0 ? outputs / heads : outputs;
      attention(name + ".conv", width, channels, heads);
      width = channels * heads;
      norm(name + ".norm", width, config.norm == "graph");
    };
    for (std::size_t i = 0; i < widths.size(); ++i) {
      block("encoder." + std::to_string(i), widths[i], i == 0 ? config.heads : 1);
    }
    linear("mean", width, config.latent_dim);
    linear("logvar", width, config.latent_dim);
    width = config.latent_dim;
    block("decoder", widths.back(), 4);
    attention("output", width, features, 1);
    linear("ids", config.latent_dim, config.num_ids);
    perceptron("neighbours", config.latent_dim, config.num_ids, 3);
    save("vgae", config, path);
  }

 private:
  static double scale_of(int64_t inputs) { return 1.7 / std::sqrt(static_cast<double>(inputs)); }

  /// Numbers around `middle`, up to `most` away.
  void add(const std::string& name, const std::vector<int64_t>& shape, double most,
           double middle = 0) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    std::vector<float>& values = values_.emplace_back(static_cast<std::size_t>(count));
    for (float& value : values) {
      value = static_cast<float>(middle + most * (2 * random_.uniform() - 1));
    }
    writer_.add(name, shape, std::span<const float>(values));
  }
  void linear(const std::string& name, int64_t inputs, int64_t outputs) {
    add(name + ".weight", {outputs, inputs}, scale_of(inputs));
    add(name + ".bias", {outputs}, 0.3);
  }
  void perceptron(const std::string& name, int64_t width, int64_t outputs, int64_t layers) {
    for (int64_t i = 0; i < layers; ++i) {
      linear(name + "." + std::to_string(3 * i), width, i + 1 < layers ? width : outputs);
    }
  }
  void attention(const std::string& name, int64_t inputs, int64_t channels, int64_t heads) {
    add(name + ".lin.weight", {heads * channels, inputs}, scale_of(inputs));
    add(name + ".att_src", {1, heads, channels}, 0.6);
    add(name + ".att_dst", {1, heads, channels}, 0.6);
    add(name + ".bias", {heads * channels}, 0.2);
  }
  void norm(const std::string& name, int64_t columns, bool of_graph) {
    add(name + ".weight", {columns}, 0.5, 1);
    add(name + ".bias", {columns}, 0.3);
    if (of_graph) {
      add(name + ".mean_scale", {columns}, 0.3, 0.8);
      return;
    }
    add(name + ".running_mean", {columns}, 0.3);
    add(name + ".running_var", {columns}, 0.4, 0.7);
    integers(name + ".num_batches_tracked", {}, {17});
  }
  void integers(const std::string& name, const std::vector<int64_t>& shape,
                std::vector<int64_t> values) {
    writer_.add(name, shape, std::span<const int64_t>(integers_.emplace_back(std::move(values))));
  }
  void input(const model::InputForm& form, int64_t num_ids, int64_t features, int64_t width,
             int64_t edge_features) {
    if (form.id_embedding == "hashed") {
      std::vector<int64_t> buckets;
      for (int64_t i = 0; i < 2 * num_ids; ++i) {
        buckets.push_back(
            static_cast<int64_t>(random_.below(static_cast<uint64_t>(form.id_buckets))));
      }
      add("input.embedding.weight", {form.id_buckets, width}, 1);
      integers("input.bucket", {num_ids, 2}, buckets);
    } else {
      add("input.embedding.weight", {num_ids, width}, 1);
    }
    if (!form.standardise) return;
    add("input.node_mean", {features - 1}, 0.3, 0.3);
    add("input.node_scale", {features - 1}, 2, 3);
    if (edge_features == 0) return;
    add("input.edge_mean", {edge_features}, 0.5, 0.5);
    add("input.edge_scale", {edge_features}, 0.5, 1);
  }
  template <class Config>
  void save(const std::string& name, const Config& config, const std::filesystem::path& path) {
    const nlohmann::json data = {{"node_features", data::node_feature_names()},
                                 {"edge_features", data::edge_feature_names()},
                                 {"vocabulary", ids_},
                                 {"import",
                                  {{"window", shape_.window},
                                   {"stride", shape_.stride},
                                   {"chunk_rows", shape_.chunk_rows}}}};
    writer_.metadata("model", name);
    writer_.metadata("config", nlohmann::json(config).dump());
    writer_.metadata("data", data.dump());
    writer_.metadata("decision", R"({"threshold": 0.5, "from": "val"})");
    writer_.write(path, true);
  }

  std::vector<int64_t> ids_;
  data::WindowShape shape_;
  arrays::Random random_;
  file::SafetensorsWriter writer_;
  std::deque<std::vector<float>> values_;
  std::deque<std::vector<int64_t>> integers_;
};

}  // namespace kdgat::test
