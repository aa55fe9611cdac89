// The layers of the detectors' networks as operators of ONNX: each what the class of that name in
// engine/native/layers.h computes, which the tests hold it against.
//
// N nodes, E edges, G graphs, all known only when the model runs. A layer takes and returns names
// of values of the graph under construction.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/export/onnx/onnx_graph.h"
#include "engine/file/safetensors.h"
#include "engine/model/config/input_form.h"

namespace kdgat::exporting {

class OnnxLayers {
 public:
  /// Reads weights of `file` by the names they have there, and gives constants these names. Both
  /// must outlive it.
  OnnxLayers(OnnxGraph& graph, const file::SafetensorsFile& file) : g_(graph), file_(file) {}

  /// The inputs x [N, node_features], edge_index [2, E], batch [N], and unless there are none
  /// edge_attr [E, edge_features], and what every layer needs of them: edges without self-loops,
  /// numbers of nodes and graphs. `has_ids`: the first feature of a node is its identifier.
  void inputs(int64_t node_features, int64_t edge_features, bool has_ids = true);
  /// [N, width + node_features - 1]: identifiers as vectors next to the other features; without
  /// identifiers the features alone. Standardises the edges' features as well.
  std::string embedded(const model::InputForm& form, int64_t num_ids, int64_t width);
  /// The nodes' features but for the identifier, as they came in.
  const std::string& features() const { return features_; }

  /// x W^T + b of "<name>.weight" [outputs, inputs] and, if it has one, "<name>.bias".
  std::string linear(const std::string& name, const std::string& x, bool has_bias = true);
  /// Linear layers with ReLU between them, "<name>.0", "<name>.3", ..
  std::string perceptron(const std::string& name, std::string x, int64_t layers);

  /// Attention over incoming edges and a loop of each node, [N, heads * channels]; the second kind
  /// where there are edge features.
  ///
  /// The softmax of a node's edges is of their distances to an upper bound of its scores. From
  /// opset 18 that is their maximum. Before, no operator has the maximum of a node: there it is
  /// M + 8 ln sum exp((score - M) / 8) with M the maximum of a head's scores over all edges of the
  /// batch, which lies between the node's maximum and 8 ln(edges of the node) above it. Exact while
  /// the scores of a head lie within 640 of each other and a node has at most some thousand edges;
  /// a node whose scores all lie farther below M takes the mean of its edges.
  std::string attention(const std::string& name, const std::string& x, int64_t channels,
                        int64_t heads);

  /// Sums over neighbours (unless there are no messages) and a perceptron of two layers, whose norm
  /// is "none", "graph" or "batch": [N, columns].
  std::string gin(const std::string& name, const std::string& x, int64_t inputs, int64_t columns,
                  bool has_messages, const std::string& norm);

  /// Normalisation, then ReLU.
  std::string norm_relu(const std::string& norm, const std::string& name, const std::string& x,
                        int64_t columns);
  std::string batch_norm_relu(const std::string& name, const std::string& x, int64_t columns);
  std::string graph_norm_relu(const std::string& name, const std::string& x, int64_t columns);
  std::string relu(const std::string& x) { return g_.op("Relu", {x}); }

  /// Average of a node's states [N, channels] weighted by an LSTM.
  std::string jumping_lstm(const std::string& name, const std::vector<std::string>& states,
                           int64_t channels);

  /// Mean over the nodes of each graph, [G, columns]; zeros for a graph without nodes.
  std::string mean_pool(const std::string& x, int64_t columns);
  /// The same as GatForm::pooling says, of x that is nowhere negative; "max" from opset 18 on.
  std::string pool(const std::string& pooling, const std::string& x, int64_t columns);

 private:
  /// Values of the file's tensor of that name.
  std::span<const float> values(const std::string& name) const;
  /// That tensor as a constant.
  std::string weight(const std::string& name);
  /// A row of numbers.
  std::string numbers(const std::string& name, const std::vector<float>& values);
  std::string table_of(const model::InputForm& form, int64_t num_ids, int64_t width);
  std::string standardised(const std::string& of, const std::string& x);

  std::string add(const std::string& a, const std::string& b) { return g_.op("Add", {a, b}); }
  std::string times(const std::string& a, const std::string& b) { return g_.op("Mul", {a, b}); }
  std::string rows_at(const std::string& x, const std::string& rows) {
    return g_.op("Gather", {x, rows}, {{"axis", int64_t{0}}});
  }
  /// `to` with each row of `rows` [., columns] added to the row that `index` names for it, or, by
  /// "max", the larger of both.
  std::string scattered(const std::string& to, const std::string& index, const std::string& rows,
                        int64_t columns, const std::string& reduction = "add");
  std::string zeros(const std::string& rows, int64_t columns);
  /// <x, attention vector> of each head, [., heads], of x [., heads, channels].
  std::string head_scores(const std::string& x, const std::string& att);
  /// Bias not added. `own` and `edge` are scores of the nodes' loops and of edges, [., heads].
  std::string attended(const std::string& values, const std::string& own, const std::string& edge,
                       int64_t channels, int64_t heads);
  std::string upper_bound(const std::string& own, const std::string& edge, int64_t heads);
  /// Mean of the features of each node's incoming edges, [N, edge_features].
  const std::string& loop_features();

  OnnxGraph& g_;
  const file::SafetensorsFile& file_;
  int64_t edge_features_ = 0;
  bool has_ids_ = true;
  std::string x_, features_, batch_, source_, target_, edge_attr_, loop_attr_;
  std::string edges_, nodes_, graphs_;           // numbers of them, [1]
  std::string nodes_of_graph_;                   // [G, 1], at least 1
  std::map<std::string, std::string> expanded_;  // of index and columns
  std::map<std::string, std::string> zeros_;
};

}  // namespace kdgat::exporting
