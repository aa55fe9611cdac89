// GraphAutoencoder: variational graph autoencoder with identifier and neighbourhood heads; of nodes
// without identifiers with the latter alone. forward() only; the losses over the wide heads are the
// objective's.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/linear.h>

#include "engine/model/config/config.h"
#include "engine/model/layers/input.h"
#include "engine/model/layers/layers.h"

namespace kdgat::model {

struct VgaeOutput {
  at::Tensor features_NX;  ///< reconstruction of wanted_NX; with identifiers in (0, 1)
  at::Tensor wanted_NX;    ///< x[:, 1:]; without identifiers all columns, as they enter
  at::Tensor z_NL;         ///< sampled in training mode, else the mean
  at::Tensor mean_NL;
  at::Tensor logvar_NL;  ///< clamped to [-10, 10]
};

/// VgaeOutput on sizes.
struct VgaeCount {
  Value features, z, mean, logvar;
  Held wanted;  ///< where they are not those of the batch
};

class GraphAutoencoderImpl : public torch::nn::Module {
 public:
  explicit GraphAutoencoderImpl(const VgaeConfig& config);

  VgaeOutput forward(const kernels::BatchTensors& batch);
  VgaeCount count(StepCount& step) const;
  /// Of each node without identifiers the mean of its neighbours' features, as said by z, [N, X].
  at::Tensor neighbour_features(const at::Tensor& z_NL, const kernels::BatchTensors& batch);
  /// Input of neighbours->last(), [N, latent_dim].
  at::Tensor neighbour_hidden(const at::Tensor& z_NL, const kernels::BatchTensors& batch);

  const VgaeConfig& config() const { return config_; }

  bool checkpointing = false;  ///< compute each block again in backward; changes no result
  bool sample_latent = true;   ///< false: z is the mean in training mode too

  Input input{nullptr};
  torch::nn::ModuleList encoder;
  torch::nn::Linear mean{nullptr}, logvar{nullptr};
  torch::nn::Linear ids{nullptr};  ///< null without identifiers
  Block decoder{nullptr};
  GatConv output{nullptr};
  Perceptron neighbours{nullptr};  ///< to all identifiers, or to the features

 private:
  VgaeConfig config_;
};
KDGAT_LAYER(GraphAutoencoder);

GraphAutoencoder make_model(const VgaeConfig& config);

}  // namespace kdgat::model
