// The stages that train a detector on windows, alone or from a teacher: what they do alike. What is
// particular to one, its stage says by a NetworkSetup.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/objective/footprint.h"
#include "engine/objective/kd_options.h"
#include "engine/objective/teacher.h"
#include "engine/train/data_set.h"
#include "engine/train/objective.h"
#include "engine/train/sampling/sampling_options.h"
#include "engine/train/train_options.h"
#include "engine/train/validation.h"
#include "kdgat/stage.h"

namespace kdgat::setup {

/// What a model must know of the graphs that it is made for.
struct GraphShape {
  int64_t num_ids = 0;
  int64_t node_features = 11;
  int64_t edge_features = 11;
  int64_t classes = 2;
  int64_t targets = 0;  ///< numbers to be predicted; then there are no classes
  bool has_ids = true;  ///< the first feature of a node names its identifier
};

/// One model and its objective, of the options of its stage. What stands below make() is of
/// the model made last.
class NetworkSetup {
 public:
  virtual ~NetworkSetup() = default;

  virtual const char* name() const = 0;  ///< of the model: "vgae", "gat"
  /// Graphs to train on and to validate with. Without a host nobody is told what is left out.
  virtual train::Parts choose_parts(const train::Data& data, const Host* host) const = 0;
  /// With first weights. Throws Error(kUsage) for options that do not fit such graphs.
  virtual void make(const GraphShape& graphs) = 0;

  /// Fits the scale of its input to the graphs `train`.
  virtual void fit_input(const train::Data& data, const std::vector<int64_t>& train) = 0;
  virtual const torch::nn::Module& module() const = 0;
  virtual nlohmann::json config() const = 0;  ///< "num_ids" among it
  virtual nlohmann::json widths() const = 0;  ///< by name
  /// "student", "teacher" or "custom"
  virtual std::string size() const = 0;
  virtual memory::Footprint footprint(const model::FootprintOptions& options) const = 0;
  /// Of the task alone, or distilling from `teacher`.
  virtual std::unique_ptr<train::Objective> make_objective(
      std::unique_ptr<objective::Teacher> teacher) const = 0;
  /// How hard graphs are for the model in training, for a curriculum that asks it: [G], float on
  /// the CPU.
  virtual at::Tensor difficulty(train::Objective& objective, const graph::GraphBatch& batch) const {
    return objective.score(batch);
  }
  /// Of validation graphs; empty where scores and a threshold say enough. `data` and `objective`
  /// outlive it.
  virtual train::Judge judge(const train::Data& data, train::Objective& objective) const {
    static_cast<void>(data);
    static_cast<void>(objective);
    return {};
  }
  /// Of what judge() says, the number that is shown after each epoch.
  virtual std::string headline() const { return "accuracy"; }
};

/// As far as the types of options, model and its configuration say it.
template <class Options, class Config, class Model>
class NetworkSetupOf : public NetworkSetup {
 public:
  /// `options` outlive it; they have what Config has but for the graphs' sizes.
  NetworkSetupOf(const char* name, const Options& options) : options_(options), name_(name) {}

  const char* name() const override { return name_; }
  void make(const GraphShape& graphs) override {
    Config config{options_, options_};
    config.num_ids = graphs.num_ids;
    config.node_features = graphs.node_features;
    config.has_ids = graphs.has_ids;
    complete(config, graphs);
    model_ = make_model(config);  // the one that stands beside Config
    model_->checkpointing = options_.gradient_checkpointing;
  }
  const torch::nn::Module& module() const override { return *model_; }
  nlohmann::json config() const override { return model_->config(); }
  std::string size() const override { return model::size_name(model_->config()); }
  memory::Footprint footprint(const model::FootprintOptions& options) const override {
    return objective::footprint(model_, options);
  }

 protected:
  /// What else of the configuration the graphs decide.
  virtual void complete(Config& config, const GraphShape& graphs) const = 0;

  const Options& options_;
  Model model_{nullptr};

 private:
  const char* name_;
};

/// What such stages have among their options.
struct NetworkOptions {
  const train::TrainOptions& training;
  const objective::KdOptions& kd;
  const train::SamplingOptions* sampling = nullptr;  ///< null = all graphs in each epoch
};

/// What the stage answers to plan(): facts of the model to come and a plan of its memory; empty
/// while the data is not imported.
nlohmann::json plan_network(NetworkSetup& detector, const NetworkOptions& options,
                            const Request& request);

/// What the stage does to run(): trains, continuing from a checkpoint there, and leaves
/// model.safetensors in request.run_dir. `identity`: train::result_options() of the stage.
nlohmann::json run_network(NetworkSetup& detector, const NetworkOptions& options,
                           nlohmann::json identity, const Request& request, const Host& host);

}  // namespace kdgat::setup
