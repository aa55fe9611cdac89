// The memory plan of a stage: what a step needs, counted or measured, against what a device has,
// and from both the batch. Pure numbers: runs nothing, knows no LibTorch.
//
// All bytes are bytes of tensors, except the context (libraries, kernels, what the process holds
// beside tensors).
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/graph/pack.h"

namespace kdgat::memory {

/// Size of a batch.
using Size = graph::StepTotals;

/// Bytes as a function of the size of a batch.
struct Cost {
  double fixed = 0, graph = 0, node = 0, edge = 0;
  double of(const Size& size) const {
    return fixed + graph * static_cast<double>(size.graphs) +
           node * static_cast<double>(size.nodes) + edge * static_cast<double>(size.edges);
  }
  Cost& operator+=(const Cost& other) {
    fixed += other.fixed;
    graph += other.graph;
    node += other.node;
    edge += other.edge;
    return *this;
  }
  friend Cost operator+(Cost a, const Cost& b) { return a += b; }
  friend Cost operator*(const Cost& c, double times) {
    return {c.fixed * times, c.graph * times, c.node * times, c.edge * times};
  }
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// A part of a step, e.g. "forward", "backward of layer 2", "optimizer": the peak while it runs,
/// beyond what is held between steps.
struct Phase {
  std::string name;
  Cost cost;
};

/// What the description of a step leaves out: bytes that are held before it, and by which share its
/// tensors may be larger than described.
struct OtherBlocks {
  int64_t teacher = 0, workspaces = 0;  ///< a block; two, of forward and of backward
  double margin = 0;
};

/// What the allocator of a device holds beyond the bytes of tensors in a step of a size
/// (engine/memory/device_blocks.h).
using Rounding = std::function<int64_t(const Size&, const OtherBlocks&)>;

struct Alternative;

/// Peak tensor bytes of a pack that was run, as counted before and as measured.
struct Check {
  Size size;
  int64_t counted = 0, measured = 0;
};

/// What a stage needs to train. Bytes held between steps are given one by one; a step needs the
/// largest of its phases on top.
struct Footprint {
  std::string mode = "static";  ///< or "measured"
  int64_t parameters = 0;       ///< without embeddings
  int64_t embeddings = 0;
  int64_t gradients = 0;
  int64_t optimizer = 0;
  int64_t weights_kept = 0;               ///< the copy of the best epoch's weights
  int64_t teacher = 0;                    ///< resident weights and buffers of a teacher
  int64_t workspaces = 0;                 ///< of a device's libraries: cuBLAS, one a thread
  std::vector<Alternative> alternatives;  ///< what would make it smaller
  Cost input;  ///< the batch itself; part of every phase, listed for people
  std::vector<Phase> phases;
  std::vector<Phase> components;  ///< what the largest phase is made of, for people; may be empty
  std::vector<Check> checks;      ///< packs that measuring ran
  double residual = 0;            ///< of a measured fit: worst relative error on the packs measured
  double seconds = 0;             ///< what measuring took
  double margin = 0;              ///< printed relative uncertainty of the predicted peak
  /// What is one piece where there are no graphs that a batch could hold fewer of: "training on 9
  /// windows"; else empty.
  std::string whole{};
  /// The phases of a step of this size, where `phases` are not those of every size: work that is
  /// divided into so many parts by its size. Null: they are.
  std::function<std::vector<Phase>(const Size&)> recount{};
  Rounding rounding{};  ///< on a device; null elsewhere
  /// Graphs are few in a batch and differ in size: the largest of an epoch's batches is planned
  /// for.
  bool is_uneven = false;

  /// With the phases of a step of this size.
  Footprint at(const Size& size) const;
  int64_t held() const {
    return parameters + embeddings + gradients + optimizer + weights_kept + teacher + workspaces;
  }
  /// Bytes of rounding in a step of this size; 0 where there is none.
  int64_t rounding_at(const Size& size) const {
    return rounding ? rounding(size, {teacher, workspaces, margin}) : 0;
  }
  /// Peak bytes of a step on a batch: held() and the largest phase, on a device with its rounding.
  int64_t peak(const Size& size) const;
  /// The largest phase of a batch of this size.
  const Phase& largest(const Size& size) const;
};

/// An option, and what is needed with it.
struct Alternative {
  std::string option;
  Footprint footprint;
};

/// Sizes of the graphs a stage trains on.
struct GraphSizes {
  Size sum;
  Size largest;  ///< of one graph: largest nodes and largest edges, graphs = 1
  int64_t largest_id = -1;
  double node_deviation = 0, edge_deviation = 0;  ///< of one graph's nodes and edges
};

/// What the memory of a device allows.
struct DeviceMemory {
  std::string name = "cpu";
  int64_t total = 0;      ///< bytes of the device, or of the share this process may use
  int64_t context = 0;    ///< bytes that are not tensors
  bool is_limit = false;  ///< `total` was set by the user for this process: all of it is used
  double share = 1;       ///< of such a limit, this part is planned with
  /// `total` is of tensors alone: the process holds more than this.
  bool is_of_tensors = false;
  /// The limit of the machine that binds ("cgroup /user/job"), and its bytes that others hold;
  /// empty and 0 where none does.
  std::string bound{};
  int64_t others = 0;
};

struct BatchOptions {
  int64_t batch_size = 4096;   ///< upper bound of graphs, exact if optimize is false
  bool optimize = true;        ///< choose the batch by memory and steps
  double safety_factor = 0.5;  ///< share = min(0.85, safety_factor + 0.15)
  int64_t min_steps_per_epoch = 10;
  int64_t accumulate = 1;
};

struct MemoryPlan {
  DeviceMemory device;
  Footprint footprint;
  double share = 1;       ///< of device.total
  int64_t available = 0;  ///< total x share - context - held: for the phases of a step
  Size batch;             ///< bounds of a pack: graphs, nodes, edges; 0 = no bound
  int64_t min_packs = 0;
  Size expected;          ///< a pack of average graphs filled to the bounds
  Size largest;           ///< of uneven graphs the largest pack of an epoch, as chance has it
  std::string binds;      ///< "memory", "batch_size", "min_steps_per_epoch" or "data"
  int64_t packs = 0;      ///< expected a epoch
  int64_t steps = 0;      ///< packs / accumulate, rounded up
  int64_t predicted = 0;  ///< Footprint::peak() of the largest pack expected
  int64_t least = 0;  ///< the smallest limit of tensors with which the largest graph is admitted

  /// MemoryBudget(total=16000MB static=... batch_size=2048 mode=measured), the published form.
  std::string line() const;
  nlohmann::json json() const;
};

/// Throws Error(kDoesNotFit) when even the largest graph alone does not fit, whether the batch is
/// chosen or exact: names the largest item, the smallest total that would do (of a limit of the
/// machine with what others hold of it), and the options that would help with the bytes each saves.
MemoryPlan make_plan(const Footprint& footprint, const GraphSizes& graphs,
                     const DeviceMemory& device, const BatchOptions& options);

}  // namespace kdgat::memory
