// Configuration of a fusion: what rebuilds it exactly.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "engine/model/config/least_size.h"
#include "kdgat/options.h"

namespace kdgat::model {

/// Joins the answers of an autoencoder and a classifier, whose files stand beside its own.
struct FusionConfig {
  int64_t num_ids = 0;
  int64_t node_features = 11;
  std::string method = "mlp";  ///< "dqn", "bandit", "mlp" or "weighted"
  int64_t hidden = 64;         ///< units of each layer; weighted has none
  int64_t layers = 2;
  int64_t alpha_steps = 21;  ///< weights that dqn and bandit choose from
  double dropout = 0.2;
  std::string autoencoder;  ///< xxh3-128 of the autoencoder's file
  std::string classifier;
  bool has_ids = true;  ///< of nodes: else a state has no error of an identifier

  /// For config_json.h.
  template <class Config, class Visit>
  static void entries(Config& c, const Visit& visit) {
    visit("num_ids", c.num_ids);
    visit("node_features", c.node_features);
    visit("hidden", c.hidden);
    visit("layers", c.layers);
    visit("method", c.method);
    visit("alpha_steps", c.alpha_steps);
    visit("autoencoder", c.autoencoder);
    visit("classifier", c.classifier);
    visit("dropout", c.dropout);
  }
  static auto later() { return std::tuple{field("has_ids", &FusionConfig::has_ids, "").later()}; }
  LeastSize least_size() const;

  bool operator==(const FusionConfig&) const = default;
};

/// from_json throws Error(kData) naming each missing, unknown or malformed entry.
void to_json(nlohmann::json& out, const FusionConfig& config);
void from_json(const nlohmann::json& in, FusionConfig& config);

}  // namespace kdgat::model
