#include "engine/setup/network_setup.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "engine/graph/section_facts.h"
#include "engine/memory/meter.h"
#include "engine/model/layers/generator_lock.h"
#include "engine/objective/teacher_cache.h"
#include "engine/setup/finish.h"
#include "engine/setup/labelled_graphs.h"
#include "engine/train/fit.h"
#include "engine/train/probe.h"
#include "engine/train/resources.h"
#include "engine/train/sampling/sampling.h"
#include "engine/train/scoring.h"

namespace kdgat::setup {
namespace {

using nlohmann::json;

/// What is trained on, when the model is made for it.
struct Setup {
  train::Data data;
  train::Parts parts;
};

GraphShape shape_of(const graph::GraphStore& store) {
  GraphShape out;
  out.node_features = store.node_features();
  out.edge_features = store.edge_features();
  const int64_t ids = train::ids_of(store);
  out.has_ids = ids > 0;
  out.num_ids = std::max<int64_t>(1, ids);
  if (train::is_labelled_graphs(store)) {
    out.classes = static_cast<int64_t>(store.targets()->classes.size());
    out.targets = static_cast<int64_t>(store.targets()->names.size());
  }
  return out;
}

/// The same of the facts of a store.
GraphShape shape_of(const json& facts) {
  GraphShape out;
  out.num_ids = facts.at("num_ids");
  out.node_features = facts.value("node_features", out.node_features);
  out.edge_features = facts.value("edge_features", out.edge_features);
  out.has_ids = out.num_ids > 1;
  if (facts.contains(graph::kClassifiedFacts)) out.classes = graph::classes_of(facts);
  out.targets = graph::targets_of(facts);
  return out;
}

Setup set_up(NetworkSetup& detector, const train::TrainOptions& options, const Request& request,
             const Host* host) {
  Setup out{train::open_data(request.input("graphs").path), {}};
  out.parts = detector.choose_parts(out.data, host);
  const model::GeneratorLock generator = model::hold_generator();
  train::prepare(options, request);
  detector.make(shape_of(out.data.store));
  detector.fit_input(out.data, out.parts.train);
  return out;
}

json facts_of(const NetworkSetup& detector) {
  return {{"model", detector.name()},
          {"size", detector.size()},
          {"parameters", model::count_parameters(detector.module())},
          {"num_ids", detector.config().at("num_ids")},
          {"widths", detector.widths()}};
}

std::unique_ptr<train::Objective> objective_on(const NetworkSetup& detector, const Request& request,
                                               std::unique_ptr<objective::Teacher> teacher) {
  std::unique_ptr<train::Objective> out = detector.make_objective(std::move(teacher));
  out->module().to(torch::Device(request.device));
  return out;
}

/// What a student learns from, and what that costs.
struct LoadedTeacher {
  std::unique_ptr<objective::Teacher> teacher;
  std::string hash;    ///< of what it is
  int64_t latent = 0;  ///< width of an autoencoder's latent layer
  int64_t bytes = 0;   ///< that it holds on the device
};

LoadedTeacher load_teacher_for(const NetworkSetup& student, const objective::KdOptions& kd,
                               const Setup& setup, const Request& request, const Host& host) {
  memory::MemoryMeter& meter = memory::meter(torch::Device(request.device));
  const int64_t before = meter.counters().allocated;
  LoadedTeacher out;
  if (auto loaded = objective::load_teacher(objective::teacher_source(kd, request, host),
                                            student.name(), train::layout_of(setup.data.store))) {
    out.hash = loaded->content_hash();
    out.latent = loaded->config().value("latent_dim", int64_t{0});
    out.teacher =
        objective::keep_teacher(std::move(loaded), setup.data.store, setup.parts.with_loss(),
                                objective::teacher_use(kd, request, host));
  }
  out.bytes = meter.counters().allocated - before;
  return out;
}

/// Counted from the shapes of both.
memory::Footprint footprint_with(const NetworkSetup& detector, const LoadedTeacher& teacher,
                                 model::FootprintOptions options) {
  options.teacher_latent = teacher.latent;
  memory::Footprint out = detector.footprint(options);
  if (teacher.bytes > 0) {
    out.alternatives.push_back({"teacher=cache", out});
    out.teacher = teacher.bytes;
  }
  return out;
}

/// Of training on what the sampling leaves of batch_size.
train::TrainOptions training_of(const NetworkOptions& options) {
  train::TrainOptions out = options.training;
  if (options.sampling != nullptr) {
    out.batch_size = train::sampled_batch_size(*options.sampling, out.batch_size);
  }
  return out;
}

/// Null = all graphs in each epoch.
std::unique_ptr<train::Sampler> sampler_of(const NetworkSetup& detector,
                                           const NetworkOptions& options, const Setup& setup,
                                           train::Objective& objective, const Request& request,
                                           const Host& host) {
  if (options.sampling == nullptr) return nullptr;
  const graph::GraphStore& store = setup.data.store;
  const auto score = [&store, &objective, &detector](const std::vector<int64_t>& ids,
                                                     const std::function<void()>& check) {
    return train::score_all(
        store, ids, objective.with_edge_attr(),
        [&](const graph::GraphBatch& batch) { return detector.difficulty(objective, batch); },
        [&](int64_t) { check(); });
  };
  return train::make_sampler(*options.sampling, options.training.max_epochs, setup.data,
                             setup.parts.train, score, request, host);
}

}  // namespace

json plan_network(NetworkSetup& detector, const NetworkOptions& options, const Request& request) {
  if (options.sampling != nullptr) train::check_sampling(*options.sampling, request);
  const Input& graphs = request.input("graphs");
  const bool is_known = graphs.facts.contains("num_ids");
  if (is_known)
    detector.make(shape_of(graphs.facts));  // what it cannot learn, no teacher helps with
  objective::check_teacher(options.kd, request);
  if (!is_known) return json::object();
  const train::TrainOptions training = training_of(options);
  json facts = facts_of(detector);
  const memory::Footprint counted = detector.footprint(objective::footprint_options(
      training, options.kd.use_kd, request.threads, train::planned_kernels(request),
      graphs.facts.value(json::json_pointer("/nodes/max"), int64_t{0})));
  facts.update(train::planned_memory(training, options.kd.teacher_mode(), counted, request, [&] {
    const Setup setup = set_up(detector, training, request, nullptr);
    const auto objective = objective_on(detector, request, nullptr);
    return train::plan_memory(training, *objective, counted, setup.data.store, setup.parts.train,
                              request);
  }));
  return facts;
}

json run_network(NetworkSetup& detector, const NetworkOptions& options, json identity,
                 const Request& request, const Host& host) {
  if (options.sampling != nullptr) train::check_sampling(*options.sampling, request);
  const train::TrainOptions training = training_of(options);
  Setup setup = set_up(detector, training, request, &host);
  LoadedTeacher teacher = load_teacher_for(detector, options.kd, setup, request, host);
  if (!teacher.hash.empty()) identity["teacher_path"] = teacher.hash;  // not where it lies
  const auto objective = objective_on(detector, request, std::move(teacher.teacher));
  const auto sampler = sampler_of(detector, options, setup, *objective, request, host);
  setup.parts.sampler = sampler.get();
  train::Fit task;
  task.footprint = footprint_with(
      detector, teacher,
      objective::footprint_options(
          training, options.kd.use_kd, request.threads, train::planned_kernels(request),
          train::sizes_of(setup.data.store, setup.parts.train).largest.nodes));
  task.identity = std::move(identity);
  task.size = detector.size();
  task.judge = detector.judge(setup.data, *objective);
  task.headline = detector.headline();
  json result =
      train::fit(training, *objective, task, setup.data.store, setup.parts, request, host);
  finish(request, detector.module(),
         {detector.name(), detector.config(), train::layout_of(setup.data.store),
          train::decision_of(result), scoring_stage(setup.data.store)});
  result["facts"] = facts_of(detector);
  return result;
}

}  // namespace kdgat::setup
