// Configurations of the models: what rebuilds a model exactly.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/model/config/form.h"
#include "engine/model/config/least_size.h"
#include "engine/model/config/sizes.h"

namespace kdgat::model {

/// Graph autoencoder with neighbourhood reconstruction. Of nodes without identifiers it
/// reconstructs the features, and of their neighbours' the mean.
struct VgaeConfig : VgaeForm, VgaeSizes {
  int64_t num_ids = 0;  ///< vocabulary with the entry for unknown ids
  int64_t node_features = 11;
  bool has_ids = true;  ///< the first feature of a node names its identifier

  /// Those that are reconstructed.
  int64_t features() const { return has_ids ? node_features - 1 : node_features; }

  static VgaeConfig teacher(int64_t num_ids);
  static VgaeConfig student(int64_t num_ids);

  /// For config_json.h.
  template <class Config, class Visit>
  static void entries(Config& c, const Visit& visit) {
    visit("num_ids", c.num_ids);
    visit("node_features", c.node_features);
    visit("hidden_dims", c.hidden_dims);
    visit("latent_dim", c.latent_dim);
    visit("heads", c.heads);
    visit("embedding_dim", c.embedding_dim);
    visit("dropout", c.dropout);
  }
  static auto later() {
    return std::tuple_cat(table(), std::tuple{field("has_ids", &VgaeConfig::has_ids, "").later()});
  }
  LeastSize least_size() const;
  bool operator==(const VgaeConfig&) const = default;
};

/// Graph classifier: attention layers, jumping knowledge, mean pool, perceptron.
struct GatConfig : GatForm, GatSizes {
  int64_t num_ids = 0;
  int64_t node_features = 11;
  int64_t edge_features = 11;  ///< 0: edges have none
  int64_t classes = 2;         ///< or how many numbers are predicted
  bool has_ids = true;         ///< the first feature of a node names its identifier
  bool regression = false;     ///< numbers are predicted, not classes

  /// Of a layer.
  int64_t width() const { return kind().has_heads ? hidden * heads : hidden; }
  /// Whether batches must carry features of edges.
  bool reads_edges() const { return kind().reads_edges && edge_features > 0; }

  static GatConfig teacher(int64_t num_ids);
  static GatConfig student(int64_t num_ids);

  /// For config_json.h.
  template <class Config, class Visit>
  static void entries(Config& c, const Visit& visit) {
    visit("num_ids", c.num_ids);
    visit("node_features", c.node_features);
    visit("hidden", c.hidden);
    visit("layers", c.layers);
    visit("heads", c.heads);
    visit("embedding_dim", c.embedding_dim);
    visit("fc_layers", c.fc_layers);
    visit("dropout", c.dropout);
  }
  static auto later() {
    return std::tuple_cat(
        table(), std::tuple{field("edge_features", &GatConfig::edge_features, "").range(0, 65536),
                            field("classes", &GatConfig::classes, "").range(1, 65536).later(),
                            field("has_ids", &GatConfig::has_ids, "").later(),
                            field("regression", &GatConfig::regression, "").later()});
  }
  LeastSize least_size() const;
  bool operator==(const GatConfig&) const = default;
};

/// from_json throws Error(kData) naming each missing, unknown, malformed or impossible entry. What
/// later versions added may be missing: such a file means the published form.
void to_json(nlohmann::json& out, const VgaeConfig& config);
void from_json(const nlohmann::json& in, VgaeConfig& config);
void to_json(nlohmann::json& out, const GatConfig& config);
void from_json(const nlohmann::json& in, GatConfig& config);

}  // namespace kdgat::model
