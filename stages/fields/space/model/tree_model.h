// TreeModel: what geometric-tree pre-training trains, the encoder that is kept and the predictor of
// growth that is not.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "fields/space/model/growth.h"
#include "fields/space/model/sgmp.h"

namespace kdgat::space {

class TreeModelImpl : public torch::nn::Module {
 public:
  /// The predictor's channels and cutoff become the encoder's.
  TreeModelImpl(const SgmpConfig& config, GrowthConfig growth_config) {
    growth_config.channels = config.hidden;
    growth_config.cutoff = config.cutoff;
    encoder = register_module("encoder", SgmpEncoder(config));
    growth = register_module("growth", GrowthPredictor(growth_config));
  }

  SgmpEncoder encoder{nullptr};
  GrowthPredictor growth{nullptr};
};
TORCH_MODULE(TreeModel);

}  // namespace kdgat::space
