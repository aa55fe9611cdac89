// The classifier stage where numbers are predicted of graphs, not classes: regression.
#pragma once

#include <string>
#include <vector>

#include "classifier/classifier_options.h"
#include "classifier/shared.h"
#include "engine/setup/network_setup.h"

namespace kdgat::classifier {

class Regressor
    : public setup::NetworkSetupOf<ClassifierOptions, model::GatConfig, model::GraphClassifier> {
 public:
  using NetworkSetupOf::NetworkSetupOf;

  void make(const setup::GraphShape& graphs) override;
  train::Parts choose_parts(const train::Data& data, const Host* host) const override;
  void fit_input(const train::Data& data, const std::vector<int64_t>& train) override;
  nlohmann::json widths() const override { return widths_of(model_->config()); }
  std::unique_ptr<train::Objective> make_objective(
      std::unique_ptr<objective::Teacher> teacher) const override;
  train::Judge judge(const train::Data& data, train::Objective& objective) const override;
  std::string headline() const override { return "mae"; }

 protected:
  void complete(model::GatConfig& config, const setup::GraphShape& graphs) const override;
};

}  // namespace kdgat::classifier
