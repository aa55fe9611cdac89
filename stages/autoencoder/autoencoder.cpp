#include "autoencoder/autoencoder.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/objective/distillation.h"
#include "engine/setup/labelled_graphs.h"
#include "engine/setup/network_setup.h"
#include "engine/setup/training_stage.h"

namespace kdgat::autoencoder {
namespace {

class VgaeDetector
    : public setup::NetworkSetupOf<AutoencoderOptions, model::VgaeConfig, model::GraphAutoencoder> {
 public:
  using NetworkSetupOf::NetworkSetupOf;

  void make(const setup::GraphShape& graphs) override {
    if (!graphs.has_ids) check_options(graphs);
    NetworkSetupOf::make(graphs);
  }

  train::Parts choose_parts(const train::Data& data, const Host* host) const override {
    const std::vector<int64_t> train = data.part("train"), val = data.part("val");
    train::Parts parts{train, val, train::labelled_of_both_classes(data, val), {}};
    const std::size_t unlabelled = data.with_label(train, -1).size();
    if (options_.train_on == "all" || unlabelled == train.size()) {
      if (parts.val_score.empty()) parts.val_benign = val;
      if (options_.train_on != "all" && host != nullptr) {
        host->log("warning", "no labels: all traffic is taken as benign");
      }
      return parts;
    }
    parts.train = data.with_label(train, 0);
    parts.val_loss = data.with_label(val, 0);
    if (parts.val_score.empty()) parts.val_benign = parts.val_loss;
    if (parts.train.empty()) {
      throw Error(
          ExitCode::kData,
          train::is_labelled_graphs(data.store)
              ? "no training graph is of the first class, " + data.store.targets()->classes[0]
              : "no training graph is labelled benign",
          "to learn from all of them: train_on=all");
    }
    if (unlabelled > 0 && host != nullptr) {
      host->log("warning", std::to_string(unlabelled) +
                               " training graphs without a label are left out (train_on=benign)");
    }
    return parts;
  }

  void fit_input(const train::Data& data, const std::vector<int64_t>& train) override {
    const std::vector<int64_t> benign = data.with_label(train, 0);
    model_->input->fit(data.store, benign.empty() ? train : benign);
  }

  nlohmann::json widths() const override {
    const model::VgaeConfig& c = model_->config();
    return {{"hidden_dims", c.hidden_dims}, {"latent_dim", c.latent_dim}};
  }

  std::unique_ptr<train::Objective> make_objective(
      std::unique_ptr<objective::Teacher> teacher) const override {
    std::unique_ptr<objective::AutoencoderObjective> out;
    if (teacher) {
      auto student =
          std::make_unique<objective::AutoencoderDistillation>(model_, std::move(teacher));
      student->alpha = options_.kd_alpha;
      student->latent_weight = options_.kd_latent_weight;
      student->reconstruction_weight = options_.kd_reconstruction_weight;
      out = std::move(student);
    } else {
      out = std::make_unique<objective::AutoencoderObjective>(model_);
    }
    out->feature_weight = options_.feature_weight;
    out->identifier_weight = options_.identifier_weight;
    out->neighbour_weight = options_.neighbour_weight;
    out->kl_weight = options_.kl_weight;
    return out;
  }

 protected:
  void complete(model::VgaeConfig& config, const setup::GraphShape& graphs) const override {
    // Features of labelled graphs are of any size: those that are reconstructed are z-scores.
    if (!graphs.has_ids) config.standardise = true;
  }

 private:
  /// What windows can have and labelled graphs cannot.
  void check_options(const setup::GraphShape& graphs) const {
    setup::require_two_classes("an autoencoder learns one class and tells the other from it",
                               graphs.classes);
    if (options_.id_embedding != "table") setup::refuse_id_embedding(options_.id_embedding);
    for (const auto& [name, weight] : {std::pair{"feature_weight", options_.feature_weight},
                                       {"neighbour_weight", options_.neighbour_weight}}) {
      if (weight > 0) continue;
      throw Error(ExitCode::kUsage,
                  std::string(name) +
                      "=0: the score of a labelled graph is the error of its features and of "
                      "their means over neighbours, so both are trained",
                  "leave it away, or make it small");
    }
  }
};

}  // namespace

StageInfo Autoencoder::info() {
  StageInfo out = setup::training_stage(
      "autoencoder", "Train a graph autoencoder; its reconstruction error scores anomalies.");
  out.inputs = {graphs_of("can, graphs of 2 classes"), {"teacher", "autoencoder", false}};
  out.outputs = {{"model", "model"}, {"autoencoder", "autoencoder"}};
  return out;
}

nlohmann::json Autoencoder::plan(const Options& options, const Request& request) {
  VgaeDetector detector("vgae", options);
  return setup::plan_network(detector, {options, options}, request);
}

nlohmann::json Autoencoder::run(const Options& options, const Request& request, Host& host) {
  VgaeDetector detector("vgae", options);
  return setup::run_network(detector, {options, options}, train::result_options(options), request,
                            host);
}

}  // namespace kdgat::autoencoder
