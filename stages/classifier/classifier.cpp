#include "classifier/classifier.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "objective/distillation.h"
#include "setup/detector.h"
#include "setup/training_stage.h"
#include "train/sampling/sampling.h"

namespace kdgat::classifier {
namespace {

class GatDetector
    : public setup::DetectorOf<ClassifierOptions, model::GatConfig, model::GraphClassifier> {
 public:
  using DetectorOf::DetectorOf;

  train::Parts choose_parts(const train::Data& data, const Host* host) const override {
    const std::vector<int64_t> train = data.part("train"), val = data.part("val");
    train::Parts parts;
    parts.train = train::labelled_of_both_classes(data, train);
    if (parts.train.empty()) {
      const auto labelled = [&](int label) {
        return std::to_string(data.with_label(train, label).size());
      };
      throw Error(
          ExitCode::kData,
          "a classifier needs training graphs labelled benign and attack; of " +
              std::to_string(train.size()) + ", " + labelled(0) + " are benign and " + labelled(1) +
              " attack",
          "logs without attacks: kdgat fit LOGS makes a detector, or train the autoencoder alone");
    }
    if (parts.train.size() < train.size() && host != nullptr) {
      host->log("warning", std::to_string(train.size() - parts.train.size()) +
                               " training graphs without a label are left out");
    }
    parts.val_loss = data.with_label(val, 0);
    const std::vector<int64_t> attacks = data.with_label(val, 1);
    parts.val_loss.insert(parts.val_loss.end(), attacks.begin(), attacks.end());
    std::sort(parts.val_loss.begin(), parts.val_loss.end());
    parts.val_score = train::labelled_of_both_classes(data, val);
    return parts;
  }

  void fit_input(const train::Data& data, const std::vector<int64_t>& train) override {
    model_->input->fit(data.store, data.with_label(train, 0));
  }

  nlohmann::json widths() const override {
    const model::GatConfig& c = model_->config();
    return {{"hidden", c.hidden}, {"heads", c.heads}, {"layers", c.layers}};
  }

  std::unique_ptr<train::Objective> make_objective(
      std::unique_ptr<objective::Teacher> teacher) const override {
    const objective::ClassificationLoss criterion{options_.loss == "focal", options_.focal_gamma,
                                                  options_.focal_alpha};
    if (!teacher) {
      auto out = std::make_unique<objective::ClassifierObjective>(model_);
      out->criterion = criterion;
      return out;
    }
    auto out = std::make_unique<objective::ClassifierDistillation>(model_, std::move(teacher));
    out->temperature = options_.temperature;
    out->alpha = options_.kd_alpha;
    out->criterion = criterion;
    return out;
  }
};

}  // namespace

StageInfo Classifier::info() {
  StageInfo out = setup::training_stage(
      "classifier", "Train a graph-attention classifier of benign against attack windows.");
  out.inputs = {graphs_of("can"), train::difficulty_port(), {"teacher", "classifier", false}};
  out.outputs = {{"model", "model"}, {"classifier", "classifier"}};
  out.speaks = 1;
  out.published_names = {"normal"};
  return out;
}

nlohmann::json Classifier::plan(const Options& options, const Request& request) {
  GatDetector detector("gat", options);
  return setup::plan_detector(detector, {options, options, &options}, request);
}

nlohmann::json Classifier::run(const Options& options, const Request& request, Host& host) {
  GatDetector detector("gat", options);
  return setup::run_detector(detector, {options, options, &options}, train::result_options(options),
                             request, host);
}

}  // namespace kdgat::classifier
