#include "fields/space/gtssl/gtssl.h"

#include <utility>

#include "engine/model/layers/generator_lock.h"
#include "engine/model/model_file.h"
#include "engine/setup/finish.h"
#include "engine/setup/training_stage.h"
#include "engine/train/fit.h"
#include "engine/train/resources.h"
#include "fields/space/model/sgmp_footprint.h"
#include "fields/space/model/tree_model.h"
#include "fields/space/objective/tree_objective.h"
#include "fields/space/setup/space_setup.h"

namespace kdgat::gtssl {
namespace {

using Needs = space::Needs<graph::Positions, graph::Trees, graph::PathCounts>;

space::GrowthConfig make_growth(const GtsslOptions& o) {
  space::GrowthConfig c;
  static_cast<space::GrowthForm&>(c) = o;
  return c;
}

nlohmann::json facts_of(const space::SgmpConfig& config, const space::TreeModel& module) {
  return {{"model", "gtssl"},
          {"size", "custom"},
          {"parameters", model::count_parameters(*module->encoder)},
          {"predictor_parameters", model::count_parameters(*module->growth)},
          {"node_features", config.node_features},
          {"widths", {{"hidden", config.hidden}, {"interactions", config.interactions}}}};
}

memory::Footprint counted_of(const GtsslOptions& options, const space::TreeModel& module,
                             const nlohmann::json& graph_facts, const Request& request) {
  space::SgmpStep step;
  step.path_budget = options.path_budget;
  step.batch_graphs = options.batch_size;
  step.is_short = options.is_short();
  step.accumulating = options.accumulates();
  step.kernels = train::planned_kernels(request);
  return space::footprint(module, step, space::path_statistics(graph_facts));
}

/// What is trained, before it is trained.
struct Setup {
  train::Data data;
  train::Parts parts;
  space::SgmpConfig config;
  std::unique_ptr<space::TreeObjective> objective;
};

Setup set_up(const GtsslOptions& options, const Request& request) {
  Setup out{Needs::open(request.input("graphs").path), {}, {}, nullptr};
  out.parts.train = out.data.part("train");
  out.parts.val_loss = out.data.part("val");
  if (options.train_on_healthy_only) {
    out.parts.train = out.data.with_label(out.parts.train, 0);
    out.parts.val_loss = out.data.with_label(out.parts.val_loss, 0);
  }
  if (out.parts.train.empty()) {
    throw Error(ExitCode::kData, "there are no graphs to train on",
                options.train_on_healthy_only ? "train_on_healthy_only wants graphs of class 0"
                                              : "kdgat data inspect shows the parts");
  }
  const model::GeneratorLock generator = model::hold_generator();
  train::prepare(options, request);
  out.config = space::make_sgmp_config(options, out.data.store.node_features(),
                                       space::median_edge_length(out.data.store, out.parts.train));
  space::TreeModel model(out.config, make_growth(options));
  model->to(torch::Device(request.device));
  model->encoder->path_budget = options.path_budget;
  out.objective = std::make_unique<space::TreeObjective>(std::move(model));
  out.objective->options = options;
  return out;
}

memory::Footprint footprint_of(const GtsslOptions& options, const Setup& setup,
                               const Request& request) {
  return counted_of(options, setup.objective->model(), setup.data.store.facts(), request);
}

}  // namespace

StageInfo Gtssl::info() {
  StageInfo out = setup::training_stage(
      "gtssl", "Pre-train an encoder of geometric trees: partial order and growth of subtrees.");
  out.inputs = {graphs_of("space")};
  out.outputs = {{"model", "encoder"}};
  out.refused.push_back({"readout",
                         {"add", "sum", "mean"},
                         "pre-training reads states of nodes; finetune has a readout"});
  return out;
}

nlohmann::json Gtssl::plan(const Options& options, const Request& request) {
  const nlohmann::json& facts = request.input("graphs").facts;
  if (!facts.contains("node_features")) return nlohmann::json::object();
  Needs::check(facts);
  const space::SgmpConfig config = space::make_sgmp_config(options, facts.at("node_features"), 1);
  const space::TreeModel model(config, make_growth(options));
  nlohmann::json out = facts_of(config, model);
  const memory::Footprint counted = counted_of(options, model, facts, request);
  out.update(train::planned_memory(options, "none", counted, request, [&] {
    const Setup setup = set_up(options, request);
    return train::plan_memory(options, *setup.objective, footprint_of(options, setup, request),
                              setup.data.store, setup.parts.train, request);
  }));
  return out;
}

nlohmann::json Gtssl::run(const Options& options, const Request& request, Host& host) {
  const Setup setup = set_up(options, request);
  train::Fit task;
  task.footprint = footprint_of(options, setup, request);
  task.identity = train::result_options(options);
  task.size = "custom";
  nlohmann::json result =
      train::fit(options, *setup.objective, task, setup.data.store, setup.parts, request, host);
  const space::TreeModel& model = setup.objective->model();
  nlohmann::json config = {{"encoder", setup.config},
                           {"num_rbf_centers", options.num_rbf_centers},
                           {"rbf_gamma", options.rbf_gamma}};
  setup::finish(request, *model,
                {"gtssl", std::move(config), train::layout_of(setup.data.store), {}});
  result["facts"] = facts_of(setup.config, model);
  return result;
}

}  // namespace kdgat::gtssl
