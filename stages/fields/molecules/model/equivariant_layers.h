// Layers of states of scalars, vectors and tensors: what they compute turns with their input.
// States stand by channel, see irreps.h. N rows.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/sequential.h>

#include <vector>

#include "engine/model/layers/layer.h"
#include "fields/molecules/model/irreps.h"
#include "fields/molecules/model/pocket_count.h"

namespace kdgat::molecules {

/// y_l = x_l W_l / sqrt(channels in); no bias. The weight is one row, l after l, drawn from N(0,1).
class IrrepsLinearImpl : public torch::nn::Module {
 public:
  IrrepsLinearImpl(const Irreps& in, const Irreps& out);
  at::Tensor forward(const at::Tensor& x);  ///< [N,in.dim()] to [N,out.dim()]
  Value count(PocketCount& step, const Value& x) const;

  at::Tensor weight;

 private:
  Irreps in_, out_;
};
KDGAT_LAYER(IrrepsLinear);

/// Scalars to a state whose vectors and tensors are exactly 0: [N,n] to [N,dim].
class ScalarsToIrrepsImpl : public torch::nn::Module {
 public:
  explicit ScalarsToIrrepsImpl(const Irreps& irreps);
  at::Tensor forward(const at::Tensor& scalars);
  Value count(PocketCount& step, const Value& scalars) const;

  at::Tensor weight;  ///< [n n]

 private:
  Irreps irreps_;
};
KDGAT_LAYER(ScalarsToIrreps);

/// Of [N, irreps.gated().dim()]: SiLU of the scalars, and vectors and tensors times the sigmoid of
/// the gate of each; both scaled to keep the second moment of a normal input. [N,irreps.dim()].
at::Tensor gate(const at::Tensor& x, const Irreps& irreps);
Value count_gate(PocketCount& step, const Value& x, const Irreps& irreps);

/// Scalars by their layer norm; each l > 0 divided by the root of its mean square over channels and
/// components. It turns with its input. The published norm takes the layer norm of each channel's
/// components, without weights: what it gives depends on how the input is turned. With kRms scalars
/// are divided by the root of their mean square, too, and have no bias.
enum class NormForm { kEquivariant, kPublished, kRms };
class IrrepsNormImpl : public torch::nn::Module {
 public:
  explicit IrrepsNormImpl(const Irreps& irreps, NormForm form = NormForm::kEquivariant);
  at::Tensor forward(const at::Tensor& x);
  Value count(PocketCount& step, const Value& x) const;

  at::Tensor weight, bias;  ///< one a channel, published a scalar; one a scalar or none

 private:
  at::Tensor turning(const at::Tensor& part, int64_t first) const;
  Irreps irreps_;
  NormForm form_;
};
KDGAT_LAYER(IrrepsNorm);

/// Scalars, and the length of each vector and tensor; with slope 0 where one is 0. [N,channels()].
at::Tensor invariants(const at::Tensor& x, const Irreps& irreps);

/// Mean of rows at `index`, of `nodes`; 0 where there is none.
at::Tensor mean_at(const at::Tensor& rows, const at::Tensor& index, int64_t nodes);

/// Linear layers with SiLU between; named "0", "2", "4", ...
torch::nn::Sequential silu_layers(const std::vector<int64_t>& sizes);

/// sqrt(2/r) sin(n pi d/r)/d, n = 1 .. count, times a smooth cutoff that is 0 from r on; [E,count].
/// d below 1e-6 counts as that. Computed in double, in the type of d.
at::Tensor radial_basis(const at::Tensor& distance, int64_t count, double r);

}  // namespace kdgat::molecules
