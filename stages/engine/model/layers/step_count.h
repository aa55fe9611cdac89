// A training step as layers, networks and losses count it: a tape of sizes (engine/memory/tape.h),
// the options of the step and how the kernels of the device differ (kernel_counts.h). Computes
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "engine/kernels/kernels_for.h"
#include "engine/memory/memory_plan.h"
#include "engine/memory/tape.h"
#include "engine/model/layers/kernel_counts.h"

namespace at {
class Tensor;
}

namespace kdgat::model {

struct FootprintOptions {
  std::string precision = "32";  ///< or "16-mixed", "bf16-mixed"
  bool checkpointing = false;
  /// Gradients of earlier batches of a step are there while a later one runs.
  bool accumulating = false;
  /// A teacher's outputs are given; of an autoencoder's latent layer the width.
  bool distilling = false;
  int64_t teacher_latent = 0;
  /// Edge features of the batches though the model reads none (a teacher may); 0 = as the model.
  int64_t edge_features = 0;
  int64_t threads = 1;  ///< that compute, each with a workspace
  /// Of the step; 0 = of any size, then as many at least as all parts have use for.
  int64_t nodes = 0;
  int64_t largest_graph = 0;  ///< nodes; 0 = not known, then few
  /// Of the device. Beyond the CPU also what its allocator rounds is counted (Footprint::rounding).
  kernels::KernelSet kernels = kernels::KernelSet::kCpu;
};

using memory::Cost;
using memory::Held;
using memory::Keeps;
using memory::Tape;
using memory::Value;

constexpr Cost kOnce{.fixed = 1}, kGraphs{.graph = 1}, kNodes{.node = 1}, kEdges{.edge = 1};
constexpr double kFloat = 4, kHalf = 2, kInt = 4, kLong = 8;

/// Rows of so many floats.
inline Cost floats(const Cost& rows, double columns) { return rows * (kFloat * columns); }
/// Sums that attention and norms have for each block of rows.
Cost sums_of_blocks(double columns, const Cost& rows = kNodes);
/// Elements of each tensor that is there, for Tape::parameters().
std::vector<double> elements_of(std::initializer_list<at::Tensor> tensors);

class StepCount {
 public:
  explicit StepCount(const FootprintOptions& of_step);

  const FootprintOptions options;
  const KernelCounts counts;
  Tape tape;

  bool is_plain() const { return counts.kernels == kernels::KernelSet::kPlain; }

  /// The batch: gathered, where arrays::Buffer leaves a quarter to grow, or a copy of that.
  void batch(int64_t node_features, int64_t edge_features);
  /// Until the step ends.
  void keep(Held held) { kept_.push_back(std::move(held)); }
  /// The batch's lists of edges by source, made when they are first asked for.
  void edges_by_source();

  /// Room for a gradient of x that is made of one of the same size.
  Held room_of(const Held& grad, const Value& x);
  Value checkpoint(const Value& x, const std::function<Value(const Value&)>& body);

  /// A term of the loss.
  Value term();
  /// A term: the mean square distance of `x` to what is given.
  void distance(const Value& x, const Held& target);

  /// The step backward and the optimizer. Bytes of what the model keeps next to its parameters, and
  /// of its tables, which are among these.
  memory::Footprint finish(int64_t buffers, int64_t tables);

 private:
  std::vector<Held> kept_;
  bool has_lists_ = false;
  Cost input_;
  std::vector<Value> terms_;
};

}  // namespace kdgat::model
