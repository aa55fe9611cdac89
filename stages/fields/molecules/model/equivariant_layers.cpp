#include "fields/molecules/model/equivariant_layers.h"

#include <ATen/ATen.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>

#include <cmath>
#include <numbers>

namespace kdgat::molecules {
namespace {

// e3nn's sampled constants; the exact integrals, 1.6765324703 and 1.8462285453, would not match
// what published checkpoints were trained with.
constexpr double kSilu = 1.6791767923989418, kSigmoid = 1.8467055342154763;
constexpr double kNormEpsilon = 1e-5;

/// The channels of l, [N,u,m].
at::Tensor part_of(const at::Tensor& x, const Irreps& irreps, std::size_t l) {
  const int64_t m = Irreps::components(l);
  return x.narrow(1, irreps.offset(l), irreps.mul[l] * m).reshape({x.size(0), irreps.mul[l], m});
}

}  // namespace

IrrepsLinearImpl::IrrepsLinearImpl(const Irreps& in, const Irreps& out) : in_(in), out_(out) {
  int64_t size = 0;
  for (std::size_t l = 0; l < 3; ++l) size += in.mul[l] * out.mul[l];
  weight = register_parameter("weight", torch::randn({size}));
}

at::Tensor IrrepsLinearImpl::forward(const at::Tensor& x) {
  std::vector<at::Tensor> parts;
  int64_t first = 0;
  for (std::size_t l = 0; l < 3; ++l) {
    const int64_t in = in_.mul[l], out = out_.mul[l];
    if (out == 0) continue;
    if (in == 0) {
      parts.push_back(at::zeros({x.size(0), out * Irreps::components(l)}, x.options()));
      continue;
    }
    const at::Tensor w =
        weight.narrow(0, first, in * out).view({in, out}) / std::sqrt(static_cast<double>(in));
    parts.push_back(at::matmul(part_of(x, in_, l).transpose(1, 2), w).transpose(1, 2).flatten(1));
    first += in * out;
  }
  return at::cat(parts, 1);
}

Value IrrepsLinearImpl::count(PocketCount& step, const Value& x) const {
  Tape& tape = step.tape;
  std::vector<Value> parts;
  for (std::size_t l = 0; l < 3; ++l) {
    const auto in = static_cast<double>(in_.mul[l] * Irreps::components(l)),
               out = static_cast<double>(out_.mul[l] * Irreps::components(l));
    if (out == 0 || in == 0) continue;
    const Value from =
        l == 0 && x.element == step.product ? step.view(x, in) : step.part(x, in, step.product);
    const Value mixed = tape.value(x.rows, out, step.product);
    tape.then(mixed, [&tape, from](const Held&) { tape.give(from); });
    parts.push_back(l == 0 ? mixed.without_data() : tape.elementwise(mixed, Keeps::kNothing));
    if (l == 0) parts.back().data = mixed.data;
  }
  Value y = tape.joined(parts, x.rows, static_cast<double>(out_.dim()), step.product);
  const Value weights = tape.value(PocketCount::kOnce, 0);
  tape.then(weights, [&tape, count = static_cast<double>(weight.numel())](const Held&) {
    tape.parameters({count});
  });
  *weights.grad = tape.hold({});
  return y;
}

ScalarsToIrrepsImpl::ScalarsToIrrepsImpl(const Irreps& irreps) : irreps_(irreps) {
  weight = register_parameter("weight", torch::randn({irreps.mul[0] * irreps.mul[0]}));
}

at::Tensor ScalarsToIrrepsImpl::forward(const at::Tensor& scalars) {
  const int64_t n = irreps_.mul[0];
  const at::Tensor mixed =
      at::matmul(scalars, weight.view({n, n})) / std::sqrt(static_cast<double>(n));
  return at::constant_pad_nd(mixed, {0, irreps_.dim() - n});
}

Value ScalarsToIrrepsImpl::count(PocketCount& step, const Value& scalars) const {
  Tape& tape = step.tape;
  const Value in = step.rounded(scalars),
              mixed = tape.value(scalars.rows, scalars.width, step.product);
  tape.then(mixed, [&tape, in, count = static_cast<double>(weight.numel())](const Held&) {
    tape.give(in);
    tape.parameters({count});
  });
  const Value scaled = tape.elementwise(mixed, Keeps::kNothing);
  return step.part(scaled, static_cast<double>(irreps_.dim()), scaled.element);  // with zeros
}

at::Tensor gate(const at::Tensor& x, const Irreps& irreps) {
  const Irreps gated = irreps.gated();
  const at::Tensor gates =
      kSigmoid * at::sigmoid(x.narrow(1, irreps.mul[0], irreps.mul[1] + irreps.mul[2]));
  const at::Tensor vectors = part_of(x, gated, 1) * gates.narrow(1, 0, irreps.mul[1]).unsqueeze(2);
  const at::Tensor tensors =
      part_of(x, gated, 2) * gates.narrow(1, irreps.mul[1], irreps.mul[2]).unsqueeze(2);
  return at::cat(
      {kSilu * at::silu(x.narrow(1, 0, irreps.mul[0])), vectors.flatten(1), tensors.flatten(1)}, 1);
}

Value count_gate(PocketCount& step, const Value& x, const Irreps& irreps) {
  Tape& tape = step.tape;
  const auto scalars = static_cast<double>(irreps.mul[0]),
             gates = static_cast<double>(irreps.mul[1] + irreps.mul[2]),
             rest = static_cast<double>(irreps.dim()) - scalars;
  const Value raw = step.view(x, gates);
  const Value weights =
      tape.elementwise(tape.elementwise(raw.without_data(), Keeps::kResult), Keeps::kNothing);
  const Value turning = step.view(x, rest);
  const Value products = tape.value(x.rows, rest);
  tape.then(products, [&tape, weights, turning](const Held&) {
    const Held of_gates = tape.hold(turning.bytes());
    tape.give(turning);
    tape.give(weights);
  });
  const Value active = tape.elementwise(step.silu(step.view(x, scalars)), Keeps::kNothing);
  return tape.joined({active, products}, x.rows, static_cast<double>(irreps.dim()),
                     PocketCount::kFloat);
}

IrrepsNormImpl::IrrepsNormImpl(const Irreps& irreps, NormForm form) : irreps_(irreps), form_(form) {
  const bool is_short = form == NormForm::kPublished;
  weight =
      register_parameter("weight", torch::ones({is_short ? irreps.mul[0] : irreps.channels()}));
  if (form == NormForm::kRms) return;
  bias = register_parameter("bias", torch::zeros({irreps.mul[0]}));
}

/// [N,channels,components], whose weights begin at `first`.
at::Tensor IrrepsNormImpl::turning(const at::Tensor& part, int64_t first) const {
  if (form_ == NormForm::kPublished)
    return at::layer_norm(part, {part.size(2)}, {}, {}, kNormEpsilon);
  const at::Tensor size = (part.square().mean({1, 2}, true) + kNormEpsilon).sqrt();
  return part / size * weight.narrow(0, first, part.size(1)).unsqueeze(1);
}

at::Tensor IrrepsNormImpl::forward(const at::Tensor& x) {
  const int64_t scalars = irreps_.mul[0];
  const at::Tensor straight = x.narrow(1, 0, scalars), of_scalars = weight.narrow(0, 0, scalars);
  std::vector<at::Tensor> parts;
  if (form_ == NormForm::kRms) {
    parts.push_back(straight / (straight.square().mean({1}, true) + kNormEpsilon).sqrt() *
                    of_scalars);
  } else {
    parts.push_back(at::layer_norm(straight, {scalars}, of_scalars, bias, kNormEpsilon));
  }
  int64_t first = scalars;
  for (std::size_t l = 1; l < 3; ++l) {
    if (irreps_.mul[l] == 0) continue;
    parts.push_back(turning(part_of(x, irreps_, l), first).flatten(1));
    first += irreps_.mul[l];
  }
  return at::cat(parts, 1);
}

Value IrrepsNormImpl::count(PocketCount& step, const Value& x) const {
  Tape& tape = step.tape;
  const auto scalars = static_cast<double>(irreps_.mul[0]),
             rest = static_cast<double>(irreps_.dim()) - scalars;
  const double channels = static_cast<double>(irreps_.channels()) - scalars;
  const Value straight = step.layer_norm(step.view(x, scalars));
  const Value turning = step.view(x, rest);
  Value out = tape.value(x.rows, rest);
  if (form_ == NormForm::kPublished) {
    const Held statistics = step.rows(x.rows, 2 * channels);
    tape.then(out, [&tape, turning, statistics](const Held&) { tape.give(turning); });
  } else {
    const Value unit = tape.value(x.rows, rest);
    const Held sizes = step.rows(x.rows, 2);
    tape.then(unit, [&tape, turning, sizes](const Held&) {
      const Held of_size = tape.hold(turning.bytes());
      tape.give(turning);
    });
    tape.then(out, [&tape, unit, channels](const Held&) {
      tape.hold(unit.bytes());
      tape.give(unit);
      tape.parameters({channels});
    });
  }
  return tape.joined({straight, out}, x.rows, static_cast<double>(irreps_.dim()),
                     PocketCount::kFloat);
}

at::Tensor invariants(const at::Tensor& x, const Irreps& irreps) {
  std::vector<at::Tensor> parts = {x.narrow(1, 0, irreps.mul[0])};
  for (std::size_t l = 1; l < 3; ++l) {
    if (irreps.mul[l] > 0) parts.push_back(at::linalg_vector_norm(part_of(x, irreps, l), 2, {2}));
  }
  return at::cat(parts, 1);
}

at::Tensor mean_at(const at::Tensor& rows, const at::Tensor& index, int64_t nodes) {
  const at::Tensor sums =
      at::zeros({nodes, rows.size(1)}, rows.options()).index_add(0, index, rows);
  const at::Tensor counts = at::bincount(index, {}, nodes).clamp_min(1).to(rows.scalar_type());
  return sums / counts.unsqueeze(1);
}

torch::nn::Sequential silu_layers(const std::vector<int64_t>& sizes) {
  torch::nn::Sequential out;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    if (i > 0) out->push_back(torch::nn::SiLU());
    out->push_back(torch::nn::Linear(sizes[i], sizes[i + 1]));
  }
  return out;
}

at::Tensor radial_basis(const at::Tensor& distance, int64_t count, double r) {
  constexpr double kLeast = 1e-6;
  const at::Tensor d = distance.to(at::kDouble).clamp_min(kLeast).unsqueeze(1);
  const at::Tensor n = at::arange(1, count + 1, d.options());
  const at::Tensor u = d / r;
  // Value, slope and curvature are 0 at the cutoff.
  const at::Tensor cut =
      at::where(u < 1, 1 - 28 * u.pow(6) + 48 * u.pow(7) - 21 * u.pow(8), at::zeros_like(u));
  const at::Tensor waves = std::sqrt(2 / r) * at::sin(n * std::numbers::pi * u) / d;
  return (waves * cut).to(distance.scalar_type());
}

}  // namespace kdgat::molecules
