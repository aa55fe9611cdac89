#include "classifier/classifier.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "classifier/regressor.h"
#include "engine/graph/section_facts.h"
#include "engine/objective/distillation.h"
#include "engine/setup/labelled_graphs.h"
#include "engine/setup/network_setup.h"
#include "engine/setup/training_stage.h"
#include "engine/train/metrics/class_metrics.h"
#include "engine/train/sampling/sampling.h"
#include "engine/train/scoring.h"

namespace kdgat::classifier {
namespace {

class GatDetector
    : public setup::NetworkSetupOf<ClassifierOptions, model::GatConfig, model::GraphClassifier> {
 public:
  using NetworkSetupOf::NetworkSetupOf;

  void make(const setup::GraphShape& graphs) override {
    if (!graphs.has_ids) check_options(graphs);
    if (options_.monotone && (!options_.can_be_monotone() || graphs.classes > 2)) {
      throw Error(ExitCode::kUsage,
                  "monotone=true needs conv gin or none, norm none or batch, jk cat and two "
                  "classes",
                  "leave it out, or use conv=gin norm=batch");
    }
    NetworkSetupOf::make(graphs);
  }

  train::Parts choose_parts(const train::Data& data, const Host* host) const override {
    if (train::is_labelled_graphs(data.store)) {
      if (host != nullptr) say_what_is_dropped(options_, data.store.edge_features(), *host);
      return parts_of_classes(data, host);
    }
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
    const bool has_classes = train::is_labelled_graphs(data.store);
    fit_to(*model_, data.store, has_classes ? train : data.with_label(train, 0));
    class_weight_ = at::Tensor();
    if (options_.class_weights != "balanced") return;
    at::Tensor graphs_C = at::zeros({model_->config().classes}, at::kFloat);
    for (const int64_t label : data.labels(train)) graphs_C[label] += 1;
    const double expected =
        static_cast<double>(train.size()) / static_cast<double>(graphs_C.numel());
    class_weight_ = expected / graphs_C.clamp_min(1);
  }

  nlohmann::json widths() const override { return widths_of(model_->config()); }

  std::unique_ptr<train::Objective> make_objective(
      std::unique_ptr<objective::Teacher> teacher) const override {
    const objective::ClassificationLoss criterion{options_.loss, options_.focal_gamma,
                                                  options_.focal_alpha, class_weight_};
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

  at::Tensor difficulty(train::Objective& objective,
                        const graph::GraphBatch& batch) const override {
    if (model_->config().has_ids) return objective.score(batch);
    return dynamic_cast<objective::ClassifierObjective&>(objective).difficulty(batch);
  }

  train::Judge judge(const train::Data& data, train::Objective& objective) const override {
    if (!train::is_labelled_graphs(data.store)) return {};
    auto& classifier = dynamic_cast<objective::ClassifierObjective&>(objective);
    return [&data, &classifier](const std::vector<int64_t>& ids,
                                const std::function<void()>& check) {
      const std::vector<float> probabilities = train::score_all(
          data.store, ids, classifier.with_edge_attr(), [&](const graph::GraphBatch& batch) {
            check();
            return classifier.probabilities(batch);
          });
      const int64_t classes = classifier.model()->config().classes;
      nlohmann::json out = train::class_report(probabilities, data.labels(ids), classes).at("core");
      out["f1"] = out.at("macro_f1");
      out.erase("macro_f1");
      out.erase("n_samples");
      return out;
    };
  }

 protected:
  void complete(model::GatConfig& config, const setup::GraphShape& graphs) const override {
    config.classes = graphs.classes;
    if (!graphs.has_ids) config.edge_features = graphs.edge_features;
  }

 private:
  /// What windows can have and labelled graphs cannot.
  void check_options(const setup::GraphShape& graphs) const {
    const auto refuse = [](const std::string& what, const std::string& hint) {
      throw Error(ExitCode::kUsage, what, hint);
    };
    if (graphs.classes < 2) {
      refuse(
          "a classifier needs graphs of two classes, these have " + std::to_string(graphs.classes),
          "kdgat data inspect shows the classes");
    }
    require_edge_features(options_, graphs.edge_features);
    if (options_.id_embedding != "table") setup::refuse_id_embedding(options_.id_embedding);
    if (options_.focal_alpha > 0 && graphs.classes > 2) {
      refuse("focal_alpha weighs two classes, these are " + std::to_string(graphs.classes),
             "use class_weights=balanced");
    }
  }

  static train::Parts parts_of_classes(const train::Data& data, const Host* host) {
    const std::vector<int64_t> train = data.part("train");
    train::Parts out;
    out.train = train::labelled(data, train);
    const std::vector<int64_t> labels = data.labels(out.train);
    if (std::set<int64_t>(labels.begin(), labels.end()).size() < 2) {
      throw Error(ExitCode::kData, "a classifier needs training graphs of two classes",
                  "kdgat data inspect shows the parts and their classes");
    }
    if (out.train.size() < train.size() && host != nullptr) {
      host->log("warning", std::to_string(train.size() - out.train.size()) +
                               " training graphs without a label are left out");
    }
    out.val_loss = out.val_score = train::labelled(data, data.part("val"));
    return out;
  }

  at::Tensor class_weight_;  ///< [C], of the training graphs
};

}  // namespace

StageInfo Classifier::info() {
  StageInfo out = setup::training_stage(
      "classifier",
      "Train a graph network that classifies windows, benign or attack, or labelled graphs.");
  out.inputs = {
      graphs_of("can, graphs"), train::difficulty_port(), {"teacher", "classifier", false}};
  out.outputs = {{"model", "model"}, {"classifier", "classifier"}};
  out.speaks = 1;
  out.published_names = {"normal"};
  return out;
}

namespace {

/// What learns the graphs of a request: classes, or numbers.
std::unique_ptr<setup::NetworkSetup> setup_for(const ClassifierOptions& options,
                                               const Request& request) {
  if (graph::targets_of(request.input("graphs").facts) > 0) {
    return std::make_unique<Regressor>("gat", options);
  }
  return std::make_unique<GatDetector>("gat", options);
}

}  // namespace

nlohmann::json Classifier::plan(const Options& options, const Request& request) {
  return setup::plan_network(*setup_for(options, request), {options, options, &options}, request);
}

nlohmann::json Classifier::run(const Options& options, const Request& request, Host& host) {
  return setup::run_network(*setup_for(options, request), {options, options, &options},
                            train::result_options(options), request, host);
}

}  // namespace kdgat::classifier
