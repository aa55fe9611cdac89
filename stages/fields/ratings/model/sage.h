// GraphSAGE on a graph of users and items (Hamilton et al., 2017, with a maximum or a mean for the
// sampled aggregators), its loss on rated pairs and its gradients, all written out: every buffer is
// made once, nothing the size of edges x channels exists. Owns parameters, moments and workspace;
// borrows graph and features. No global state: several may train in threads of one process.
//
// N nodes, users first; F features; H hidden; L layers; P parameters; R rows of the last layer.
//
//   h0 = [user x W_u + b_u; item x W_i + b_i] (+ a learned row of each node)
//   layer k: h <- h + (A_k m + a_k) + B_k h, m = max or mean of h over neighbours, 0 if none;
//            then ReLU and dropout but after the last
//   score s = <h_user, h_item>, over sqrt(H) unless plain
//   rating = head(s) (+ b_user + b_item), head: 1 -> 16, ReLU, dropout -> 1
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/noise_key.h"
#include "engine/memory/memory_plan.h"
#include "fields/ratings/model/sage_pairs.h"

namespace kdgat::kernels::isa {
struct SageRows;
}

namespace kdgat::ratings {

struct SageConfig {
  int64_t users = 0, items = 0, features = 0;
  int64_t hidden = 64, layers = 2;
  std::string aggregator = "max";  ///< or "mean"
  double dropout = 0.1;
  bool scaled_score = true;  ///< and first weights of layers over L
  bool bias_terms = false;   ///< b_user, b_item
  bool embeddings = false;   ///< a learned row of each node
  /// Pairs of a training batch at most, and the nodes that each of them names: 2, with a negative
  /// item 3.
  int64_t batch = 512, nodes_a_pair = 2;

  int64_t nodes() const { return users + items; }
  /// Rows of the last layer at most.
  int64_t rows() const { return std::min(nodes(), batch * nodes_a_pair); }
};
void to_json(nlohmann::json& out, const SageConfig& config);
void from_json(const nlohmann::json& in, SageConfig& config);

/// The graph that messages go along; everything outlives the net.
struct SageGraph {
  std::span<const int32_t> begin, end;  ///< [N] of a node's neighbours in col
  std::span<const int32_t> col;
  at::Tensor x_NF;
};

/// Of one step.
struct AdamStep {
  double lr = 1e-3, weight_decay = 0;
  int64_t step = 1;  ///< from 1
};

struct SageParameter {
  std::string name;
  at::Tensor value, grad;  ///< views of the flat ones
};

class SageNet {
 public:
  /// Xavier for the projections, as PyTorch's Linear for the rest; `seed` draws them, the head's
  /// bias is `head_bias`. `dtype`: kFloat, or kDouble for tests.
  SageNet(SageConfig config, SageGraph graph, uint64_t seed, double head_bias,
          at::ScalarType dtype = at::kFloat);

  const SageConfig& config() const { return config_; }
  const std::vector<SageParameter>& parameters() const { return parameters_; }
  at::Tensor parameter(const std::string& name) const;
  at::Tensor grad(const std::string& name) const;
  /// Flat: parameters, gradients, Adam's moments. [P]
  const at::Tensor& weights() const { return weights_; }
  const at::Tensor& grads() const { return grads_; }
  const at::Tensor& first_moments() const { return first_; }
  const at::Tensor& second_moments() const { return second_; }

  /// The loss of a batch and, in grads(), its gradient. Only rows of the last layer that the batch
  /// names are computed: the same numbers. Noise depends on (seed, step) of the key alone.
  double gradient(const RatedPairs& batch, const PairLoss& loss, const graph::NoiseKey& key);
  void adam(const AdamStep& step);

  /// Hidden states of all nodes, without dropout, [N, H]; valid until the next call of anything.
  at::Tensor embed();
  /// Room for a table of `columns` columns until the next call of gradient() or embed(), as many
  /// rows as there is room for.
  at::Tensor scratch(int64_t columns) const;

  /// From now on messages go along `graph`.
  void set_graph(SageGraph graph) { graph_ = std::move(graph); }
  /// Bytes of all tensors that it holds.
  int64_t bytes() const;

 private:
  void make_parameters(uint64_t seed, double head_bias);
  void make_workspace();
  at::Tensor state(int64_t layer) const;  ///< output of it, [N, H]; 0 = the projections
  void hidden_layers(const graph::NoiseKey& key, double dropout);  ///< all but the last
  /// out = the last layer of some rows, whose own states are nodes_R.
  void last_layer(const kernels::isa::SageRows& rows, const at::Tensor& nodes_R,
                  const at::Tensor& out_RH);
  void collect_rows(const RatedPairs& batch);
  void backward(const kernels::isa::SageRows& rows);

  SageConfig config_;
  SageGraph graph_;
  at::ScalarType dtype_;
  at::Tensor weights_, grads_, first_, second_;
  std::vector<SageParameter> parameters_;

  // Workspace, see sage_footprint().
  std::vector<at::Tensor> in_N2H_;     ///< of each layer but the last: m beside h
  std::vector<at::Tensor> argmax_NH_;  ///< int32, of max
  at::Tensor last_NH_;                 ///< what the last layer reads
  at::Tensor last_in_R2H_, last_argmax_RH_, out_RH_, grad_out_RH_;
  at::Tensor grad_NH_, grad_in_N2H_;
  at::Tensor row_R_, slot_N_;  ///< int32: node of a row; row of a node, -1 = none
  int64_t rows_ = 0;
};

/// Bytes of what a SageNet holds, by name, in the order of size's parts; their sum is bytes().
struct SageItem {
  std::string name;
  int64_t bytes = 0;
};
std::vector<SageItem> sage_items(const SageConfig& config);
/// Parameters of the net: 2 (F + 1) H + L (2 H^2 + H) + 49, and N with bias terms, N H with
/// embeddings.
int64_t sage_parameters(const SageConfig& config);
/// The items as a plan counts them, with the copy of the best weights.
memory::Footprint sage_footprint(const SageConfig& config);

}  // namespace kdgat::ratings
