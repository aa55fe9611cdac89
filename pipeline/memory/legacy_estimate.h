// The published estimate of a recommender's memory, and the published tables it is to explain:
// data, for comparison. It counts no edges, no batch and no graph; see docs/guides.md. Pure
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kdgat {

/// estimate_model_memory(): 2 (4 (users + items) H + 4 L H^2 + 4 H) / 2^30 + 0.5, and 0.3 more, to
/// one decimal, halves to even; in GB.
double legacy_estimate_gb(int64_t hidden_dim, int64_t num_layers, int64_t users, int64_t items);

/// auto_estimate_memory_from_configs(): of the largest hidden_dim and the largest num_layers, which
/// may be of different configurations; 1.5 for none. `sizes`: {hidden_dim, num_layers}.
double legacy_auto_estimate_gb(std::span<const std::pair<int64_t, int64_t>> sizes, int64_t users,
                               int64_t items);

/// Workers on one device: min(models, max(1, floor((total - buffer) / of a model))), in GB.
int64_t legacy_workers(double total_gb, double buffer_gb, double model_gb, int64_t models);

/// A row of the published tables.
struct PublishedEstimate {
  const char* table;  ///< "tool": what its example prints; "guide": the guide's reference
  const char* name;
  int64_t hidden_dim, num_layers;
  double gb;
  double original_mib;  ///< peak of one worker of the original program, measured; 0 = not measured
};
std::span<const PublishedEstimate> published_estimates();

/// A row of the published guide to devices: recommended workers for the default 1.5 GB a model.
struct PublishedWorkers {
  double gpu_gb;
  int64_t least, most;  ///< most = 0: no bound
};
std::span<const PublishedWorkers> published_workers();

}  // namespace kdgat
