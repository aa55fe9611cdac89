// What a SageNet holds, counted from shapes: see SageNet::make_workspace().
#include "fields/ratings/model/sage.h"

namespace kdgat::ratings {

int64_t sage_parameters(const SageConfig& c) {
  const int64_t H = c.hidden, N = c.nodes();
  return 2 * (c.features + 1) * H + c.layers * (2 * H * H + H) + 3 * kHeadUnits + 1 +
         (c.bias_terms ? N : 0) + (c.embeddings ? N * H : 0);
}

std::vector<SageItem> sage_items(const SageConfig& c) {
  constexpr int64_t kFloat = 4, kIndex = 4;
  const int64_t H = c.hidden, N = c.nodes(), R = c.rows(), P = sage_parameters(c);
  const int64_t index = c.aggregator == "max" ? kIndex : 0;
  std::vector<SageItem> out = {
      {"weights", kFloat * P}, {"gradients", kFloat * P}, {"Adam's moments", 2 * kFloat * P}};
  for (int64_t k = 1; k < c.layers; ++k) {
    out.push_back({"layer " + std::to_string(k) + ": m, h, argmax", N * H * (2 * kFloat + index)});
  }
  out.push_back({"states before the last layer", kFloat * N * H});
  out.push_back({"last layer, rows of the batch", R * H * (2 * kFloat + index + 2 * kFloat)});
  out.push_back({"gradient of states", kFloat * N * H});
  out.push_back({"gradient of a layer's input", 2 * kFloat * H * (c.layers > 1 ? N : R)});
  out.push_back({"numbers of rows", kIndex * (R + N)});
  return out;
}

memory::Footprint sage_footprint(const SageConfig& config) {
  memory::Footprint out;
  double workspace = 0;
  for (const SageItem& item : sage_items(config)) {
    if (item.name == "weights") {
      out.parameters = item.bytes;
    } else if (item.name == "gradients") {
      out.gradients = item.bytes;
    } else if (item.name == "Adam's moments") {
      out.optimizer = item.bytes;
    } else {
      out.components.push_back({item.name, {static_cast<double>(item.bytes)}});
      workspace += static_cast<double>(item.bytes);
    }
  }
  out.weights_kept = out.parameters;
  out.margin = 0.05;
  out.phases = {{"step", {workspace}}};
  return out;
}

}  // namespace kdgat::ratings
