// Configuration of the geometric encoder (SGMP).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "engine/model/config/least_size.h"
#include "kdgat/options.h"

namespace kdgat::space {

/// Forms of the encoder, as options.
struct SgmpForm {
  double cutoff = 10;
  std::string aggregation = "mean";
  std::string norm = "layer";

  static auto table() {
    using O = SgmpForm;
    return std::tuple{
        field("cutoff", &O::cutoff,
              "Last of the Gaussians of a distance, in median edge lengths; nothing is pruned.")
            .range(1e-3, 1e6),
        field("aggregation", &O::aggregation, Purpose::kModel,
              "Of messages at the start of their paths: the mean, or the published sum.")
            .choices({"mean", "sum"}),
        field("norm", &O::norm, Purpose::kModel,
              "Normalisation of a block's input; published: none.")
            .choices({"layer", "none"})};
  }
};

struct SgmpSizes {
  int64_t hidden = 64;       ///< channels
  int64_t interactions = 3;  ///< blocks
};

struct SgmpConfig : SgmpForm, SgmpSizes {
  int64_t node_features = 0;
  double scale = 1;  ///< positions are divided by it: the median edge length

  /// For config_json.h.
  template <class Config, class Visit>
  static void entries(Config& c, const Visit& visit) {
    visit("node_features", c.node_features);
    visit("hidden", c.hidden);
    visit("interactions", c.interactions);
  }
  static auto later() {
    return std::tuple_cat(table(),
                          std::tuple{field("scale", &SgmpConfig::scale, "").range(1e-30, 1e30)});
  }
  model::LeastSize least_size() const;
};

/// Of a stage's options: a form and sizes.
template <class Options>
SgmpConfig make_sgmp_config(const Options& options, int64_t node_features, double scale) {
  SgmpConfig out;
  static_cast<SgmpForm&>(out) = options;
  static_cast<SgmpSizes&>(out) = options;
  out.node_features = node_features;
  out.scale = scale;
  return out;
}

/// from_json throws Error(kData) naming each missing, unknown, malformed or impossible entry.
void to_json(nlohmann::json& out, const SgmpConfig& config);
void from_json(const nlohmann::json& in, SgmpConfig& config);

}  // namespace kdgat::space
