// The operations of a pocket encoder on sizes (engine/memory/tape.h); included by
// pocket_footprint.cpp alone. Each allocates what the real one does, in the same order: where that
// changes, so must this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/memory/tape.h"
#include "fields/molecules/model/card_product.h"
#include "fields/molecules/model/pocket_encoder.h"
#include "fields/molecules/model/pocket_footprint.h"
#include "fields/molecules/model/product_parts.h"

namespace kdgat::molecules {

using memory::Cost;
using memory::Held;
using memory::Tape;
using memory::Value;

/// What an elementwise operation keeps for backward.
enum class Keeps { kNothing, kInput, kResult };

class PocketStep {
 public:
  static constexpr Cost kOnce{.fixed = 1}, kMolecules{.graph = 1}, kAtoms{.node = 1};
  static constexpr double kFloat = 4, kDouble = 8, kInt = 4, kLong = 8;

  /// Of molecules like those of `sizes`, `size` of them in a step.
  PocketStep(const PocketConfig& config, const memory::StepForm& form, const PocketSizes& sizes,
             const memory::Size& size)
      : tape(form.accumulates()),
        config_(config),
        product_(form.is_short() ? 2 : 4),
        kernels_(sizes.kernels),
        nodes_(static_cast<double>(size.nodes)) {
    const auto atoms = static_cast<double>(std::max<int64_t>(1, sizes.atoms));
    const auto of_atoms = [atoms](int64_t count) {
      return Cost{.node = static_cast<double>(count) / atoms};
    };
    angles = of_atoms(sizes.angles);
    dihedrals = of_atoms(sizes.dihedrals);
    // Edges of a batch are its bonds and pairs, both ways.
    const auto edges_over = [&](const Cost& rows, int64_t features) {
      const auto count = static_cast<int64_t>(std::max(0.0, rows.of(size)));
      return Edges{rows, features, product_parts_of(size.nodes, count), radial_parts_of(count)};
    };
    const Cost bonds = of_atoms(2 * sizes.bonds);
    bonded = edges_over(bonds, kBondFeatures);
    nonbonded = edges_over(Cost{.edge = 1} + bonds * -1, kPairFeatures);
    threads_ = static_cast<double>(std::max<int64_t>(1, sizes.threads));
  }

  bool is_short() const { return product_ < kFloat; }

  struct Edges {
    Cost rows;
    int64_t features = 0;
    int64_t parts = 1, radial_parts = 1;
    bool has_lists = false;  ///< a card's, made by the first product over them
  };

  Tape tape;
  Cost angles, dihedrals;
  Edges bonded, nonbonded;

  /// y = x W^T + b. In mixed precision the inputs are rounded, each time anew, and kept so.
  Value linear(const Value& x, double outputs) {
    const double weight = x.width * outputs;
    const auto gradients = [this, weight, outputs] { tape.parameters({weight, outputs}); };
    Value y = tape.value(x.rows, outputs, product_);
    if (product_ == kFloat) {
      tape.then(y, [this, x, gradients](const Held&) {
        tape.give(x);
        gradients();
      });
      return y;
    }
    const Value in = rounded(x), weights = tape.value(kOnce, weight + outputs, product_);
    tape.then(weights, [gradients](const Held&) { gradients(); });
    tape.then(y, [this, in, weights](const Held&) {
      tape.give(in);
      tape.give(weights);
    });
    return y;
  }

  Value elementwise(const Value& x, Keeps keeps) {
    Value y = tape.value(x.rows, x.width, x.element);
    Held kept;
    if (keeps == Keeps::kInput) kept = x.data;
    if (keeps == Keeps::kResult) kept = y.data;
    tape.then(y, [this, x = x.without_data(), kept](const Held&) { tape.give(x); });
    return y;
  }
  Value silu(const Value& x) { return elementwise(x, Keeps::kInput); }

  Value layer_norm(const Value& x) {
    Value y = tape.value(x.rows, x.width, x.element);
    const Held statistics = tape.hold(x.rows * (2 * kFloat));
    tape.then(y, [this, x, statistics](const Held&) {
      tape.give(x);
      tape.parameters({x.width, x.width});
    });
    return y;
  }

  /// The sum of two.
  Value sum(const Value& a, const Value& b) {
    Value y = tape.value(a.rows, a.width, std::max(a.element, b.element));
    tape.then(y, [this, a = a.without_data(), b = b.without_data(),
                  element = y.element](const Held& grad) {
      for (const Value& x : {a, b}) {
        if (x.element == element) {
          tape.pass(x, grad);
        } else {
          tape.give(x);
        }
      }
    });
    return y;
  }

  /// Times a learned number.
  Value scaled(const Value& x) {
    Value y = tape.value(x.rows, x.width, x.element);
    tape.then(y, [this, x](const Held&) {
      tape.hold(x.bytes());
      tape.give(x);
      tape.parameters({1});
    });
    return y;
  }

  /// Messages over the edges, [atoms, gated].
  Value tensor_product(const Value& state, Edges& edges, bool only_scalars) {
    if (kernels_ == kernels::KernelSet::kCuda) return card_product(state, edges, only_scalars);
    if (kernels_ == kernels::KernelSet::kPlain) return plain_product(state, edges);
    const ProductPlan plan(config_.hidden, only_scalars);
    const auto dim = static_cast<double>(config_.hidden.dim());
    const auto gated = static_cast<double>(plan.gated.dim());
    const auto hidden = static_cast<double>(config_.radial_hidden);
    const auto weights = static_cast<double>(edge_weights(config_.hidden));
    const double third = weights * (hidden + 1);  // weights and biases
    const auto inputs = static_cast<double>(config_.radial_basis + edges.features);
    const auto columns = static_cast<double>(plan.p_columns);
    const double block = static_cast<double>(kProductBlock);
    const double of_sources = columns * (hidden + 1),
                 of_targets = static_cast<double>(plan.z_columns) * (hidden + 1);
    const auto once = [this](double count) { return tape.hold(kOnce * (kFloat * count)); };
    const auto rows = [this](const Cost& of, double count) {
      return tape.hold(of * (kFloat * count));
    };

    Value out = tape.value(kAtoms, gated);
    {
      const Held x = rows(kAtoms, dim), h = rows(edges.rows, hidden), turned = once(third),
                 messages = rows(edges.rows, columns), sums = rows(kAtoms, gated);
      once(threads_ * block * std::max(of_sources, of_targets));
      rows(kAtoms, gated);  // its parts by channel, before they stand side by side
    }
    tape.then(out, [=, this](const Held&) {
      const auto parts = static_cast<double>(edges.parts);
      const Held x = rows(kAtoms, dim), grad_out = rows(kAtoms, gated),
                 h = rows(edges.rows, hidden), turned = once(third),
                 of_weights = once(parts * third), of_states = rows(kAtoms, (parts + 1) * dim),
                 of_h = rows(edges.rows, hidden);
      once(threads_ * block * std::max(of_sources, 2 * of_targets));
      const Held of_x = rows(kAtoms, dim);
      rows(kAtoms, dim);
      tape.give(state);
      once(static_cast<double>(edges.radial_parts) * (hidden + inputs + 2) * hidden);
      tape.parameters(
          {inputs * hidden, hidden, hidden * hidden, hidden, weights * hidden, weights});
    });
    return out;
  }

  /// By the kernels of a card (card_product.cpp): the coupled states of all edges, for a path at a
  /// time.
  Value card_product(const Value& state, Edges& edges, bool only_scalars) {
    const Irreps& irreps = config_.hidden;
    const auto hidden = static_cast<double>(config_.radial_hidden);
    const auto weights = static_cast<double>(edge_weights(irreps));
    const auto inputs = static_cast<double>(config_.radial_basis + edges.features);
    const auto gated = static_cast<double>(irreps.gated().dim());
    const auto once = [this](double count) { return tape.hold(kOnce * (kFloat * count)); };
    const auto rows = [this](const Cost& of, double count) {
      return tape.hold(of * (kFloat * count));
    };
    if (!edges.has_lists) {
      edges.has_lists = true;
      lists_.push_back(tape.hold(edges.rows * (3 * kInt) + kAtoms * (2 * kInt)));
    }
    // Of a path the weights that mix, the states of an edge, and the sums of a block of nodes.
    struct Path {
      double mixing, state, sums;
    };
    std::vector<Path> paths;
    for (const TensorPath& path : tensor_paths(irreps)) {
      if (path.in == 0 || path.out == 0 || (only_scalars && path.l1 > 0)) continue;
      const auto in = static_cast<double>(path.in),
                 to = static_cast<double>(Irreps::components(path.l3));
      const double of_node = to * (hidden + 1) * in;
      const double some = std::max(1.0, std::floor(static_cast<double>(kCardBlock) / of_node));
      paths.push_back({(hidden + 1) * in * static_cast<double>(path.out), to * in,
                       std::min(some, nodes_) * of_node});
    }
    Held parts;
    {
      const Held radial = rows(edges.rows, 4 * hidden);
      parts = rows(kAtoms, gated);
      for (const Path& path : paths) {
        const Held mixing = once(path.mixing), z = rows(edges.rows, path.state);
        once(path.sums);
      }
    }
    Value out = tape.value(kAtoms, gated);
    parts = nullptr;
    tape.then(out, [=, this](const Held&) {
      const Held radial = rows(edges.rows, 4 * hidden), grad_out = rows(kAtoms, gated),
                 of_hidden = rows(edges.rows, hidden);
      tape.give(state);
      const Held of_third = once(weights * (hidden + 1));
      for (const Path& path : paths) {
        const Held mixing = once(2 * path.mixing), states = rows(edges.rows, 2 * path.state);
        once(2 * path.sums);
      }
      rows(edges.rows, 3 * hidden);
      tape.parameters(
          {inputs * hidden, hidden, hidden * hidden, hidden, weights * hidden, weights});
    });
    return out;
  }

  /// In plain operations: the weights of each edge and of each path what is coupled, kept for
  /// backward.
  Value plain_product(const Value& state, const Edges& edges) {
    const Irreps& irreps = config_.hidden;
    const auto hidden = static_cast<double>(config_.radial_hidden);
    const auto weights = static_cast<double>(edge_weights(irreps));
    const auto inputs = static_cast<double>(config_.radial_basis + edges.features);
    const auto gated = static_cast<double>(irreps.gated().dim()),
               dim = static_cast<double>(irreps.dim());
    const auto rows = [this](const Cost& of, double count) {
      return tape.hold(of * (kFloat * count));
    };
    double coupled = 0, sums = 0;
    for (const TensorPath& path : tensor_paths(irreps)) {
      if (path.in == 0 || path.out == 0) continue;
      const auto in = static_cast<double>(path.in), out = static_cast<double>(path.out);
      const auto to = static_cast<double>(Irreps::components(path.l3));
      coupled += in * to;  // stacked, for the product with the weights
      sums = std::max(sums, 2 * out * to);
    }
    const Held kept = rows(edges.rows, 4 * hidden + weights + dim + coupled + gated + 4);
    const Held joined = rows(edges.rows, 2 * gated + sums);
    Value out = tape.value(kAtoms, gated);
    tape.then(out, [=, this, kept = kept](const Held&) {
      const Held of_joined = rows(edges.rows, 2 * gated), of_edges = rows(edges.rows, 2 * weights),
                 of_x = rows(edges.rows, 2 * dim);
      tape.give(state);
      rows(edges.rows, 3 * hidden);
      tape.parameters(
          {inputs * hidden, hidden, hidden * hidden, hidden, weights * hidden, weights});
    });
    return out;
  }

  /// In 16 bits where products run so.
  Value rounded(const Value& x) {
    if (x.element == product_) return x;
    Value out = tape.value(x.rows, x.width, product_);
    tape.then(out, [this, x = x.without_data()](const Held&) { tape.give(x); });
    return out;
  }
  Value widened(const Value& x) {
    if (x.element == kFloat) return x;
    Value out = tape.value(x.rows, x.width);
    tape.then(out, [this, x = x.without_data()](const Held&) { tape.give(x); });
    return out;
  }

  /// A part of the columns of `x`, copied; its gradient is one of all of x.
  Value part(const Value& x, double width, double element) {
    Value out = tape.value(x.rows, width, element);
    tape.then(out, [this, x = x.without_data()](const Held&) { tape.give(x); });
    return out;
  }
  /// The same without a copy.
  Value view(const Value& x, double width) {
    Value out = x;
    out.width = width;
    out.grad = std::make_shared<Held>();
    tape.then(out, [this, x = x.without_data()](const Held&) { tape.give(x); });
    return out;
  }
  /// Side by side.
  Value joined(const std::vector<Value>& parts, double width, double element) {
    Value out = tape.value(parts.front().rows, width, element);
    std::vector<Value> from = parts;
    for (Value& value : from) value.data = nullptr;
    tape.then(out, [this, from](const Held& grad) {
      for (const Value& value : from) tape.pass(value, grad);
    });
    return out;
  }

  Value irreps_linear(const Value& x, const Irreps& in, const Irreps& out) {
    std::vector<Value> parts;
    double weights = 0;
    for (std::size_t l = 0; l < 3; ++l) {
      const auto of_in = static_cast<double>(in.mul[l] * Irreps::components(l)),
                 of_out = static_cast<double>(out.mul[l] * Irreps::components(l));
      if (of_out == 0 || of_in == 0) continue;
      weights += static_cast<double>(in.mul[l] * out.mul[l]);
      const Value from =
          l == 0 && x.element == product_ ? view(x, of_in) : part(x, of_in, product_);
      const Value mixed = tape.value(x.rows, of_out, product_);
      tape.then(mixed, [this, from](const Held&) { tape.give(from); });
      parts.push_back(l == 0 ? mixed.without_data() : elementwise(mixed, Keeps::kNothing));
      if (l == 0) parts.back().data = mixed.data;
    }
    Value y = joined(parts, static_cast<double>(out.dim()), product_);
    const Value weight = tape.value(kOnce, 0);
    tape.then(weight, [this, weights](const Held&) { tape.parameters({weights}); });
    *weight.grad = tape.hold({});
    return y;
  }

  Value scalars_to_irreps(const Value& x) {
    const Value in = rounded(x), mixed = tape.value(x.rows, x.width, product_);
    tape.then(mixed, [this, in](const Held&) {
      tape.give(in);
      tape.parameters({in.width * in.width});
    });
    return part_of_wider(elementwise(mixed, Keeps::kNothing));
  }

  Value gate(const Value& x) {
    const Irreps& irreps = config_.hidden;
    const auto scalars = static_cast<double>(irreps.mul[0]),
               gates = static_cast<double>(irreps.mul[1] + irreps.mul[2]),
               rest = static_cast<double>(irreps.dim()) - scalars;
    const Value raw = view(x, gates);
    const Value weights =
        elementwise(elementwise(raw.without_data(), Keeps::kResult), Keeps::kNothing);
    const Value turning = view(x, rest);
    const Value products = tape.value(x.rows, rest);
    tape.then(products, [this, weights, turning](const Held&) {
      const Held of_gates = tape.hold(turning.bytes());
      tape.give(turning);
      tape.give(weights);
    });
    const Value active = elementwise(silu(view(x, scalars)), Keeps::kNothing);
    return joined({active, products}, static_cast<double>(irreps.dim()), kFloat);
  }

  Value norm(const Value& x) {
    const Irreps& irreps = config_.hidden;
    const auto scalars = static_cast<double>(irreps.mul[0]),
               rest = static_cast<double>(irreps.dim()) - scalars;
    const double channels = static_cast<double>(irreps.channels()) - scalars;
    const Value straight = layer_norm(view(x, scalars));
    const Value turning = view(x, rest);
    Value out = tape.value(x.rows, rest);
    if (config_.published_norm) {
      const Held statistics = tape.hold(x.rows * (2 * kFloat * channels));
      tape.then(out, [this, turning, statistics](const Held&) { tape.give(turning); });
    } else {
      const Value unit = tape.value(x.rows, rest);
      const Held sizes = tape.hold(x.rows * (2 * kFloat));
      tape.then(unit, [this, turning, sizes](const Held&) {
        const Held of_size = tape.hold(turning.bytes());
        tape.give(turning);
      });
      tape.then(out, [this, unit, channels](const Held&) {
        tape.hold(unit.bytes());
        tape.give(unit);
        tape.parameters({channels});
      });
    }
    return joined({straight, out}, static_cast<double>(irreps.dim()), kFloat);
  }

  /// 0.4 bonded and the like: nothing is kept.
  Value weighed(const Value& x) { return elementwise(x, Keeps::kNothing); }

  /// x + s + gate, see improved_update().
  Value improved(const Value& x, const Value& own, const Value& message) {
    const Irreps& irreps = config_.hidden;
    const auto dim = static_cast<double>(irreps.dim());
    const Value kept = tape.value(x.rows, dim, own.element);
    tape.then(kept, [this, own = own.without_data()](const Held&) { tape.give(own); });
    const Value gated = tape.value(x.rows, message.width);
    tape.then(gated,
              [this, own = own.without_data(), message = message.without_data()](const Held& grad) {
                tape.give(own);
                tape.pass(message, grad);
              });
    const Value with_own = sum(x, kept);
    return sum(with_own, gate(gated));
  }

  Value message_passing(const Value& x, Edges& edges, bool is_bonded, bool only_scalars) {
    const Irreps& irreps = config_.hidden;
    const Value message =
        tensor_product(widened(irreps_linear(x, irreps, irreps)), edges, only_scalars);
    Value out;
    if (is_bonded) {
      const Value own = irreps_linear(x, irreps, irreps.gated());
      out = config_.improved_layers ? improved(x, own, message) : sum(x, gate(sum(own, message)));
    } else {
      out = gate(message);
    }
    return config_.norm ? norm(out) : out;
  }

  /// Messages over terms with so many centres.
  Value term_messages(const Value& x, const Cost& terms, double features, int centres) {
    const auto scalars = static_cast<double>(config_.hidden.mul[0]);
    Value input = tape.value(terms, 2 * scalars + features);
    tape.then(input, [this, x = x.without_data(), scalars](const Held&) {
      tape.hold(kAtoms * (2 * kFloat * scalars));
      tape.give(x);
    });
    if (config_.improved_layers) input = layer_norm(input);
    const double width = kTermHidden;
    const Value message = linear(silu(linear(silu(linear(input, width)), width)), scalars);
    Value total;
    for (int centre = 0; centre < centres; ++centre) {
      const Value mean = tape.value(kAtoms, scalars, message.element);
      const Held counts = tape.hold(kAtoms * kFloat);
      tape.then(mean, [this, message, counts](const Held&) { tape.give(message); });
      total = centre == 0 ? mean : sum(total, mean);
    }
    return scalars_to_irreps(elementwise(total, Keeps::kNothing));
  }

  /// Elements set to 0, by noise.
  Value drop(const Value& x) {
    Value y = tape.value(x.rows, x.width);
    const Held mask = tape.hold(x.rows * (kFloat * x.width));
    tape.then(y, [this, x = x.without_data(), mask](const Held&) { tape.give(x); });
    return y;
  }

  Value part_of_wider(const Value& scalars) {
    Value y = tape.value(scalars.rows, static_cast<double>(config_.hidden.dim()), scalars.element);
    tape.then(y, [this, scalars = scalars.without_data()](const Held&) { tape.give(scalars); });
    return y;
  }

 private:
  const PocketConfig& config_;
  double product_;  // bytes of an element in products
  double threads_ = 1;
  kernels::KernelSet kernels_;
  double nodes_;
  std::vector<Held> lists_;  // until the step ends
};

}  // namespace kdgat::molecules
