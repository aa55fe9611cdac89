#include "engine/export/onnx/onnx_network.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/export/onnx/onnx_graph.h"
#include "engine/export/onnx/onnx_layers.h"
#include "engine/file/tensor_hash.h"
#include "engine/model/config/config.h"
#include "engine/native/networks.h"
#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::exporting {
namespace {

void add_classifier(OnnxGraph& graph, OnnxLayers& layers, const model::GatConfig& config) {
  layers.inputs(config.node_features, config.reads_edges() ? config.edge_features : 0,
                config.has_ids);
  std::string x = layers.embedded(config, config.num_ids, config.embedding_dim);
  const int64_t width = config.width();
  int64_t inputs =
      config.has_ids ? config.embedding_dim + config.node_features - 1 : config.node_features;
  std::vector<std::string> states;
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string conv = "convs." + std::to_string(i), norm = "norms." + std::to_string(i);
    x = config.is_gin() ? layers.gin(conv, x, inputs, width, config.conv == "gin", config.norm)
                        : layers.attention(conv, x, config.hidden, config.heads);
    x = layers.norm_relu(config.norm, norm, x, width);
    states.push_back(x);
    inputs = width;
  }
  std::string pooled;
  if (config.jk == "lstm") {
    pooled = layers.pool(config.pooling, layers.jumping_lstm("jk", states, width), width);
  } else {
    const std::string together =
        states.size() == 1 ? x : graph.op("Concat", states, {{"axis", int64_t{1}}});
    pooled = layers.pool(config.pooling, together, width * config.layers);
  }
  const std::string said = layers.perceptron("head", pooled, config.fc_layers);
  graph.scope("score");
  const std::string logits = graph.op("Identity", {said}, {}, "logits");
  const auto of_class = [&](int64_t number) {
    return graph.op("Gather", {logits, graph.number(number)}, {{"axis", int64_t{1}}});
  };
  const std::string odds = graph.op("Sub", {of_class(1), of_class(0)});
  const std::string score = graph.op("Sigmoid", {odds}, {}, "score");
  graph.output({logits, OnnxType::kFloat, {"graphs", int64_t{2}}, "benign, attack"});
  graph.output({score, OnnxType::kFloat, {"graphs"}, "probability of attack"});
}

void add_autoencoder(OnnxGraph& graph, OnnxLayers& layers, const model::VgaeConfig& config) {
  constexpr int64_t kDecoderHeads = 4;
  layers.inputs(config.node_features, 0);
  std::string x = layers.embedded(config, config.num_ids, config.embedding_dim);
  const auto block = [&](const std::string& name, int64_t width, int64_t heads) {
    const int64_t channels = width % heads == 0 ? width / heads : width;
    x = layers.attention(name + ".conv", x, channels, heads);
    x = config.norm == "graph" ? layers.graph_norm_relu(name + ".norm", x, channels * heads)
                               : layers.batch_norm_relu(name + ".norm", x, channels * heads);
  };
  std::vector<int64_t> widths = config.hidden_dims;
  if (widths.size() > 1 && widths.back() == config.latent_dim) widths.pop_back();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    block("encoder." + std::to_string(i), widths[i], i == 0 ? config.heads : 1);
  }
  graph.scope("mean");
  x = layers.linear("mean", x);
  block("decoder", widths.back(), kDecoderHeads);
  const int64_t features = config.node_features - 1;
  const std::string made = layers.attention("output", x, features, 1);
  graph.scope("score");
  const std::string off = graph.op("Sub", {graph.op("Sigmoid", {made}), layers.features()});
  const std::string sum = graph.op("ReduceSum", {graph.op("Mul", {off, off}), graph.row({1})},
                                   {{"keepdims", int64_t{1}}});
  const std::string of_node = graph.op("Div", {sum, graph.number(static_cast<float>(features))});
  const std::string score =
      graph.op("Squeeze", {layers.mean_pool(of_node, 1), graph.row({1})}, {}, "score");
  graph.output({score, OnnxType::kFloat, {"graphs"}, "mean squared error of features"});
}

void require_form(const file::SafetensorsFile& file, const model::ModelHeader& header) {
  if (header.name == "gat" || header.name == "vgae") return;
  const bool is_fusion = header.name == "fusion";
  throw Error(ExitCode::kData,
              file.path().string() + ": a model '" + header.name + "' has no ONNX form: " +
                  (is_fusion ? "the fusion joins the scores of two networks"
                             : "it is no classifier or autoencoder of windows"),
              is_fusion ? "export its classifier and its autoencoder, and join their scores outside"
                        : "export the model of a step 'classifier' or 'autoencoder'");
}

OnnxFacts facts_of(const file::SafetensorsFile& file, const model::ModelHeader& header,
                   int64_t num_ids) {
  const bool is_classifier = header.name == "gat";
  OnnxFacts facts;
  facts.graph_name = is_classifier ? "classifier" : "autoencoder";
  facts.doc =
      std::string("Scores of windows of a CAN bus, each a graph: ") +
      (is_classifier ? "the probability of an attack." : "how far off a reconstruction is.");
  facts.producer = "kdgat";
  facts.producer_version = KDGAT_VERSION;
  facts.metadata = {{"kind", facts.graph_name},
                    {"hash", file::hash_file(file.path())},
                    {"vocabulary_size", std::to_string(num_ids)}};
  for (const char* key : {"vocabulary", "node_features", "edge_features"}) {
    if (header.data.contains(key)) facts.metadata.emplace_back(key, header.data.at(key).dump());
  }
  if (header.data.contains("import")) {
    const nlohmann::json& import = header.data.at("import");
    for (const char* key : {"window", "stride"}) {
      if (import.contains(key)) facts.metadata.emplace_back(key, import.at(key).dump());
    }
  }
  if (const auto decision = model::decision_of(header)) {
    facts.metadata.emplace_back("threshold", format_number("%.17g", decision->threshold));
  }
  return facts;
}

}  // namespace

int least_opset(const model::ModelHeader& header) {
  const bool takes_maximum =
      header.name == "gat" && header.config.get<model::GatConfig>().pooling == "max";
  return takes_maximum ? kNewestOpset : kOldestOpset;
}

std::string onnx_network(const file::SafetensorsFile& file, const model::ModelHeader& header,
                         int opset) {
  if (opset != kOldestOpset && opset != kNewestOpset) {
    throw Error(ExitCode::kUsage, "no ONNX model is written for opset " + std::to_string(opset),
                "use opset 16 or 18; runtimes read models of older opsets than their own");
  }
  require_form(file, header);
  if (opset < least_opset(header)) {
    throw Error(
        ExitCode::kUsage,
        file.path().string() + ": opset " + std::to_string(opset) + " has no maximum of rows",
        "pooling=max needs opset 18");
  }
  // Checks hashes, shapes and values, and that nothing of the file is left over.
  native::load_network(file, header);
  OnnxGraph graph(opset);
  OnnxLayers layers(graph, file);
  int64_t num_ids = 0;
  if (header.name == "gat") {
    const auto config = header.config.get<model::GatConfig>();
    add_classifier(graph, layers, config);
    num_ids = config.num_ids;
  } else {
    const auto config = header.config.get<model::VgaeConfig>();
    add_autoencoder(graph, layers, config);
    num_ids = config.num_ids;
  }
  std::string out = graph.file(facts_of(file, header, num_ids));
  if (out.size() > static_cast<std::size_t>(std::numeric_limits<int32_t>::max())) {
    throw Error(ExitCode::kData,
                file.path().string() + ": as an ONNX file it has " + grouped(std::ssize(out)) +
                    " bytes, more than the format allows (2 GiB)",
                "train it smaller, or with id_embedding hashed or fewer ids");
  }
  return out;
}

}  // namespace kdgat::exporting
