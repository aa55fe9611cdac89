// Models of one graph of texts, as options.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "kdgat/options.h"

namespace kdgat::texts {

/// Defaults are those first published (Yao, Mao, Luo, AAAI 2019).
struct TextGcnForm {
  std::string model = "text_gcn";
  std::vector<int64_t> hidden_dims = {200};
  double dropout = 0.5;
  std::string act = "relu";
  bool bias = false;
  bool use_bn = false;
  bool use_edge_weights = true;
  std::string pred_type = "softmax";
  int64_t hops = 2;
  double alpha = 0.05;

  static auto table() {
    using F = TextGcnForm;
    return std::tuple{
        field("model", &F::model, Purpose::kModel,
              "text_gcn, layers of a graph convolution; sgc, the power S^hops of the graph and one "
              "linear layer; ssgc, the mean of the powers, with alpha of the document itself.")
            .alias("model_type")
            .choices({"text_gcn", "sgc", "ssgc"}),
        field("hidden_dims", &F::hidden_dims, Purpose::kModel,
              "Channels of the hidden layers of text_gcn, e.g. [200], one number a layer.")
            .range(1, 1 << 20),
        field("dropout", &F::dropout, Purpose::kModel,
              "Share of a layer's inputs that training leaves out, but of the first layer's.")
            .first()
            .range(0, 0.99),
        field("act", &F::act, Purpose::kModel, "Between layers.")
            .choices({"relu", "prelu", "sigmoid", "tanh"}),
        field("bias", &F::bias, "Layers have a bias."),
        field("use_bn", &F::use_bn,
              "Batch normalisation after each layer, over all nodes; it needs the hidden state of "
              "every node, which training otherwise leaves out."),
        field("use_edge_weights", &F::use_edge_weights,
              "Weigh edges by TF-IDF and PMI; false = all edges are alike."),
        field("pred_type", &F::pred_type,
              "softmax: the last layer gives classes; mlp: it keeps its width, and linear layers "
              "that halve it follow.")
            .choices({"softmax", "mlp"}),
        field("hops", &F::hops, Purpose::kModel, "Powers of the graph that sgc and ssgc reach.")
            .range(1, 64),
        field("alpha", &F::alpha, "Weight of the document itself in ssgc.").range(0, 1)};
  }
  bool operator==(const TextGcnForm&) const = default;
};

/// Of N nodes and C classes.
struct TextGcnConfig : TextGcnForm {
  int64_t nodes = 0;
  int64_t classes = 0;

  /// Convolutions: products with the graph.
  int64_t layers() const {
    return model == "text_gcn" ? static_cast<int64_t>(hidden_dims.size()) + 1 : hops;
  }
  /// Columns of the first weight, [nodes, columns].
  int64_t first_columns() const { return model == "text_gcn" ? hidden_dims.front() : classes; }
};

inline void to_json(nlohmann::json& out, const TextGcnConfig& config) {
  out = dump_options(static_cast<const TextGcnForm&>(config));
  out["nodes"] = config.nodes;
  out["classes"] = config.classes;
}

}  // namespace kdgat::texts
