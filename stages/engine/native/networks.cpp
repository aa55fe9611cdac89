#include "engine/native/networks.h"

#include <utility>
#include <vector>

#include "engine/model/config/config.h"
#include "engine/native/layers.h"
#include "engine/native/weights.h"
#include "engine/portable/layers.h"
#include "kdgat/error.h"

namespace kdgat::native {
namespace {

class Classifier : public GraphNetwork {
 public:
  Classifier(Weights& weights, const model::GatConfig& config)
      : edge_features_(config.reads_edges() ? config.edge_features : 0),
        input_(weights, config, config.num_ids, config.node_features, config.embedding_dim,
               edge_features_, config.has_ids),
        pooling_(config.pooling),
        width_(config.width()) {
    const auto norm = config.norm == "graph"   ? NormRelu::Kind::kGraph
                      : config.norm == "batch" ? NormRelu::Kind::kBatch
                                               : NormRelu::Kind::kNone;
    int64_t inputs = input_.width();
    for (int64_t i = 0; i < config.layers; ++i) {
      const std::string number = std::to_string(i), conv = "convs." + number;
      if (config.is_gin()) {
        sums_.emplace_back(weights, conv, inputs, width_, config.conv == "gin", norm);
      } else {
        attention_.emplace_back(weights, conv, inputs, config.hidden, config.heads, edge_features_);
      }
      norms_.emplace_back(weights, "norms." + number, norm, width_);
      inputs = width_;
    }
    states_.resize(norms_.size());
    pooled_width_ = width_;
    if (config.jk == "lstm") {
      jk_.emplace_back(weights, "jk", width_, config.layers);
    } else {
      pooled_width_ *= config.layers;
    }
    head_.emplace_back(weights, "head", pooled_width_, 2, config.fc_layers);
  }

  void raw_scores(const graph::GraphBatch& batch, std::span<float> out) override {
    const float* edges = edge_features_ > 0 ? input_.edges(batch, edges_) : nullptr;
    input_.apply(batch, x_);
    room(pooled_, batch.graphs * pooled_width_);
    const float* x = x_.data();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      float* to = room(states_[i], batch.nodes * width_);
      sums_.empty() ? attention_[i].apply(x, batch, edges, to) : sums_[i].apply(x, batch, to);
      norms_[i].apply(to, batch);
      x = to;
      if (jk_.empty()) {
        pool(pooling_, x, batch, width_, static_cast<int64_t>(i) * width_, pooled_width_,
             pooled_.data());
      }
    }
    if (!jk_.empty()) {
      jk_[0].apply(states_, batch.nodes, x_);
      pool(pooling_, x_.data(), batch, width_, 0, pooled_width_, pooled_.data());
    }
    room(logits_, batch.graphs * 2);
    head_[0].apply(pooled_, batch.graphs, logits_.data());
    for (std::size_t g = 0; g < static_cast<std::size_t>(batch.graphs); ++g) {
      out[g] = logits_[2 * g + 1] - logits_[2 * g];
    }
  }
  double score_of(double raw) const override { return kdgat_probability(raw); }
  bool with_edge_attr() const override { return edge_features_ > 0; }

 private:
  int64_t edge_features_;
  Input input_;
  std::string pooling_;
  int64_t width_, pooled_width_ = 0;
  std::vector<Attention> attention_;  // of each layer, or there are
  std::vector<GinLayer> sums_;
  std::vector<NormRelu> norms_;
  std::vector<JumpingLstm> jk_;  // one or none
  std::vector<Perceptron> head_;
  std::vector<std::vector<float>> states_;
  std::vector<float> x_, edges_, pooled_, logits_;
};

class Autoencoder : public GraphNetwork {
 public:
  Autoencoder(Weights& weights, const model::VgaeConfig& config)
      : input_(weights, config, config.num_ids, config.node_features, config.embedding_dim, 0),
        features_(config.node_features) {
    constexpr int64_t kDecoderHeads = 4, kNeighbourLayers = 3;
    std::vector<int64_t> widths = config.hidden_dims;
    if (widths.size() > 1 && widths.back() == config.latent_dim) widths.pop_back();
    int64_t width = input_.width();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      add_block(weights, "encoder." + std::to_string(i), width, widths[i],
                i == 0 ? config.heads : 1, config.norm);
      width = convs_.back().width();
    }
    mean_.emplace_back(weights, "mean", width, config.latent_dim);
    add_block(weights, "decoder", config.latent_dim, widths.back(), kDecoderHeads, config.norm);
    convs_.emplace_back(weights, "output", convs_.back().width(), features_ - 1, 1);
    // What training alone reads: there, and of the right shape.
    const Linear logvar(weights, "logvar", width, config.latent_dim);
    const Linear ids(weights, "ids", config.latent_dim, config.num_ids);
    const Perceptron neighbours(weights, "neighbours", config.latent_dim, config.num_ids,
                                kNeighbourLayers);
  }

  void raw_scores(const graph::GraphBatch& batch, std::span<float> out) override {
    input_.apply(batch, x_);
    const std::size_t encoders = norms_.size() - 1;
    for (std::size_t i = 0; i < norms_.size(); ++i) {
      if (i == encoders) {
        room(next_, batch.nodes * mean_[0].outputs());
        mean_[0].apply(x_.data(), batch.nodes, next_.data());
        std::swap(x_, next_);
      }
      room(next_, batch.nodes * convs_[i].width());
      convs_[i].apply(x_.data(), batch, nullptr, next_.data());
      norms_[i].apply(next_.data(), batch);
      std::swap(x_, next_);
    }
    const int64_t said = features_ - 1;
    room(next_, batch.nodes * said);
    convs_.back().apply(x_.data(), batch, nullptr, next_.data());
    room(errors_, batch.nodes);
    for (int64_t n = 0; n < batch.nodes; ++n) {
      const float* target = batch.x.data() + n * features_ + 1;
      errors_[static_cast<std::size_t>(n)] =
          kdgat_node_error(next_.data() + n * said, target, said);
    }
    mean_pool(errors_.data(), batch, 1, 0, 1, out.data());
  }

 private:
  void add_block(Weights& weights, const std::string& name, int64_t inputs, int64_t width,
                 int64_t heads, const std::string& norm) {
    const int64_t channels = heads > 0 && width % heads == 0 ? width / heads : width;
    convs_.emplace_back(weights, name + ".conv", inputs, channels, heads);
    norms_.emplace_back(weights, name + ".norm",
                        norm == "graph" ? NormRelu::Kind::kGraph : NormRelu::Kind::kBatch,
                        convs_.back().width());
  }

  Input input_;
  int64_t features_;
  std::vector<Attention> convs_;  // of the encoder, the decoder and the output
  std::vector<NormRelu> norms_;   // of all but the output
  std::vector<Linear> mean_;      // one
  std::vector<float> x_, next_, errors_;
};

template <class Config>
Config config_of(const model::ModelHeader& header, const file::SafetensorsFile& file) {
  try {
    auto config = header.config.get<Config>();
    const model::LeastSize least = config.least_size();
    model::require_room(file, least.numbers, least.tensors);
    return config;
  } catch (const Error& error) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& d : diagnostics) {
      if (d.where.empty()) d.where = file.path().string();
    }
    throw Error(error.code(), std::move(diagnostics));
  }
}

template <class Network, class Config>
std::unique_ptr<GraphNetwork> built(const model::ModelHeader& header,
                                    const file::SafetensorsFile& file) {
  Weights weights(file);
  auto network = std::make_unique<Network>(weights, config_of<Config>(header, file));
  weights.finish();
  return network;
}

}  // namespace

std::string why_not_native(const model::ModelHeader& header) {
  if (header.name == "gat") {
    if (header.config.contains("regression")) return "it predicts numbers";
    if (header.config.contains("classes")) return "more than two classes";
    const auto config = header.config.get<model::GatConfig>();
    return config.kind().is_native ? "" : "conv " + config.conv;
  }
  if (header.name == "vgae") {
    if (header.config.contains("has_ids")) return "nodes without identifiers";
    const auto config = header.config.get<model::VgaeConfig>();
    return config.readout == "mean" ? "" : "readout " + config.readout;
  }
  return header.name == "fusion" ? "a fusion joins two networks" : "it is no network of windows";
}

std::unique_ptr<GraphNetwork> load_network(const file::SafetensorsFile& file,
                                           const model::ModelHeader& header) {
  if (const std::string why = why_not_native(header); !why.empty()) {
    throw Error(ExitCode::kData, file.path().string() + ": cannot be computed natively: " + why,
                "leave --engine away, or use --engine libtorch");
  }
  if (std::vector<Diagnostic> faults = file::verify_hashes(file); !faults.empty()) {
    for (Diagnostic& fault : faults) fault.hint = "run the step that made it again";
    throw Error(ExitCode::kData, std::move(faults));
  }
  if (header.name == "gat") return built<Classifier, model::GatConfig>(header, file);
  return built<Autoencoder, model::VgaeConfig>(header, file);
}

}  // namespace kdgat::native
