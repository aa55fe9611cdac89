#include "fields/molecules/model/pocket_v3.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "fields/molecules/model/equivariant_layers.h"

namespace kdgat::molecules {
namespace {

constexpr double kLeastSquare = 1e-8;  // added to that of a length

/// Rows of length 1; shorter ones where they are next to nothing.
at::Tensor unit(const at::Tensor& x) {
  return x * (x.square().sum(-1, true) + kLeastSquare).rsqrt();
}

}  // namespace

int64_t channel_pairs(const Irreps& irreps) {
  return (irreps.mul[1] * (irreps.mul[1] - 1) + irreps.mul[2] * (irreps.mul[2] - 1)) / 2;
}

at::Tensor channel_cosines(const at::Tensor& x, const Irreps& irreps) {
  std::vector<at::Tensor> parts;
  for (std::size_t l = 1; l < 3; ++l) {
    const int64_t u = irreps.mul[l], m = Irreps::components(l);
    if (u < 2) continue;
    const at::Tensor rows = unit(x.narrow(1, irreps.offset(l), u * m).reshape({x.size(0), u, m}));
    const at::Tensor every = at::matmul(rows, rows.transpose(1, 2)).flatten(1);
    const at::Tensor pairs = at::triu_indices(u, u, 1, every.options().dtype(at::kLong));
    parts.push_back(every.index_select(1, pairs[0] * u + pairs[1]));
  }
  return parts.empty() ? x.narrow(1, 0, 0) : at::cat(parts, 1);
}

int64_t shape_numbers(int64_t atoms) { return atoms == 3 ? 1 : 2; }

at::Tensor term_shapes(const std::vector<at::Tensor>& atoms, const at::Tensor& pos) {
  const auto along = [&](std::size_t from, std::size_t to) {
    return pos.index_select(0, atoms[to]) - pos.index_select(0, atoms[from]);
  };
  if (atoms.size() == 3) return (unit(along(1, 0)) * unit(along(1, 2))).sum(1, true);
  const at::Tensor axis = along(1, 2);
  const at::Tensor cosine =
      (unit(at::linalg_cross(along(0, 1), axis)) * unit(at::linalg_cross(axis, along(2, 3))))
          .sum(1, true);
  return at::cat({cosine, 2 * cosine.square() - 1}, 1);
}

at::Tensor improved_update(const at::Tensor& x, const at::Tensor& own, const at::Tensor& message,
                           const Irreps& irreps) {
  const int64_t scalars = irreps.mul[0], gates = irreps.mul[1] + irreps.mul[2];
  const int64_t rest = irreps.dim() - scalars;
  const at::Tensor kept =
      at::cat({own.narrow(1, 0, scalars), own.narrow(1, scalars + gates, rest)}, 1);
  const at::Tensor gated =
      at::cat({message.narrow(1, 0, scalars),
               message.narrow(1, scalars, gates) + own.narrow(1, scalars, gates),
               message.narrow(1, scalars + gates, rest)},
              1);
  return x + kept + gate(gated, irreps);
}

QueryPoolingImpl::QueryPoolingImpl(int64_t inputs, int64_t width, int64_t heads) : heads_(heads) {
  queries = register_parameter("queries", torch::randn({heads, width / heads}));
  key = register_module("key", torch::nn::Linear(inputs, width));
  value = register_module("value", torch::nn::Linear(inputs, width));
  output = register_module("output", torch::nn::Linear(width, inputs));
}

at::Tensor QueryPoolingImpl::forward(const at::Tensor& rows, const at::Tensor& molecule,
                                     int64_t molecules) {
  const int64_t width = queries.size(1);
  const auto by_head = [&](const at::Tensor& all) {
    return all.to(queries.scalar_type()).view({all.size(0), heads_, width});
  };
  const at::Tensor logit =
      (by_head(key->forward(rows)) * queries).sum(2) / std::sqrt(static_cast<double>(width));
  const at::Tensor top =
      at::full({molecules, heads_}, -std::numeric_limits<double>::infinity(), logit.options())
          .scatter_reduce(0, molecule.unsqueeze(1).expand_as(logit), logit.detach(), "amax");
  const at::Tensor raw = (logit - top.index_select(0, molecule)).exp();
  const auto sums = [&](const at::Tensor& of_atoms) {
    return at::zeros({molecules, of_atoms.size(1)}, of_atoms.options())
        .index_add(0, molecule, of_atoms);
  };
  const at::Tensor weight = raw / sums(raw).index_select(0, molecule);
  return output->forward(sums((by_head(value->forward(rows)) * weight.unsqueeze(2)).flatten(1)));
}

Value QueryPoolingImpl::count(PocketCount& step, const Value& rows) const {
  Tape& tape = step.tape;
  const auto width = static_cast<double>(queries.numel());
  const Value keys = step.widened(step.linear(rows, width));
  const Value weight = tape.value(rows.rows, static_cast<double>(heads_));
  const Held raw = step.rows(rows.rows, 3 * static_cast<double>(heads_));
  tape.then(weight, [&tape, keys, raw, width](const Held&) {
    tape.hold(keys.bytes());
    tape.give(keys);
    tape.parameters({width});
  });
  const Value values = step.widened(step.linear(rows, width));
  const Value weighed = tape.value(rows.rows, width);
  tape.then(weighed, [&tape, values, weight](const Held&) {
    tape.hold(values.bytes());
    tape.give(values);
    tape.give(weight);
  });
  // What a sum reads is kept, for its shape.
  const Value sums = tape.value(PocketCount::kMolecules, width);
  tape.then(sums, [&tape, weighed](const Held&) { tape.give(weighed); });
  return step.linear(sums, rows.width);
}

/// Unit rows and their products.
Value count_channel_cosines(PocketCount& step, const Value& x, const Irreps& irreps) {
  Tape& tape = step.tape;
  const auto of = [&](std::size_t l) { return static_cast<double>(irreps.mul[l]); };
  const double turning = 3 * of(1) + 5 * of(2), squares = of(1) * of(1) + of(2) * of(2);
  const Value unit = tape.value(x.rows, turning);
  const Held lengths = step.rows(x.rows, 2 * (of(1) + of(2)));
  tape.then(unit, [&tape, x, lengths](const Held&) {
    const Held of_parts = tape.hold(x.bytes());
    tape.give(x);
  });
  const Value every = tape.value(x.rows, squares);
  tape.then(every, [&tape, unit](const Held&) {
    tape.hold(unit.bytes());
    tape.give(unit);
  });
  return step.part(every, static_cast<double>(channel_pairs(irreps)), PocketCount::kFloat);
}

Value count_improved_update(PocketCount& step, const Value& x, const Value& own,
                            const Value& message, const Irreps& irreps) {
  Tape& tape = step.tape;
  const Value kept = step.part(own, static_cast<double>(irreps.dim()), own.element);
  const Value gated = tape.value(x.rows, message.width);
  tape.then(gated,
            [&tape, own = own.without_data(), message = message.without_data()](const Held& grad) {
              tape.give(own);
              tape.pass(message, grad);
            });
  const Value with_own = step.tape.sum(x, kept);
  return step.tape.sum(with_own, count_gate(step, gated, irreps));
}

}  // namespace kdgat::molecules
