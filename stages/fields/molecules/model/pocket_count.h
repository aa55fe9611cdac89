// A training step of a pocket encoder on sizes (engine/memory/tape.h): what layers count themselves
// into, and LibTorch's operations that several of them use.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/kernels_for.h"
#include "engine/memory/step_form.h"
#include "engine/memory/tape.h"

namespace kdgat::molecules {

using memory::Cost;
using memory::Held;
using memory::Keeps;
using memory::Tape;
using memory::Value;

/// Of all molecules of a data set, and how many of them a batch has at most.
struct PocketSizes {
  int64_t molecules = 1, batch = 1;
  int64_t atoms = 1, bonds = 0, pairs = 0, angles = 0, dihedrals = 0;
  int64_t catalogue = 0;  ///< ligands that the loss compares a molecule with, next to its own
  int64_t threads = 1;
  /// Of the device. Beyond the CPU also what its allocator rounds is counted (Footprint::rounding);
  /// the tensor product in plain operations holds the weights of each edge (tensor_product.h).
  kernels::KernelSet kernels = kernels::KernelSet::kCpu;
};

class PocketCount {
 public:
  static constexpr Cost kOnce{.fixed = 1}, kMolecules{.graph = 1}, kAtoms{.node = 1};
  static constexpr double kFloat = 4, kDouble = 8, kInt = 4, kLong = 8;

  struct Edges {
    Cost rows;
    int64_t features = 0;
    int64_t parts = 1, radial_parts = 1;
    bool has_lists = false;  ///< a card's, made by the first product over them
  };

  /// Of molecules like those of `sizes`, `size` of them in a step.
  PocketCount(const memory::StepForm& form, const PocketSizes& sizes, const memory::Size& size);

  const double product;  ///< bytes of an element in products
  const kernels::KernelSet kernels;
  const double threads, nodes;
  Tape tape;
  Cost angles, dihedrals;
  Edges bonded, nonbonded;
  std::vector<Held> lists;  ///< until the step ends

  bool is_short() const { return product < kFloat; }
  Held once(double count) { return tape.hold(kOnce * (kFloat * count)); }
  Held rows(const Cost& of, double count) { return tape.hold(of * (kFloat * count)); }

  /// y = x W^T + b. In mixed precision the inputs are rounded, each time anew, and kept so.
  Value linear(const Value& x, double outputs);
  Value silu(const Value& x) { return tape.elementwise(x, Keeps::kInput); }
  Value layer_norm(const Value& x);
  /// Times a learned number.
  Value scaled(const Value& x);
  /// Elements set to 0, by noise.
  Value drop(const Value& x);
  /// In 16 bits where products run so, and in 32.
  Value rounded(const Value& x) { return x.element == product ? x : part(x, x.width, product); }
  Value widened(const Value& x) { return x.element == kFloat ? x : part(x, x.width, kFloat); }
  /// A part of the columns of `x`, copied; its gradient is one of all of x.
  Value part(const Value& x, double width, double element);
  /// The same without a copy.
  Value view(const Value& x, double width);
};

}  // namespace kdgat::molecules
