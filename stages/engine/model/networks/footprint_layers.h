// The layers of the models on sizes; included by footprint.cpp alone. What they are made of, and
// the rule for both: footprint_step.h.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "engine/model/networks/footprint_step.h"

namespace kdgat::model {

constexpr double kRowsOfBlock = 256;  // of attention and norms: each block has sums of its own
constexpr double kRowsOfRun = 192;    // of gin layers with batch norms, at least

class LayerStep : public Step {
 public:
  using Step::Step;

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
    const Held kept = counts_.keeps_attention ? out.data : nullptr;
    tape.then(out, [this, h, scores, kept, heads, width](const Held& grad_out) {
      const double thread = rows_of_thread();
      const bool is_small = thread <= counts_.most_rows;
      const Held grad = is_small ? room_of(grad_out, h) : tape.hold(h.bytes()),
                 rows = tape.hold(is_small ? rows_of_threads(thread, width) : Cost{}),
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
    tape.then(out, [this, x, statistics, kept = out.data, width, of_graph](const Held& grad_out) {
      const Held grad = room_of(grad_out, x);
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

  /// Whether layers with batch norms are computed as a whole: not on a card, nor with products in
  /// 16 bits.
  bool has_whole_layers() const {
    return options_.kernels == kernels::KernelSet::kCpu && options_.precision == "32";
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
    return of_nodes(norm == "none" ? relu_dropout(hidden, true) : norm_relu_dropout(hidden, norm));
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

  /// Nodes that a thread of attention works on while gradients are made.
  double rows_of_thread() const {
    if (counts_.rows_of_thread == 0) return 0;
    return counts_.rows_of_thread + static_cast<double>(options_.largest_graph);
  }
  Cost rows_of_threads(double each, double width) const {
    const auto nodes = static_cast<double>(options_.nodes);
    const double rows = each * static_cast<double>(options_.threads);
    return kOnce * (kFloat * width * (nodes > 0 ? std::min(nodes, rows) : rows));
  }

  /// The batch's lists of edges by source, made when they are first asked for.
  void edges_by_source() {
    if (!counts_.lists_by_source || has_lists_) return;
    has_lists_ = true;
    kept_.push_back(tape.hold(kEdges * (2 * kInt) + kNodes * kInt));
  }

  /// Of runs of graphs, as a gin layer has them.
  static Cost sums_of_runs(double columns, double widest) {
    const double rows = std::max(kRowsOfRun, widest);
    return (kNodes * (1 / rows) + kOnce) * (kFloat * columns);
  }

  bool has_lists_ = false;
};

}  // namespace kdgat::model
