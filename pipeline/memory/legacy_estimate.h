// The published estimate of a recommender's memory, and the published tables it is to explain:
// data, for comparison. It counts no edges, no batch and no graph; see docs/guides.md. Pure
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kdgat {

/// estimate_model_memory(): 2 (4 (users + items) H + 4 L H^2 + 4 H) / 2^30 + 0.5, and 0.3 more, to
/// one decimal, halves to even; in GB.
double legacy_estimate_gb(int64_t hidden_dim, int64_t num_layers, int64_t users, int64_t items);

/// A row of the published tables.
struct PublishedEstimate {
  const char* table;  ///< "tool": what its example prints; "guide": the guide's reference
  const char* name;
  int64_t hidden_dim, num_layers;
  double gb;
  double original_mib;  ///< peak of one worker of the original program, measured; 0 = not measured
};
std::span<const PublishedEstimate> published_estimates();

}  // namespace kdgat
