#include "fields/molecules/model/pocket_count.h"

#include <algorithm>

#include "fields/molecules/data/molecule_graph.h"
#include "fields/molecules/model/product_parts.h"

namespace kdgat::molecules {

PocketCount::PocketCount(const memory::StepForm& form, const PocketSizes& sizes,
                         const memory::Size& size)
    : product(form.is_short() ? 2 : 4),
      kernels(sizes.kernels),
      threads(static_cast<double>(std::max<int64_t>(1, sizes.threads))),
      nodes(static_cast<double>(size.nodes)),
      tape(form.accumulates()) {
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
}

Value PocketCount::linear(const Value& x, double outputs) {
  const double weight = x.width * outputs;
  const auto gradients = [this, weight, outputs] { tape.parameters({weight, outputs}); };
  Value y = tape.value(x.rows, outputs, product);
  if (product == kFloat) {
    tape.then(y, [this, x, gradients](const Held&) {
      tape.give(x);
      gradients();
    });
    return y;
  }
  const Value in = rounded(x), weights = tape.value(kOnce, weight + outputs, product);
  tape.then(weights, [gradients](const Held&) { gradients(); });
  tape.then(y, [this, in, weights](const Held&) {
    tape.give(in);
    tape.give(weights);
  });
  return y;
}

Value PocketCount::layer_norm(const Value& x) {
  Value y = tape.value(x.rows, x.width, x.element);
  const Held statistics = rows(x.rows, 2);
  tape.then(y, [this, x, statistics](const Held&) {
    tape.give(x);
    tape.parameters({x.width, x.width});
  });
  return y;
}

Value PocketCount::scaled(const Value& x) {
  Value y = tape.value(x.rows, x.width, x.element);
  tape.then(y, [this, x](const Held&) {
    tape.hold(x.bytes());
    tape.give(x);
    tape.parameters({1});
  });
  return y;
}

Value PocketCount::drop(const Value& x) {
  Value y = tape.value(x.rows, x.width);
  const Held mask = rows(x.rows, x.width);
  tape.then(y, [this, x = x.without_data(), mask](const Held&) { tape.give(x); });
  return y;
}

Value PocketCount::part(const Value& x, double width, double element) {
  Value out = tape.value(x.rows, width, element);
  tape.then(out, [this, x = x.without_data()](const Held&) { tape.give(x); });
  return out;
}

Value PocketCount::view(const Value& x, double width) {
  Value out = x;
  out.width = width;
  out.grad = std::make_shared<Held>();
  tape.then(out, [this, x = x.without_data()](const Held&) { tape.give(x); });
  return out;
}

}  // namespace kdgat::molecules
