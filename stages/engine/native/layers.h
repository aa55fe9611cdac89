// The layers of the detectors' students on plain arrays: forward passes alone, over the inner loops
// of the instruction set (model/kernels/cpu/isa). What each computes stands beside the module of
// the same name in stages/model/layers, which the tests hold it against.
//
// N nodes, E edges, rows side by side. A layer keeps its weights and what it works in, which grows
// to the largest batch seen and is then kept: one layer serves one thread.
//
// At the portable level every number is defined by the source (engine/kernels/cpu/isa/tables.h),
// those here as well: own exp and tanh, no operation joined with another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/pack.h"
#include "engine/model/config/input_form.h"
#include "engine/native/weights.h"

namespace kdgat::native {

/// x W^T + b. Weights stand transposed and padded as the loops want them.
class Linear {
 public:
  /// Of "<name>.weight" [outputs, inputs] and, if it has one, "<name>.bias".
  Linear(Weights& weights, const std::string& name, int64_t inputs, int64_t outputs,
         bool has_bias = true);
  /// Of tensors with other names; `bias` may be empty.
  Linear(std::span<const float> weight, std::span<const float> bias, int64_t inputs,
         int64_t outputs);

  /// out [rows, outputs]; not `x` itself.
  void apply(const float* x, int64_t rows, float* out);
  int64_t inputs() const { return inputs_; }
  int64_t outputs() const { return outputs_; }

 private:
  int64_t inputs_, outputs_, columns_;
  std::vector<float> weight_, bias_;  // [inputs, columns], [columns]
  std::vector<float> cells_;
};

/// Linear layers with ReLU between them, "<name>.0", "<name>.3", ..
class Perceptron {
 public:
  Perceptron(Weights& weights, const std::string& name, int64_t width, int64_t outputs,
             int64_t layers);
  /// out [rows, outputs]; x is overwritten.
  void apply(std::vector<float>& x, int64_t rows, float* out);

 private:
  std::vector<Linear> linears_;
  std::vector<float> next_;
};

/// Identifiers as vectors next to the other features; see engine/model/layers/input.h.
class Input {
 public:
  /// `edge_features`: 0 where the model reads none. Without ids `num_ids` and `width` are not read.
  Input(Weights& weights, const model::InputForm& form, int64_t num_ids, int64_t node_features,
        int64_t width, int64_t edge_features, bool has_ids = true);

  /// x [N, width()]. Throws Error(kData) if the batch has other features or ids.
  void apply(const graph::GraphBatch& batch, std::vector<float>& x) const;
  /// Features of edges [E, D], standardised where the form says so: a view of the batch or of
  /// `out`. Throws Error(kData) if the batch has none or others.
  const float* edges(const graph::GraphBatch& batch, std::vector<float>& out) const;
  int64_t width() const { return embedding_ + features(); }

 private:
  /// Those that are no identifier.
  int64_t features() const { return has_ids_ ? node_features_ - 1 : node_features_; }

  bool has_ids_;
  int64_t num_ids_, node_features_, embedding_, edge_features_;
  std::vector<float> table_;  // of each identifier, [num_ids, embedding]
  std::vector<float> node_mean_, node_scale_, edge_mean_, edge_scale_;
};

/// Attention over incoming edges, of either kind; see engine/model/layers/gat_conv.h and
/// gatv2_conv.h.
class Attention {
 public:
  /// `edge_features`: of the second kind; 0 = the first.
  Attention(Weights& weights, const std::string& name, int64_t inputs, int64_t channels,
            int64_t heads, int64_t edge_features = 0);

  /// out [N, width()]; `edges` is read by the second kind alone.
  void apply(const float* x, const graph::GraphBatch& batch, const float* edges, float* out);
  int64_t width() const { return heads_ * channels_; }

 private:
  void first(const float* x, const graph::GraphBatch& batch, float* out);
  void second(const float* x, const graph::GraphBatch& batch, const float* edges, float* out);

  int64_t channels_, heads_, edge_features_;
  std::vector<Linear> lin_;  // one, or of the second kind those of sources and targets
  std::vector<float> att_src_, att_dst_, bias_, lin_edge_;
  std::vector<float> h_, r_, scores_, row_;
};

/// Normalisation with running statistics, or over each graph, then ReLU, in place; or ReLU alone.
class NormRelu {
 public:
  enum class Kind { kNone, kBatch, kGraph };
  NormRelu(Weights& weights, const std::string& name, Kind kind, int64_t columns);

  /// x [N, columns].
  void apply(float* x, const graph::GraphBatch& batch);

 private:
  Kind kind_;
  int64_t columns_;
  std::vector<float> gain_, shift_;  // of kBatch settled, of kGraph those of the graph in hand
  std::vector<float> weight_, bias_, mean_scale_, mean_, square_;
};

/// Sums over neighbours and a perceptron of two layers; see engine/model/layers/gin_conv.h.
class GinLayer {
 public:
  GinLayer(Weights& weights, const std::string& name, int64_t inputs, int64_t width,
           bool has_messages, NormRelu::Kind norm);

  /// out [N, width].
  void apply(const float* x, const graph::GraphBatch& batch, float* out);

 private:
  int64_t inputs_;
  bool has_messages_;
  float own_ = 1;  // factor of a node's own state
  Linear first_, second_;
  NormRelu norm_;
  std::vector<float> sums_, hidden_;
};

/// Average of a node's states weighted by an LSTM; see engine/model/layers/jumping.h.
class JumpingLstm {
 public:
  JumpingLstm(Weights& weights, const std::string& name, int64_t channels, int64_t layers);

  /// `states`: of each layer [N, channels]; out likewise.
  void apply(std::span<const std::vector<float>> states, int64_t nodes, std::vector<float>& out);

 private:
  struct Direction {
    Linear in, again;  // of the input and of the state, [4 units] in the order i f g o
  };
  void read(Direction& direction, std::span<const std::vector<float>> states, int64_t nodes,
            bool is_reverse);

  int64_t channels_, units_;
  std::vector<Direction> directions_;
  Linear att_;
  std::vector<std::vector<float>> said_;  // of each layer [N, 2 units]
  std::vector<float> gates_, more_, state_, cell_, weights_;
};

/// Mean over the nodes of each graph, to columns [at, at + columns) of out [G, width].
void mean_pool(const float* x, const graph::GraphBatch& batch, int64_t columns, int64_t at,
               int64_t width, float* out);
/// The same with what GatForm::pooling says.
void pool(const std::string& pooling, const float* x, const graph::GraphBatch& batch,
          int64_t columns, int64_t at, int64_t width, float* out);

/// What an identifier adds to x, [num_ids, width]: its row, or the sum of those it is hashed to.
std::vector<float> embedding_table(Weights& weights, const model::InputForm& form, int64_t num_ids,
                                   int64_t width);
/// A batch norm with running statistics as a factor and a summand of each column.
struct SettledNorm {
  std::vector<float> gain, shift;
};
SettledNorm settled_norm(Weights& weights, const std::string& name, int64_t columns);
/// Of [rows, columns].
std::vector<float> transposed(std::span<const float> matrix, int64_t rows, int64_t columns);

/// Grows to at least so many, and never shrinks.
float* room(std::vector<float>& values, int64_t count);

}  // namespace kdgat::native
