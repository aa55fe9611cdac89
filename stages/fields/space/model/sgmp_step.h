// A step of the geometric encoder on a card, on sizes (engine/memory/tape.h); included by
// sgmp_footprint.cpp alone. Each operation allocates what the real one does, in the same order:
// where path_messages.cpp, sgmp.cpp, growth.cpp or the kernels of paths change, so must this. What
// lies on the host, chunks of paths among it, does not count.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "engine/memory/tape.h"
#include "fields/space/model/path_features.h"
#include "fields/space/model/sgmp_footprint.h"

namespace kdgat::space {

/// Rows of a chunk of paths.
struct ChunkRows {
  memory::Cost paths, triplets, arcs;
};

class SgmpWalk {
  using Cost = memory::Cost;
  using Held = memory::Held;
  using Value = memory::Value;

 public:
  SgmpWalk(const SgmpConfig& config, const SgmpStep& step, const ChunkRows& chunk)
      : tape(step.accumulating),
        config_(config),
        step_(step),
        chunk_(chunk),
        is_plain_(step.kernels == kernels::KernelSet::kPlain),
        h_(static_cast<double>(config.hidden)) {
    tape.follow_blocks();
  }

  memory::Tape tape;

  /// From the batch to the loss and back.
  void run() {
    tape.enter("the input");
    const Held x = numbers(kNodes, static_cast<double>(config_.node_features)),
               pos = numbers(kNodes, 3), graph = tape.hold(kNodes * kLong);
    input_ = *x + *pos + *graph;
    if (step_.upward) {
      pre_training();
    } else {
      fine_tuning();
    }
    tape.backward();
  }
  const Cost& input() const { return input_; }

 private:
  static constexpr Cost kOnce{.fixed = 1}, kNodes{.node = 1}, kGraphs{.graph = 1};
  static constexpr double kFloat = 4, kInt = 4, kLong = 8;
  static constexpr double kRowsOfBlock = 256;  // of sums of columns: each block has its own
  static constexpr double kSorting = 24;    // bytes a row, while rows are put in the order of nodes
  static constexpr double kInternal = 0.7;  // of nodes

  Held numbers(const Cost& rows, double columns) { return tape.hold(rows * (kFloat * columns)); }
  Held matrix(double rows, double columns) { return numbers(kOnce, rows * columns); }

  /// What makes the gradients of parameters of so many elements each; where another pass of
  /// backward has made some before, these are added to them.
  auto gradients(std::vector<double> elements) {
    return [this, again = again_, elements = std::move(elements)] {
      if (!again) return tape.parameters(elements);
      for (const double count : elements) numbers(kOnce, count);
    };
  }

  Value linear(const Value& x, double outputs) {
    Value y = tape.value(x.rows, outputs);
    tape.then(y, [this, x, trained = gradients({x.width * outputs, outputs})](const Held&) {
      tape.give(x);
      trained();
    });
    return y;
  }
  Value relu(const Value& x) {
    Value y = tape.value(x.rows, x.width);
    tape.then(y, [this, x = x.without_data(), kept = y.data](const Held&) { tape.give(x); });
    return y;
  }
  Value sum(const Value& a, const Value& b) {
    Value y = tape.value(a.rows, a.width);
    tape.then(y, [this, a = a.without_data(), b = b.without_data()](const Held& grad) {
      tape.pass(a, grad);
      tape.pass(b, grad);
    });
    return y;
  }

  // ---- what is trained

  void pre_training() {
    const double centres = static_cast<double>(step_.growth_centres);
    tape.enter("the encoder, upwards");
    again_ = true;  // backward comes to it when it has been through the other one
    const Value up = encoded();
    again_ = false;
    tape.enter("growth");
    // Children, ancestors and what the predictor keeps of its layers; sums by node while it is
    // made.
    const Cost rows = kNodes * kInternal;
    const Held given = numbers(rows, 4 * centres + 4);
    numbers(kNodes, 8 * centres + 6);
    const Value loss = tape.value(rows, 1);
    const Held kept = numbers(rows, h_ + 6 * centres + 1 + 2 * 64);
    tape.then(loss, [this, up = up.without_data(), given, kept, rows, centres](const Held&) {
      numbers(rows, 2 * 64 + h_ + 2 * centres + 1);
      tape.parameters(
          {(h_ + 2 * centres + 1) * 64, 64, 64 * 64, 64, 64 * 2 * centres, 2 * centres});
      tape.give(up);
    });
    tape.enter("the encoder");
    const Value down = encoded();
    tape.enter("the order of nodes");
    // Pairs that are related, and as many that are not.
    std::vector<Value> terms;
    for (int kind = 0; kind < 2; ++kind) {
      const Value apart = tape.value(kNodes, h_);
      const Held pairs = tape.hold(kNodes * (2 * kLong));
      numbers(kNodes, 2 * h_);
      tape.then(apart, [this, down = down.without_data(), pairs, kept = apart.data](const Held&) {
        const Held of_pairs = numbers(kNodes, 2 * h_);
        tape.give(down);
      });
      terms.push_back(apart);
    }
    for (const Value& term : terms) tape.give(term);
    tape.give(loss);
  }

  void fine_tuning() {
    tape.enter("the encoder");
    Value states;
    if (step_.frozen) {
      Value none{kNodes, h_, kFloat, nullptr, nullptr};
      states = tape.checkpoint(none, [this](const Value&) { return encoded(); });
      states.grad = nullptr;
    } else {
      states = encoded();
    }
    tape.enter("the head");
    const Value read = tape.value(kGraphs, h_);
    tape.then(read, [this, states = states.without_data()](const Held&) { tape.give(states); });
    Value in = read;
    if (step_.frozen) in.grad = nullptr;
    if (step_.has_two_layers) in = relu(linear(in, std::floor(h_ / 2)));
    tape.give(linear(in, static_cast<double>(step_.outputs)));
  }

  // ---- the encoder

  Value encoded() {
    Value x{kNodes, static_cast<double>(config_.node_features), kFloat, nullptr, nullptr};
    Value h = linear(relu(linear(x, h_)), h_);
    const Held pos = numbers(kNodes, 3);
    for (int64_t block = 0; block < config_.interactions; ++block) h = block_of(h, pos);
    return h;
  }

  Value block_of(const Value& h, const Held& pos) {
    Value in = h;
    if (config_.norm == "layer") {
      in = tape.value(kNodes, h_);
      const Held statistics = numbers(kNodes, 2);
      tape.then(in, [this, h, statistics, trained = gradients({h_, h_})](const Held&) {
        tape.give(h);
        trained();
      });
    }
    const Value sums = messages(in, pos);
    const Held counts = numbers(kNodes, 1);
    Value y;
    if (config_.aggregation == "mean") {
      const Value mean = tape.value(kNodes, 2 * h_);
      tape.then(mean, [this, sums = sums.without_data(), counts](const Held&) { tape.give(sums); });
      y = linear(mean, h_);
    } else {
      const Value product = tape.value(kNodes, h_);
      tape.then(product, [this, sums, trained = gradients({2 * h_ * h_})](const Held&) {
        tape.give(sums);
        trained();
      });
      const Value shift = tape.value(kNodes, h_);
      tape.then(shift, [counts, trained = gradients({h_})](const Held&) { trained(); });
      y = sum(product, shift);
    }
    return sum(h, y);
  }

  /// MessageSum, and what folds its weights.
  Value messages(const Value& in, const Held& pos) {
    std::vector<Held> folded = {matrix(16 * h_, h_)};
    for (int term = 0; term < 3; ++term) folded.push_back(matrix(4 * h_, h_));
    Value out = tape.value(kNodes, 2 * h_);
    {
      const std::vector<Held> ready = transposed();
      const Rows rows = chunk();
      const Held second = numbers(chunk_.paths, 2 * h_);
      if (is_plain_) {
        const Held start = tape.hold(chunk_.paths * (kInt + kLong));
        numbers(chunk_.paths, 2 * h_);
      } else {
        sort(chunk_.arcs);
      }
    }
    const double hh = h_ * h_;
    tape.then(
        out,
        [this, in, pos, folded = std::move(folded),
         direct = gradients({h_ * kEdge, h_, h_ * kTriplet, h_, h_ * kTorsion, h_, 8 * hh, 2 * h_}),
         of_folding = gradients({28 * hh, 4 * h_, hh, h_, hh, h_, hh, h_})](const Held&) {
          backward_of_messages(in, direct);
          // Of the folding: gradients of columns of the combination, side by side.
          const Held columns = matrix(12 * h_, h_);
          of_folding();
        });
    return out;
  }

  /// `direct` makes gradients of weights that are not folded.
  template <class Direct>
  void backward_of_messages(const Value& in, const Direct& direct) {
    const std::vector<Held> ready = transposed();
    Held grad_in = numbers(kNodes, h_);
    std::vector<Held> of_folded = {matrix(16 * h_, h_)};
    for (int term = 0; term < 3; ++term) of_folded.push_back(matrix(4 * h_, h_));
    direct();
    const Held grad_tables = numbers(kNodes, 16 * h_);
    {
      Rows rows = chunk();
      Held grad = numbers(chunk_.paths, 2 * h_);
      if (is_plain_) {
        const Held start = tape.hold(chunk_.paths * (kInt + kLong));
        const Held shifted = numbers(chunk_.paths, 2 * h_);
        const Held mask = tape.hold(chunk_.paths * (2 * h_));
        const Held of_sums = numbers(chunk_.paths, 2 * h_);
        grad = numbers(chunk_.paths, 2 * h_);
      } else {
        numbers(chunk_.paths * (1 / kRowsOfBlock) + kOnce, 2 * h_);
      }
      Held grad_z = numbers(chunk_.paths, 4 * h_);
      grad = nullptr;
      const Held grad_u = sums_of_runs(chunk_.paths, chunk_.triplets, /*masked=*/true);
      numbers(chunk_.paths, h_);
      grad_z = nullptr;
      const Held grad_v = sums_of_runs(chunk_.triplets, chunk_.arcs, /*masked=*/false);
      numbers(chunk_.triplets, h_);
      numbers(chunk_.arcs, h_);
    }
    grad_in = numbers(kNodes, h_);
    tape.pass(in, grad_in);
  }

  // ---- one chunk of paths

  struct Rows {
    std::vector<Held> kept;
  };

  /// Indices, geometry, basis and the rows of the perceptrons, the last of them z.
  Rows chunk() {
    Rows out;
    const auto keep = [&out](Held held) { out.kept.push_back(std::move(held)); };
    const auto& [paths, triplets, arcs] = chunk_;
    for (const Cost& rows : {arcs, arcs, arcs, triplets, triplets, paths, arcs}) {
      keep(tape.hold(rows * kInt));
    }
    for (const Cost& rows : {arcs, triplets, triplets, paths, paths, paths}) keep(numbers(rows, 1));
    if (is_plain_) {  // indices as whole numbers of 8 bytes, points and differences of points
      const Held geometry =
          tape.hold(arcs * (3 * kLong + 9 * kFloat) + triplets * (3 * kLong + 15 * kFloat) +
                    paths * (2 * kLong + 18 * kFloat));
    } else {
      tape.hold((arcs * 3 + triplets * 2 + paths) * kInt);
    }
    keep(numbers(arcs, kEdge));
    keep(numbers(triplets, kTriplet));
    keep(numbers(paths, kTorsion));
    if (is_plain_) numbers(paths, 4 * kPhis);
    rounded(paths, kTorsion);
    keep(numbers(arcs, h_));
    keep(numbers(triplets, h_));
    keep(numbers(paths, h_));
    const Held v = numbers(arcs, 4 * h_);
    numbers(arcs, 4 * h_);
    const Held u = numbers(triplets, 4 * h_);
    if (is_plain_) gathered(triplets);
    rounded(paths, 3 * h_);
    keep(numbers(paths, 4 * h_));
    if (is_plain_) gathered(paths);
    return out;
  }

  /// Rows of runs or of nodes, one for each that they are added to.
  void gathered(const Cost& rows) {
    const Held run = tape.hold(rows * kLong);
    numbers(rows, 4 * h_);
  }

  /// PathKernels::sum_runs.
  Held sums_of_runs(const Cost& rows, const Cost& runs, bool masked) {
    if (!is_plain_) {
      Held out = numbers(runs, 4 * h_);
      sort(rows);
      return out;
    }
    if (masked) tape.hold(rows * (4 * h_));
    const Held zeros = numbers(runs, 4 * h_), run = tape.hold(rows * kLong);
    return numbers(runs, 4 * h_);
  }

  void sort(const Cost& rows) {
    tape.hold(rows * kSorting);
    tape.hold(kNodes * (2 * kInt));
  }

  /// In mixed precision: operands and results of a product in 16 bits.
  void rounded(const Cost& rows, double columns) {
    if (step_.is_short) numbers(rows, columns);
  }

  /// What a pass makes of its tensors of two dimensions, and its tables by node.
  std::vector<Held> transposed() {
    std::vector<Held> out = {numbers(kNodes, h_), matrix(16 * h_, h_)};
    for (const double basis : {kEdge, kTriplet, kTorsion}) {
      out.push_back(matrix(h_, basis));
      out.push_back(matrix(4 * h_, h_));
    }
    out.push_back(matrix(8 * h_, h_));
    out.push_back(numbers(kNodes, 16 * h_));
    return out;
  }

  static constexpr double kEdge = kDistances, kTriplet = kDistances + kThetas,
                          kTorsion = kDistances + kThetas + kPhis;

  const SgmpConfig& config_;
  const SgmpStep& step_;
  ChunkRows chunk_;
  bool is_plain_, again_ = false;
  double h_;
  Cost input_;
};

}  // namespace kdgat::space
