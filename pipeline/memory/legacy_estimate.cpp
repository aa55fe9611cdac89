#include "pipeline/memory/legacy_estimate.h"

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

}  // namespace

double legacy_estimate_gb(int64_t hidden_dim, int64_t num_layers, int64_t users, int64_t items) {
  const auto h = static_cast<double>(hidden_dim), layers = static_cast<double>(num_layers),
             nodes = static_cast<double>(users + items);
  const double counted = 2 * (4 * nodes * h + 4 * layers * h * h + 4 * h) / 0x1p30 + 0.5;
  // Rounds the exact value, halves to even, as Python's round() does.
  return std::stod(format_number("%.1f", counted + 0.3));
}

std::span<const PublishedEstimate> published_estimates() { return kEstimates; }

}  // namespace kdgat
