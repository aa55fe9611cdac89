// What a step of any of the models is made of, on sizes (engine/memory/tape.h): the batch,
// products, poolings, heads and losses; its layers are in footprint_layers.h, which alone includes
// this. Each operation allocates what the real one does, in the same order: where that changes, so
// must this.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/kernels/heads.h"
#include "engine/kernels/products.h"
#include "engine/memory/tape.h"
#include "engine/model/networks/footprint.h"
#include "engine/model/networks/footprint_plain.h"
#include "engine/model/networks/kernel_counts.h"

namespace kdgat::model {

using memory::Cost;
using memory::Footprint;
using memory::Held;
using memory::Tape;
using memory::Value;

constexpr Cost kOnce{.fixed = 1}, kGraphs{.graph = 1}, kNodes{.node = 1}, kEdges{.edge = 1};
constexpr double kFloat = 4, kHalf = 2, kInt = 4, kLong = 8;

// Of engine/kernels/cpu/heads.cpp.
constexpr double kRowsOfHead = 60, kRowsOfGroup = 1024, kMostGroups = 16;

/// What an elementwise operation keeps for backward.
enum class Keeps { kNothing, kInput, kResult };

class Step {
 public:
  explicit Step(const FootprintOptions& options)
      : tape(options.accumulating), options_(options), counts_(kernel_counts(options.kernels)) {
    if (options.kernels != kernels::KernelSet::kCpu) tape.follow_blocks();
  }

  Tape tape;
  double buffers = 0;  ///< bytes of what a model keeps beside parameters
  double table = 0;    ///< elements of the embedding

  /// The batch: gathered, where arrays::Buffer leaves a quarter to grow, or a copy of that.
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
  /// `is_last`: nobody reads x after this.
  Value relu_dropout(const Value& x, bool is_last) {
    if (is_plain()) return plain_relu_dropout(tape, x);
    Value y = x;
    y.grad = std::make_shared<Held>();
    if (!is_last || !counts_.writes_over) y.data = tape.hold(y.bytes());
    const Held kept = counts_.keeps_signs ? tape.hold(y.rows * std::ceil(y.width / 8)) : y.data;
    tape.then(y, [this, x = x.without_data(), kept](const Held& grad) {
      tape.pass(x, room_of(grad, x));
    });
    return y;
  }

  /// Room for a gradient of x that is made of one of the same size.
  Held room_of(const Held& grad, const Value& x) {
    return counts_.writes_over && grad.use_count() == 1 ? grad : tape.hold(x.bytes());
  }

  /// All but the last layer of a perceptron.
  Value perceptron(Value x, int64_t layers, bool of_graphs) {
    for (int64_t i = 0; i + 1 < layers; ++i) {
      x = relu_dropout(linear(x, x.width).value, !of_graphs);
    }
    return x;
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
    const auto nodes = static_cast<double>(options_.nodes);
    if (counts_.head_copies > 0) {
      const auto most = static_cast<double>(kernels::rows_of_logits(num_ids, options_.nodes));
      const double rows = kFloat * (nodes > 0 ? std::min(nodes, most) : most);
      const Held losses = tape.hold(kNodes * kFloat);
      grad_z = tape.hold(z.bytes());
      grad_weight = tape.hold(kOnce * (kFloat * z.width * outputs));
      grad_bias = tape.hold(kOnce * (kFloat * outputs));
      const Held logits = tape.hold(kOnce * (rows * outputs * counts_.head_copies));
      if (counts_.copies_head_gradient) tape.hold(kOnce * (rows * z.width));
    } else {
      const Held padded = tape.hold(kOnce * weights), loss = tape.hold(kNodes * kFloat);
      // Factors as pairs of bfloat16, of the weights twice; not where the processor has no products
      // of them.
      const bool is_rounded = options_.precision == "bf16-mixed";
      const Held pairs = tape.hold(kOnce * (is_rounded ? weights : 0));
      grad_z = tape.hold(z.bytes());
      // Groups of rows sum weight gradients of their own; a thread computes one at a time.
      const double groups = std::clamp<double>(std::floor(nodes / kRowsOfGroup), 1, kMostGroups);
      const Cost sums_of_groups = nodes > 0 ? kOnce * (weights * groups)
                                            : kOnce * weights + kNodes * (weights / kRowsOfGroup);
      const Held sums = tape.hold(sums_of_groups);
      const auto threads = static_cast<double>(options_.threads);
      const double spaces = nodes > 0 ? std::min(threads, groups) : threads;
      const double copies = is_rounded ? 2 : 1;
      tape.hold(kOnce * (spaces * kFloat * kRowsOfHead * copies * (columns + z.width + 3)));
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
    tape.hold(x.bytes() * 2);  // the difference and its square
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
    out.margin = options_.kernels == kernels::KernelSet::kPlain ? 0.15 : 0.05;
    out.phases = tape.phases();
    if (!options_.accumulating) {  // gradients are counted as held, but come only with backward
      for (memory::Phase& phase : out.phases) phase.cost.fixed -= parameters;
    }
    out.phases.push_back({"optimizer", input_});
    if (options_.kernels != kernels::KernelSet::kCpu) out.rounding = tape.rounding();
    return out;
  }

 protected:
  /// Whether a linear layer of these rows keeps its input as it is. In bfloat16 those of graphs may
  /// be too few for products of our own.
  bool has_own_products(const Value& x) const {
    if (options_.precision == "32") return true;
    constexpr int64_t kManyRows = 1 << 20;
    const int64_t rows = options_.nodes > 0 ? options_.nodes : kManyRows;
    return options_.precision == "bf16-mixed" && options_.kernels == kernels::KernelSet::kCpu &&
           x.rows.node > 0 &&
           kernels::ProductKernels::cpu().rounds(rows, static_cast<int64_t>(x.width));
  }

  /// Gradients of its parameters.
  std::function<void()> of_layer(const Value& x, double outputs, bool bias) {
    return [this, weight = x.width * outputs, shift = bias ? outputs : 0] {
      tape.parameters(shift > 0 ? std::vector{weight, shift} : std::vector{weight});
    };
  }

  bool is_plain() const { return counts_.kernels == kernels::KernelSet::kPlain; }

  FootprintOptions options_;
  KernelCounts counts_;
  std::vector<Held> kept_;  // until the step ends

 private:
  Cost input_;
  std::vector<Value> terms_;
};

}  // namespace kdgat::model
