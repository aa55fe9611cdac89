// The classifier stage where numbers are predicted of graphs, not classes: regression.
#pragma once

#include <string>
#include <vector>

#include "classifier/classifier_options.h"
#include "engine/setup/network_setup.h"

namespace kdgat::classifier {

class Regressor
    : public setup::NetworkSetupOf<ClassifierOptions, model::GatConfig, model::GraphClassifier> {
 public:
  using NetworkSetupOf::NetworkSetupOf;

  void make(const setup::GraphShape& graphs) override;
  train::Parts choose_parts(const train::Data& data, const Host* host) const override;
  void fit_input(const train::Data& data, const std::vector<int64_t>& train) override;
  nlohmann::json widths() const override;
  std::unique_ptr<train::Objective> make_objective(
      std::unique_ptr<objective::Teacher> teacher) const override;
  train::Judge judge(const train::Data& data, train::Objective& objective) const override;
  std::string headline() const override { return "mae"; }

 protected:
  void complete(model::GatConfig& config, const setup::GraphShape& graphs) const override;
};

/// What a network of labelled graphs drops of their edges, said to the host: nothing in silence.
/// A network without edges is there to be compared with, and says nothing.
void say_what_is_dropped(const model::GatForm& form, int64_t edge_features, const Host& host);
/// Throws Error(kUsage) if the network needs features of edges and there are none.
void require_edge_features(const model::GatForm& form, int64_t edge_features);

/// Fits what a network knows of its training graphs `ids`.
void fit_to(model::GraphClassifierImpl& model, const graph::GraphStore& store,
            const std::vector<int64_t>& ids);

}  // namespace kdgat::classifier
