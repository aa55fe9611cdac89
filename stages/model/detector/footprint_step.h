// The operations of the models on sizes (memory/tape.h); included by footprint.cpp alone. Each
// allocates what the real one does, in the same order: where that changes, so must this.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "memory/tape.h"
#include "model/detector/footprint.h"
#include "model/detector/footprint_plain.h"
#include "model/detector/kernel_counts.h"
#include "model/kernels/products.h"

namespace kdgat::model {

using memory::Cost;
using memory::Footprint;
using memory::Held;
using memory::Tape;
using memory::Value;

constexpr Cost kOnce{.fixed = 1}, kGraphs{.graph = 1}, kNodes{.node = 1}, kEdges{.edge = 1};
constexpr double kFloat = 4, kHalf = 2, kInt = 4, kLong = 8;
constexpr double kRowsOfBlock = 256;  // of attention and norms: each block has sums of its own
constexpr double kRowsOfRun = 192;    // of gin layers with batch norms, at least

/// What an elementwise operation keeps for backward.
enum class Keeps { kNothing, kInput, kResult };

class Step {
 public:
  explicit Step(const FootprintOptions& options)
      : tape(options.accumulating), options_(options), counts_(kernel_counts(options.kernels)) {
    if (options.kernels != KernelSet::kCpu) tape.follow_blocks();
  }

  Tape tape;
  double buffers = 0;  ///< bytes of what a model keeps beside parameters
  double table = 0;    ///< elements of the embedding

  /// The batch: gathered, where graph::Buffer leaves a quarter to grow, or a copy of that.
  void batch(int64_t node_features, int64_t edge_features) {
    const auto features = static_cast<double>(node_features);
    input_ = (kGraphs * (kInt + 2 * kLong) + kNodes * (kFloat * features + kInt) +
              kEdges * (kInt + kFloat * static_cast<double>(edge_features)) + kOnce * (2 * kInt)) *
             (counts_.copies_batch ? 1 : 1.25);
    tape.enter("the input");
    kept_.push_back(tape.hold(input_));
  }

  /// Input: embedding and features side by side.
  Value input(const InputForm& form, int64_t num_ids, int64_t node_features, int64_t width) {
    const auto features = static_cast<double>(node_features - 1), d = static_cast<double>(width);
    const bool hashed = form.id_embedding == "hashed";
    const double rows = static_cast<double>(hashed ? form.id_buckets : num_ids);
    if (hashed) buffers += kLong * 2 * static_cast<double>(num_ids);
    if (form.standardise) buffers += kFloat * 2 * features;
    table = rows * d;

    Held id = tape.hold(kNodes * kInt);
    kept_.push_back(id);
    if (form.id_embedding == "unknown") {
      tape.hold(kNodes * (2 * kFloat + 1 + kInt));
      id = tape.hold(kNodes * kInt);
    }
    if (hashed) id = tape.hold(kNodes * (2 * kLong));
    Value embedded = tape.value(kNodes, d);
    tape.then(embedded, [this, id, d, rows](const Held&) {
      const Held dense = tape.hold(kNodes * (kFloat * d));  // the columns taken out of the whole
      tape.parameters({rows * d});
    });
    if (hashed) {
      const Held both = tape.hold(kNodes * (2 * kFloat * d));
    }
    Held scores;
    if (form.standardise) {
      tape.hold(kNodes * (3 * kFloat * features));
      scores = tape.hold(kNodes * (kFloat * features));
    }
    Value x = tape.value(kNodes, d + features);
    tape.then(x, [this, embedded = embedded.without_data()](const Held& grad) {
      tape.pass(embedded, grad);
    });
    return x;
  }

  /// Input of nodes without identifiers: all columns are features.
  Value features(const InputForm& form, int64_t node_features) {
    const auto width = static_cast<double>(node_features);
    kept_.push_back(tape.hold(kNodes * kInt));
    if (form.standardise) {
      buffers += kFloat * 2 * width;
      tape.hold(kNodes * (3 * kFloat * width));
    }
    return tape.value(kNodes, width);
  }

  /// Edge features as the model reads them.
  Held edges(const InputForm& form, int64_t edge_features) {
    const double features = static_cast<double>(edge_features);
    if (!form.standardise) return nullptr;
    buffers += kFloat * 2 * features;
    tape.hold(kEdges * (3 * kFloat * features));
    return tape.hold(kEdges * (kFloat * features));
  }

  struct Product {
    Value value;
    Held rounded;  ///< the result in 16 bits, before it is 32 again
  };

  /// y = x W^T + b.
  Product linear(const Value& x, double outputs, bool bias = true) {
    if (!has_own_products(x)) return linear_of_libtorch(x, outputs, bias);
    const Value y = tape.value(x.rows, outputs);
    tape.then(y, [this, x, gradients = of_layer(x, outputs, bias)](const Held&) {
      tape.give(x);
      gradients();
    });
    return {y, nullptr};
  }

  /// In mixed precision its inputs are rounded, each time anew, and kept so.
  Product linear_of_libtorch(const Value& x, double outputs, bool bias = true) {
    if (options_.precision == "32") return linear(x, outputs, bias);
    const auto gradients = of_layer(x, outputs, bias);
    const double weight = x.width * outputs, shift = bias ? outputs : 0;
    const Value x16 = tape.value(x.rows, x.width, kHalf);
    tape.then(x16, [this, x = x.without_data()](const Held&) { tape.give(x); });
    const Value weights16 = tape.value(kOnce, weight + shift, kHalf);
    tape.then(weights16, [gradients](const Held&) { gradients(); });
    const Value y16 = tape.value(x.rows, outputs, kHalf);
    tape.then(y16, [this, x16, weights16](const Held&) {
      tape.give(x16);
      tape.give(weights16);
    });
    const Value y = tape.value(x.rows, outputs);
    tape.then(y, [this, y16 = y16.without_data()](const Held&) { tape.give(y16); });
    return {y, y16.data};
  }

  Value elementwise(const Value& x, Keeps keeps) {
    Value y = tape.value(x.rows, x.width);
    Held kept;
    if (keeps == Keeps::kInput) kept = x.data;
    if (keeps == Keeps::kResult) kept = y.data;
    tape.then(y, [this, x = x.without_data(), kept](const Held&) { tape.give(x); });
    return y;
  }
  Value relu_dropout(const Value& x) {
    return is_plain() ? plain_relu_dropout(tape, x) : elementwise(x, Keeps::kResult);
  }

  /// GatConv: product, scores of nodes and their softmax; nothing is kept by edge.
  Value attention(const Value& x, int64_t channels, int64_t head_count) {
    const auto heads = static_cast<double>(head_count);
    const double width = heads * static_cast<double>(channels);
    const Product product = linear(x, width, /*bias=*/false);
    const Value& h = product.value;
    if (is_plain()) {
      return plain_attention(tape, h, heads, 0, 0, [this, width] {
        tape.parameters({width, width, width});
      });
    }
    Value out = tape.value(h.rows, width);
    const Held scores = tape.hold(kNodes * (3 * kFloat * heads));
    edges_by_source();
    tape.then(out, [this, h, scores, kept = out.data, heads, width](const Held&) {
      const Held grad = tape.hold(h.bytes()),
                 workspace = tape.hold(kNodes * (counts_.scores_of_node * kFloat * heads)),
                 of_edges =
                     tape.hold((kEdges + kNodes) * (counts_.scores_of_edge * kFloat * heads)),
                 partials = tape.hold(sums_of_blocks(counts_.sums_of_block * width));
      tape.parameters({width, width, width});
      tape.pass(h, grad);
    });
    return out;
  }

  /// GatV2Conv: two products; the weights of edges are kept.
  Value attention_with_edges(const Value& x, const Held& attr, int64_t channels, int64_t head_count,
                             int64_t edge_features) {
    const auto heads = static_cast<double>(head_count), d = static_cast<double>(edge_features);
    const double width = heads * static_cast<double>(channels);
    const Product targets = linear(x, width), sources = linear(x, width);
    const Value &r = targets.value, &l = sources.value;
    if (is_plain()) {
      return plain_attention(tape, l, heads, 2, d, [this, r, d, width] {
        tape.give(r);
        tape.parameters({d * width, width, width});
      });
    }
    const Held weight = tape.hold(kOnce * (kFloat * d * width));
    const Held loops = tape.hold(kNodes * (counts_.loop_features * kFloat * d));
    const Held alpha = tape.hold((kNodes + kEdges) * (kFloat * heads));
    edges_by_source();
    Value out = tape.value(l.rows, width);
    const double rows_of_block = counts_.rows_of_block ? width + d : 0;
    tape.hold(sums_of_blocks(rows_of_block));
    tape.then(out, [this, l, r, attr, weight, loops, alpha, kept = out.data, heads, width, d,
                    rows_of_block](const Held&) {
      const Cost edges = kEdges + kNodes, of_sums = counts_.sums2_of_edges ? edges : kNodes;
      const Held grad_l = tape.hold(l.bytes()), grad_r = tape.hold(r.bytes()),
                 of_nodes = tape.hold(kNodes * (counts_.scores2_of_node * kFloat * heads)),
                 of_edges = tape.hold(edges * (counts_.scores2_of_edge * kFloat * heads)),
                 work = tape.hold(sums_of_blocks(rows_of_block)),
                 partials =
                     tape.hold(sums_of_blocks((counts_.sums2_of_block + d) * width, of_sums));
      tape.parameters({d * width, width, width});
      tape.pass(l, grad_l);
      tape.pass(r, grad_r);
    });
    return out;
  }

  /// Norm, ReLU and dropout in one.
  Value norm_relu_dropout(const Value& x, const std::string& kind) {
    const double width = x.width;
    const bool of_graph = kind == "graph";
    if (is_plain()) return plain_relu_dropout(tape, plain_norm(tape, x, of_graph));
    const Held statistics = tape.hold((of_graph ? kGraphs : kOnce) * (2 * kFloat * width));
    Value out = tape.value(x.rows, width);
    if (!of_graph) tape.hold(sums_of_blocks(width));
    tape.then(out, [this, x, statistics, kept = out.data, width, of_graph](const Held&) {
      const Held grad = tape.hold(x.bytes());
      const bool by_graph = of_graph && counts_.sums_of_graphs;
      tape.hold(by_graph ? kGraphs * (3 * kFloat * width)
                         : sums_of_blocks((of_graph ? 3 : 2) * width));
      tape.parameters(std::vector<double>(of_graph ? 3 : 2, width));
      tape.pass(x, grad);
    });
    return out;
  }

  Value checkpoint(const Value& x, const std::function<Value(const Value&)>& body) {
    return options_.checkpointing ? tape.checkpoint(x, body) : body(x);
  }

  /// A block of the autoencoder: attention and norm.
  Value block(const Value& x, int64_t width, int64_t heads, const std::string& norm) {
    const int64_t channels = heads > 0 && width % heads == 0 ? width / heads : width;
    if (norm == "batch") buffers += kFloat * 2 * static_cast<double>(channels * heads) + kLong;
    return checkpoint(x, [=, this](const Value& in) {
      return norm_relu_dropout(attention(in, channels, heads), norm);
    });
  }

  /// All but the last layer of a perceptron.
  Value perceptron(Value x, int64_t layers) {
    for (int64_t i = 0; i + 1 < layers; ++i) x = relu_dropout(linear(x, x.width).value);
    return x;
  }

  /// JumpingLstm: oneDNN's layer of both directions over the states, and their average.
  Value lstm(const std::vector<Value>& states) {
    const auto layers = static_cast<double>(states.size());
    const double width = states.front().width, units = layers * width / 2;
    const Value stacked = tape.value(kNodes, layers * width);
    tape.then(stacked, [this, states = without_data(states)](const Held& grad) {
      for (const Value& state : states) tape.pass(state, grad);
    });
    const Value read = read_both_ways(stacked, layers, width, units);
    const Value rows = tape.value(kNodes, read.width);  // by node, for the product
    tape.then(rows,
              [this, read = read.without_data()](const Held& grad) { tape.pass(read, grad); });
    const Value scores = tape.value(kNodes, layers);
    tape.then(scores, [this, rows, units](const Held&) {
      tape.give(rows);
      tape.parameters({2 * units, 1});
    });
    const Value weights = elementwise(scores, Keeps::kResult);
    const Value products = tape.value(kNodes, layers * width);
    tape.then(products, [this, stacked, weights](const Held&) {
      tape.give(stacked);
      const Held full = tape.hold(stacked.bytes());
      tape.give(weights);
    });
    Value out = tape.value(kNodes, width);
    tape.then(out, [this, products = products.without_data()](const Held& grad) {
      tape.pass(products, grad);
    });
    return out;
  }

  /// Buffers of a batch norm that run along.
  void running_statistics(double width) { buffers += kFloat * 2 * width + kLong; }

  /// Whether layers with batch norms are computed as a whole: not on a card, nor with products in 16 bits.
  bool has_whole_layers() const {
    return options_.kernels == KernelSet::kCpu && options_.precision == "32";
  }

  /// GinKernels::layer: the first linear layer, its norm, the second one and the norm outside.
  Value gin_layer(const Value& x, int64_t outputs, bool has_messages) {
    const auto width = static_cast<double>(outputs);
    running_statistics(width);
    const Held statistics = tape.hold(kOnce * (4 * kFloat * width));
    const Held summed = has_messages ? tape.hold(x.bytes()) : nullptr;
    const Held hidden = tape.hold(kNodes * (kFloat * width)),
               result = tape.hold(kNodes * (kFloat * width));
    Value out = tape.value(kNodes, width);
    tape.then(out, [this, x, statistics, summed, hidden, result, kept = out.data, width,
                    has_messages](const Held&) {
      const double widest = std::max(x.width, width);
      const Held grad = tape.hold(kNodes * (kFloat * width));
      tape.hold(sums_of_runs(width * width, widest));
      tape.parameters({width * width, width, width, width});
      const Held grad_x = tape.hold(x.bytes());
      tape.hold(sums_of_runs(width * x.width, widest));
      tape.parameters({x.width * width, width, width, width});
      if (has_messages) tape.parameters({1});
      tape.pass(x, grad_x);
    });
    return out;
  }

  /// GinConv; without messages the perceptron alone.
  Value gin(const Value& given, int64_t outputs, bool has_messages, const std::string& norm) {
    Value x = given;
    if (has_messages) {
      edges_by_source();
      if (is_plain()) tape.hold(kEdges * (2 * kFloat * x.width + 2 * kLong));
      const Value sum = tape.value(kNodes, x.width);
      tape.then(sum, [this, x = x.without_data()](const Held&) {
        if (is_plain()) tape.hold(kEdges * (2 * kFloat * x.width));
        tape.give(x);
      });
      const Value own = tape.value(kNodes, x.width);
      tape.then(own, [this, x](const Held&) {
        tape.give(x);
        const Held product = tape.hold(x.bytes());
        tape.parameters({1});
      });
      x = tape.value(kNodes, x.width);
      tape.then(x, [this, sum = sum.without_data(), own = own.without_data()](const Held& grad) {
        tape.pass(sum, grad);
        tape.pass(own, grad);
      });
    }
    const auto width = static_cast<double>(outputs);
    const auto of_nodes = [&](const Value& in) {  // with batch norms a layer of kernels/plain
      return (norm == "batch" ? linear_of_libtorch(in, width) : linear(in, width)).value;
    };
    const Value hidden = of_nodes(x);
    if (norm == "batch") running_statistics(width);
    return of_nodes(norm == "none" ? relu_dropout(hidden) : norm_relu_dropout(hidden, norm));
  }

  /// The numbers of the nodes of each graph, added up or the largest.
  Value pool(const Value& x, const std::string& kind) {
    if (kind == "mean") return mean_pool(x);
    if (kind == "sum") return elementwise(mean_pool(x), Keeps::kNothing);
    const Held zeros = tape.hold(kGraphs * (kFloat * x.width));
    Value out = tape.value(kGraphs, x.width);
    const Held graph = tape.hold(kNodes * kLong);
    tape.then(out, [this, x, zeros, kept = out.data, graph, out = out.without_data()](const Held&) {
      // Of each node the maximum of its graph, whether it has it, as a bit and twice as a number,
      // and its share of the gradient; of each graph how many have it, and what each gets.
      const Held of_nodes = tape.hold(x.bytes() * 4 + x.rows * x.width),
                 of_graphs = tape.hold(out.bytes() * 4);
      tape.give(x);
    });
    return out;
  }

  Value mean_pool(const Value& x) {
    Value out = tape.value(kGraphs, x.width);
    tape.then(out, [this, x = x.without_data(), out = out.without_data()](const Held&) {
      const Held dense = tape.hold(out.bytes());  // its columns of all layers' gradient
      tape.give(x);
    });
    return out;
  }

  /// A head of num_ids outputs and its loss, rows in blocks: gradients are made with the loss.
  void head(const Value& z, int64_t num_ids) {
    const int64_t blocks = (num_ids + 63) / 64;
    const double columns = 64 * static_cast<double>(blocks);
    const double weights = kFloat * (z.width + 1) * columns;
    const auto outputs = static_cast<double>(num_ids);
    Held grad_z, grad_weight, grad_bias;
    if (counts_.head_rows > 0) {
      const double rows = kFloat * counts_.head_rows;  // of a step of so many nodes or more
      const Held losses = tape.hold(kNodes * kFloat);
      grad_z = tape.hold(z.bytes());
      grad_weight = tape.hold(kOnce * (kFloat * z.width * outputs));
      grad_bias = tape.hold(kOnce * (kFloat * outputs));
      const Held logits = tape.hold(kOnce * (rows * outputs * counts_.head_copies));
      tape.hold(kOnce * (rows * z.width));
    } else {
      const Held padded = tape.hold(kOnce * weights), loss = tape.hold(kNodes * kFloat);
      // Factors as pairs of bfloat16, of the weights twice; not where the processor has no products
      // of them.
      const bool is_rounded = options_.precision == "bf16-mixed";
      const Held pairs = tape.hold(kOnce * (is_rounded ? weights : 0));
      grad_z = tape.hold(z.bytes());
      // Each 1024 rows sum weight gradients of their own.
      const Held sums = tape.hold(kOnce * weights + kNodes * (weights / 1024));
      const auto threads = static_cast<double>(options_.threads);
      const double copies = is_rounded ? 2 : 1;
      tape.hold(kOnce * (threads * kFloat * 32 * copies * (columns + z.width + 3)));
      grad_weight = tape.hold(kOnce * (kFloat * z.width * outputs));
      grad_bias = tape.hold(kOnce * weights);  // a row of all sums
    }
    const Value loss = term();
    tape.then(loss,
              [this, z = z.without_data(), grad_z, grad_weight, grad_bias, outputs](const Held&) {
                tape.give(z);
                tape.parameters({z.width * outputs, outputs});
              });
  }

  /// Means over neighbours of so many features, for which there are no gradients.
  Held neighbour_mean(double features) {
    const Held ones = tape.hold(kNodes * kFloat), degree = tape.hold(kNodes * kFloat),
               sum = tape.hold(kNodes * (kFloat * features));
    return tape.hold(kNodes * (kFloat * features));
  }

  /// Mean square distance of `x` to what is given.
  void distance(const Value& x, const Held& target) {
    tape.hold(x.bytes());
    tape.then(term(), [this, x, target](const Held&) { tape.give(x); });
  }

  /// A term of the loss.
  Value term() {
    terms_.push_back(tape.value(kOnce, 1));
    return terms_.back();
  }

  static std::vector<Value> without_data(std::vector<Value> values) {
    for (Value& value : values) value.data = nullptr;
    return values;
  }

  Footprint finish() {
    for (const Value& t : terms_) tape.give(t);
    tape.backward();
    Footprint out;
    const double parameters = kFloat * tape.parameter_elements();
    out.embeddings = static_cast<int64_t>(kFloat * table);
    out.parameters = static_cast<int64_t>(parameters + buffers) - out.embeddings;
    out.gradients = static_cast<int64_t>(parameters);
    out.optimizer = static_cast<int64_t>(2 * parameters +
                                         kFloat * static_cast<double>(tape.parameter_tensors()));
    out.weights_kept = out.parameters + out.embeddings;
    out.input = input_;
    out.margin = 0.05;
    out.phases = tape.phases();
    if (!options_.accumulating) {  // gradients are counted as held, but come only with backward
      for (memory::Phase& phase : out.phases) phase.cost.fixed -= parameters;
    }
    out.phases.push_back({"optimizer", input_});
    if (options_.kernels != KernelSet::kCpu) out.rounding = tape.rounding();
    return out;
  }

 private:
  /// Both directions of the LSTM, always in 32 bits. oneDNN keeps for each step four gates and a
  /// row of work, and five states before and after; what backward needs beside was measured.
  Value read_both_ways(const Value& stacked, double steps, double width, double units) {
    const auto nodes = [](double columns) { return kNodes * (kFloat * columns); };
    const double workspace =
        5 * steps * units + (steps + 1) * (4 * units + 6 * std::max(width, units));
    const double scratch = (6.5 + 5 * steps) * units, weights = 4 * units * (width + units);
    const Value input = tape.value(kNodes, stacked.width);  // by step
    tape.then(input, [this, stacked = stacked.without_data()](const Held& grad) {
      tape.pass(stacked, grad);
    });
    const Held initial = tape.hold(nodes(4 * units));
    std::vector<Value> ways;
    for (int way = 0; way < 2; ++way) {
      const Value out = tape.value(kNodes, steps * units);
      const Held last = tape.hold(nodes(2 * units)), kept = tape.hold(nodes(workspace));
      tape.hold(nodes(6.5 * units));
      tape.then(out, [this, input, initial, all = out.data, last, kept, scratch, units, width,
                      weights, nodes](const Held&) {
        tape.hold(input.bytes() + nodes(scratch) + kOnce * (2 * kFloat * weights));
        tape.give(input);
        tape.parameters({4 * units * width, 4 * units * units, 4 * units, 4 * units});
      });
      ways.push_back(out.without_data());
    }
    Value read = tape.value(kNodes, 2 * steps * units);
    tape.then(read, [this, ways](const Held& grad) {
      for (const Value& way : ways) tape.pass(way, grad);
    });
    tape.hold(nodes(4 * units));  // last states, side by side
    return read;
  }

  static Cost sums_of_blocks(double columns, const Cost& rows = kNodes) {
    return (rows * (1 / kRowsOfBlock) + kOnce) * (kFloat * columns);
  }

  /// Whether a linear layer of these rows keeps its input as it is. In bfloat16 those of graphs may be too
  /// few for products of our own.
  bool has_own_products(const Value& x) const {
    if (options_.precision == "32") return true;
    constexpr int64_t kManyRows = 1 << 20, kOneInput = 1;
    return options_.precision == "bf16-mixed" && options_.kernels == KernelSet::kCpu &&
           x.rows.node > 0 && ProductKernels::cpu().rounds(kManyRows, kOneInput);
  }
  /// Gradients of its parameters.
  std::function<void()> of_layer(const Value& x, double outputs, bool bias) {
    return [this, weight = x.width * outputs, shift = bias ? outputs : 0] {
      tape.parameters(shift > 0 ? std::vector{weight, shift} : std::vector{weight});
    };
  }

  bool is_plain() const { return counts_.kernels == KernelSet::kPlain; }

  /// The batch's lists of edges by source, made when they are first asked for.
  void edges_by_source() {
    if (!counts_.lists_by_source || has_lists_) return;
    has_lists_ = true;
    kept_.push_back(tape.hold(kEdges * (2 * kInt) + kNodes * kInt));
    tape.hold(kEdges * counts_.sorting_of_edge + kNodes * counts_.sorting_of_node);
  }

  /// Of runs of graphs, as a gin layer has them.
  static Cost sums_of_runs(double columns, double widest) {
    const double rows = std::max(kRowsOfRun, widest);
    return (kNodes * (1 / rows) + kOnce) * (kFloat * columns);
  }

  FootprintOptions options_;
  KernelCounts counts_;
  bool has_lists_ = false;
  Cost input_;
  std::vector<Held> kept_;  // until the step ends
  std::vector<Value> terms_;
};

}  // namespace kdgat::model
