#include "engine/export/c/node_network.h"

#include <algorithm>
#include <utility>

#include "engine/export/c/c_tables.h"
#include "engine/file/safetensors.h"
#include "engine/model/config/config.h"
#include "engine/model/config/model_header.h"
#include "engine/native/layers.h"
#include "engine/native/weights.h"
#include "kdgat/error.h"

namespace kdgat::exporting {
namespace {

std::string why_not(const model::GatConfig& config) {
  if (config.conv != "none") return "conv=" + config.conv + ", which reads edges";
  if (config.norm == "graph") return "norm=graph";
  if (config.jk != "cat") return "jk=" + config.jk;
  return config.pooling == "max" ? "" : "pooling=" + config.pooling;
}

/// Writes both functions while it reads the weights.
class Writer {
 public:
  Writer(native::Weights& weights, const model::GatConfig& config)
      : tables_(weights, /*int8=*/false), config_(config) {
    out_.widest = std::max(config.node_features, config.hidden);
    out_.pooled = config.hidden * config.layers;
    node_states();
    head();
    out_.tables = tables_.text();
    out_.bytes = tables_.bytes();
  }
  NodeNetwork take() { return std::move(out_); }

 private:
  static std::string text(int64_t number) { return std::to_string(number); }
  std::string product(const std::string& name, int64_t inputs, int64_t outputs,
                      const std::string& from, const std::string& to) {
    return "  kdgat_product(&" + tables_.linear(name, inputs, outputs) + ", " + from + ", " + to +
           ");\n";
  }
  std::string norm_relu(const std::string& name, const std::string& at) {
    const int64_t width = config_.hidden;
    if (config_.norm == "none") return "  kdgat_relu(" + at + ", " + text(width) + ");\n";
    const auto [gain, shift] = native::settled_norm(tables_.weights(), name, width);
    return "  kdgat_scale_relu(" + at + ", 1, " + text(width) + ", " +
           tables_.floats(name + ".gain", gain) + ", " + tables_.floats(name + ".shift", shift) +
           ");\n";
  }

  void node_states() {
    std::string body;
    if (config_.standardise) {
      const int64_t features = config_.node_features;
      const std::string mean = tables_.tensor("input.node_mean", {features}),
                        scale = tables_.tensor("input.node_scale", {features});
      body += "  int i;\n  for (i = 0; i < " + text(features) +
              "; ++i) {\n    s->node[i] = " + "kdgat_z_score(s->node[i], " + mean + "[i], " +
              scale + "[i]);\n  }\n";
    }
    int64_t inputs = config_.node_features;
    const int64_t width = config_.hidden;
    for (int64_t i = 0; i < config_.layers; ++i) {
      const std::string conv = "convs." + text(i);
      body += product(conv + ".lin_1", inputs, width, "s->node", "s->hidden");
      body += norm_relu(conv + ".norm", "s->hidden");
      body += product(conv + ".lin_2", width, width, "s->hidden", "s->node");
      body += norm_relu("norms." + text(i), "s->node");
      body += "  kdgat_keep_largest(s->pooled + " + text(i * width) + ", s->node, " + text(width) +
              ");\n";
      out_.of_node += (inputs + width) * width;
      inputs = width;
    }
    out_.functions +=
        "\n/* Of the node in s->node. */\nstatic void kdgat_node_states(kdgat_state* "
        "s) {\n" +
        body + "}\n";
  }

  void head() {
    std::string body, from = "s->pooled", to = "s->head";
    for (int64_t i = 0; i < config_.fc_layers; ++i) {
      const int64_t outputs = i + 1 < config_.fc_layers ? out_.pooled : 2;
      body += product("head." + text(3 * i), out_.pooled, outputs, from, to);
      if (outputs > 2) body += "  kdgat_relu(" + to + ", " + text(outputs) + ");\n";
      std::swap(from, to);
      out_.of_window += out_.pooled * outputs;
    }
    out_.functions +=
        "\n/* Log-odds of attack, of s->pooled. */\nstatic float kdgat_head("
        "kdgat_state* s) {\n" +
        body + "  return " + from + "[1] - " + from + "[0];\n}\n";
  }

  CTables tables_;
  const model::GatConfig& config_;
  NodeNetwork out_;
};

}  // namespace

NodeNetwork node_network(const decision::RelativeNetwork& network) {
  const auto file = file::SafetensorsFile::parse(network.bytes(), "the detector's network");
  const auto config = model::load_header(file).config.get<model::GatConfig>();
  if (const std::string why = why_not(config); !why.empty()) {
    throw Error(ExitCode::kData, "the detector's network cannot be exported to C: " + why,
                "train it with conv=none pooling=max");
  }
  native::Weights weights(file);
  return Writer(weights, config).take();
}

}  // namespace kdgat::exporting
