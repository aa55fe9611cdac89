#include "pipeline/memory/legacy_estimate.h"

#include <algorithm>
#include <cmath>

#include "kdgat/text.h"

namespace kdgat {
namespace {

// Table, name, hidden_dim, num_layers, GB, measured MiB. One form is called Small in the first and
// Tiny in the second.
constexpr PublishedEstimate kEstimates[] = {
    {"tool", "Small", 32, 2, 1.2, 134},        {"tool", "Baseline", 64, 2, 1.5, 261},
    {"tool", "Deeper", 64, 3, 1.7, 304},       {"tool", "Wide & Deep", 128, 3, 2.8, 600},
    {"tool", "Large", 256, 2, 3.5, 1025},      {"tool", "Very Large", 256, 4, 4.2, 1367},
    {"guide", "Tiny", 32, 2, 1.2, 134},        {"guide", "Small", 64, 2, 1.5, 261},
    {"guide", "Medium", 128, 2, 2.0, 515},     {"guide", "Large", 256, 2, 3.5, 1025},
    {"guide", "Deep", 64, 4, 1.7, 346},        {"guide", "Wide & Deep", 128, 3, 2.8, 600},
    {"guide", "Very Large", 256, 4, 4.2, 1367}};

constexpr PublishedWorkers kWorkers[] = {
    {8, 2, 3}, {12, 4, 6}, {16, 6, 9}, {24, 10, 14}, {32, 15, 0}};

}  // namespace

double legacy_estimate_gb(int64_t hidden_dim, int64_t num_layers, int64_t users, int64_t items) {
  const auto h = static_cast<double>(hidden_dim), layers = static_cast<double>(num_layers),
             nodes = static_cast<double>(users + items);
  const double counted = 2 * (4 * nodes * h + 4 * layers * h * h + 4 * h) / 0x1p30 + 0.5;
  // Rounds the exact value, halves to even, as Python's round() does.
  return std::stod(format_number("%.1f", counted + 0.3));
}

double legacy_auto_estimate_gb(std::span<const std::pair<int64_t, int64_t>> sizes, int64_t users,
                               int64_t items) {
  if (sizes.empty()) return 1.5;
  int64_t hidden = 0, layers = 0;
  for (const auto& [h, l] : sizes) {
    hidden = std::max(hidden, h);
    layers = std::max(layers, l);
  }
  return legacy_estimate_gb(hidden, layers, users, items);
}

int64_t legacy_workers(double total_gb, double buffer_gb, double model_gb, int64_t models) {
  const auto fit = static_cast<int64_t>(std::floor((total_gb - buffer_gb) / model_gb));
  return std::min(models, std::max<int64_t>(1, fit));
}

std::span<const PublishedEstimate> published_estimates() { return kEstimates; }
std::span<const PublishedWorkers> published_workers() { return kWorkers; }

}  // namespace kdgat
