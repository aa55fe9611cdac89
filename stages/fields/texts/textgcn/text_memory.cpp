#include "fields/texts/textgcn/text_memory.h"

#include <algorithm>
#include <fstream>

namespace kdgat::textgcn {

namespace {

constexpr int64_t kFloat = sizeof(float), kInt = sizeof(int32_t);
constexpr int64_t kPanelColumns = 64;  // of a product, at most

/// row_ptr, col, value; y, masks.
int64_t graph_bytes(const TextSizes& sizes) {
  return (kInt + kFloat) * sizes.nonzeros + (kInt + int64_t{sizeof(int64_t)} + 4) * sizes.nodes;
}

int64_t first_weight(const texts::TextGcnConfig& config) {
  return config.nodes * config.first_columns();
}

/// Numbers that a step holds at most beside weights, gradients and moments: hidden state, its
/// gradient, and that before the activation, of which one stands where the first gradient will. A
/// fused activation keeps a bit of each number beside them.
int64_t step_numbers(const texts::TextGcnConfig& config) {
  int64_t widest = 0, kept = 0, bits = 0;
  if (config.model == "text_gcn") {
    for (const int64_t width : config.hidden_dims) {
      widest = std::max(widest, width);
      kept += width;
      bits += (width + 31) / 32;
    }
  } else {
    widest = kept = config.classes;
  }
  const bool is_fused = config.act == "relu" && !config.use_bn;
  const int64_t a_layer = is_fused ? 1 : 3;        // else activation, norm and mask are kept each
  const int64_t gradient = is_fused ? 0 : widest;  // a fused one writes it over what it came from
  return config.nodes * (a_layer * kept + (is_fused ? bits : 0) + gradient + 4 * config.classes);
}

}  // namespace

TextSizes sizes_of(const nlohmann::json& text_facts) {
  return {text_facts.at("nodes"), text_facts.at("nonzeros"),
          static_cast<int64_t>(text_facts.at("classes").size())};
}

texts::TextGcnConfig config_of(const TextGcnOptions& options, const TextSizes& sizes) {
  texts::TextGcnConfig out;
  static_cast<texts::TextGcnForm&>(out) = options;
  out.nodes = sizes.nodes;
  out.classes = sizes.classes;
  return out;
}

int64_t count_parameters(const texts::TextGcnConfig& config) {
  const bool is_gcn = config.model == "text_gcn";
  const bool is_mlp = is_gcn && config.pred_type == "mlp";
  int64_t out = 0, inputs = config.nodes;
  const auto layer = [&](int64_t outputs, bool is_last) {
    out += inputs * outputs;
    if (config.bias || !is_gcn) out += outputs;
    if (is_gcn && config.use_bn) out += 2 * outputs;
    if (is_gcn && config.act == "prelu" && (!is_last || is_mlp)) out += 1;
    inputs = outputs;
  };
  if (is_gcn) {
    for (const int64_t width : config.hidden_dims) layer(width, false);
  }
  layer(is_mlp ? inputs : config.classes, true);
  while (is_mlp) {
    const int64_t outputs = std::max(inputs / 2, config.classes);
    out += inputs * outputs + outputs;
    inputs = outputs;
    if (outputs == config.classes) break;
  }
  return out;
}

memory::Footprint footprint(const TextGcnOptions& options, const TextSizes& sizes,
                            bool has_validation) {
  const texts::TextGcnConfig config = config_of(options, sizes);
  const int64_t weights = kFloat * count_parameters(config), first = kFloat * first_weight(config);
  memory::Footprint out;
  out.embeddings = first;
  out.parameters = weights - first;
  out.gradients = weights;
  out.optimizer = 2 * weights;
  if (options.stop == "best" && has_validation) out.weights_kept = weights;
  out.input.fixed = static_cast<double>(graph_bytes(sizes));
  if (!options.use_edge_weights) out.input.fixed += static_cast<double>(kFloat * sizes.nonzeros);
  const auto phase = [&](const char* name, int64_t numbers) {
    out.phases.push_back(
        {name, {out.input.fixed + static_cast<double>(kFloat * numbers), 0, 0, 0}});
  };
  phase("hidden states and their gradients", step_numbers(config));
  phase("gradient of the first weight",
        sizes.nodes * (config.first_columns() + std::min(kPanelColumns, config.first_columns())));
  return out;
}

nlohmann::json bytes_by_category(const TextGcnOptions& options, const TextSizes& sizes,
                                 bool has_validation) {
  const memory::Footprint f = footprint(options, sizes, has_validation);
  const auto graph = static_cast<int64_t>(f.input.fixed);
  const int64_t step = f.peak({}) - f.held() - graph;
  const int64_t hidden = config_of(options, sizes).first_columns();
  return {{"graph, mapped", graph},
          {"weights", f.parameters + f.embeddings},
          {"gradients", f.gradients},
          {"moments", f.optimizer},
          {"best weights", f.weights_kept},
          {"hidden states and their gradients", step},
          {"total", f.held() + graph + step},
          {"identity, naive", kFloat * sizes.nodes * sizes.nodes},
          {"messages, naive", kFloat * sizes.nonzeros * hidden}};
}

Resident resident_memory() {
  Resident out;
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    int64_t kib = 0;
    if (key == "VmRSS:" && status >> kib) out.now = kib * 1024;
    if (key == "VmHWM:" && status >> kib) out.peak = kib * 1024;
  }
  return out;
}

}  // namespace kdgat::textgcn
