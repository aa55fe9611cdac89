// The published estimate of a recommender's memory (legacy_estimate.h) beside what the stage plans:
// as JSON, and in words.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/memory/legacy_estimate.h"

namespace kdgat {

/// A net and the graph it is for.
struct LegacyNet {
  int64_t hidden_dim, num_layers;
  double users, items;
};

/// What the published formula says of a net, and what `planned` says: the "memory" of the stage's
/// answer.
nlohmann::json legacy_comparison(const nlohmann::json& planned, const LegacyNet& net);
std::string legacy_comparison_text(const nlohmann::json& compared);

/// A comparison of one of the published configurations, with what is published of it.
nlohmann::json published_comparison(nlohmann::json compared, const PublishedEstimate& published);
/// The published tables beside the formula that is to give them, the original program and this one.
std::string published_comparisons_text(const nlohmann::json& rows);

}  // namespace kdgat
