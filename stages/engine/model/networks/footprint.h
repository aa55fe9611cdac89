// Footprint of a training step, counted from shapes: the models and their losses walked on sizes
// (engine/memory/tape.h), as they run with the kernels of a device (kernel_counts.h). Nothing is
// computed.
#pragma once

#include <cstdint>
#include <string>

#include "engine/kernels/kernels_for.h"
#include "engine/memory/memory_plan.h"
#include "engine/memory/step_form.h"
#include "engine/model/config/config.h"

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

/// Static mode; teacher = 0. `margin` is what tests hold it to.
memory::Footprint footprint(const VgaeConfig& config, const FootprintOptions& options);
memory::Footprint footprint(const GatConfig& config, const FootprintOptions& options);

FootprintOptions footprint_options(const memory::StepForm& form, bool distilling, int64_t threads,
                                   kernels::KernelSet kernels, int64_t largest_graph);

/// footprint() and what would make it smaller.
template <class Config>
memory::Footprint footprint_with_alternatives(const Config& config, FootprintOptions options) {
  memory::Footprint out = footprint(config, options);
  if (!options.checkpointing) {
    options.checkpointing = true;
    out.alternatives.push_back({"gradient_checkpointing=true", footprint(config, options)});
  }
  return out;
}

}  // namespace kdgat::model
