// What a training step of a pocket encoder holds, counted from its shapes.
#pragma once

#include "engine/kernels/kernels_for.h"
#include "engine/memory/memory_plan.h"
#include "engine/memory/step_form.h"
#include "fields/molecules/model/pocket_encoder.h"

namespace kdgat::molecules {

/// Of all molecules of a data set, and how many of them a batch has at most.
struct PocketSizes {
  int64_t molecules = 1, batch = 1;
  int64_t atoms = 1, bonds = 0, pairs = 0, angles = 0, dihedrals = 0;
  int64_t catalogue = 0;  ///< ligands that the loss compares a molecule with, beside its own
  int64_t threads = 1;
  /// Of the device. Beyond the CPU also what its allocator rounds is counted (Footprint::rounding);
  /// the tensor product in plain operations holds the weights of each edge (tensor_product.h).
  kernels::KernelSet kernels = kernels::KernelSet::kCpu;
};

memory::Footprint footprint(const PocketConfig& config, const memory::StepForm& form,
                            const PocketSizes& sizes, const torch::nn::Module& model);

}  // namespace kdgat::molecules
