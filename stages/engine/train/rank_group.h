// Ranks: processes that train one model together, each on its piece of every step (data-parallel
// training over c10d: Gloo on the CPU, NCCL on CUDA where it was built in). Owns the connection;
// knows neither models nor how steps are made.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "engine/graph/exchange.h"
#include "engine/graph/graph_store.h"
#include "engine/train/optimizer.h"
#include "kdgat/stage.h"

namespace kdgat::train {

/// Another process could not compute its piece: the step begins anew.
struct StepAbandoned : std::exception {
  const char* what() const noexcept override { return "another process abandoned the step"; }
};

/// Every call is one of all processes, in the same order, unless it says otherwise; it returns once
/// the slowest has come. Sums are the same in every process, bit by bit. A process that is gone
/// makes the others throw Error(kStageFailed).
class RankGroup final : public graph::Exchange {
 public:
  /// Meets the others, for up to five minutes.
  RankGroup(const Ranks& ranks, at::Device device);
  ~RankGroup() override;
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  int rank() const { return ranks_.rank; }
  int world() const { return ranks_.world; }
  bool is_first() const { return ranks_.rank == 0; }

  /// Inside a step, see Exchange. Those that have finished take part without values of their own.
  /// Throws StepAbandoned when another process has abandoned the step.
  void sum(std::span<double> values) override;
  /// After the last piece of a step: takes part in the sums of the others until all have finished.
  /// Throws StepAbandoned.
  void finish_step();
  /// In the place of the next sum() or finish_step(): the others' throws StepAbandoned there.
  void abandon_step();

  /// Replaces a tensor by its sum over all processes.
  void sum(const at::Tensor& tensor);
  /// The same for the gradients of parameters, in one message; a missing one counts as zeros.
  void sum_gradients(const NamedTensors& parameters);
  /// The largest of the processes' values.
  int64_t largest(int64_t value);
  /// The first process's bytes; what the others give is not looked at.
  std::string from_first(const std::string& bytes);
  /// Fills the tensors with the first process's values.
  void from_first(const NamedTensors& tensors);

 private:
  class Wire;  // c10d, in one source file
  struct Meeting;
  Meeting meet(bool has_failed, int64_t values);

  Ranks ranks_;
  std::unique_ptr<Wire> wire_;
};

/// The piece of `ids` this process computes: contiguous, of about equal work (nodes, edges and
/// paths). Over all ranks each id is in exactly one piece; with fewer ids than ranks some are
/// empty.
std::span<const int64_t> piece_of(const graph::GraphSet& store, std::span<const int64_t> ids,
                                  int rank, int world);

/// Elements [first, end) of `count` that this process takes, in equal shares.
struct Share {
  int64_t first = 0, end = 0;
};
Share share_of(int64_t count, int rank, int world);

}  // namespace kdgat::train
