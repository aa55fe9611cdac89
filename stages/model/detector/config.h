// Configurations of the models: what rebuilds a model exactly. No LibTorch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "model/detector/form.h"
#include "model/detector/sizes.h"

namespace kdgat::model {

/// Graph autoencoder with neighbourhood reconstruction.
struct VgaeConfig : VgaeForm, VgaeSizes {
  int64_t num_ids = 0;  ///< vocabulary with the entry for unknown ids
  int64_t node_features = 11;

  static VgaeConfig teacher(int64_t num_ids);
  static VgaeConfig student(int64_t num_ids);
  bool operator==(const VgaeConfig&) const = default;
};

/// Graph classifier: attention layers, jumping knowledge, mean pool, perceptron.
struct GatConfig : GatForm, GatSizes {
  int64_t num_ids = 0;
  int64_t node_features = 11;
  int64_t edge_features = 11;  ///< read by conv gatv2 alone

  static GatConfig teacher(int64_t num_ids);
  static GatConfig student(int64_t num_ids);
  bool operator==(const GatConfig&) const = default;
};

/// from_json throws Error(kData) naming each missing, unknown, malformed or impossible entry. What
/// later versions added may be missing: such a file means the published form.
void to_json(nlohmann::json& out, const VgaeConfig& config);
void from_json(const nlohmann::json& in, VgaeConfig& config);
void to_json(nlohmann::json& out, const GatConfig& config);
void from_json(const nlohmann::json& in, GatConfig& config);

}  // namespace kdgat::model
