#include "classifier/classifier.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "memory/meter.h"
#include "model/detector/footprint.h"
#include "model/layers/generator_lock.h"
#include "model/model_file.h"
#include "objective/distillation.h"
#include "objective/teacher_cache.h"
#include "train/fit.h"
#include "train/sampling/sampling.h"

namespace kdgat::classifier {
namespace {

model::GatConfig make_config(const ClassifierOptions& o, int64_t num_ids, int64_t features) {
  model::GatConfig c;
  c.num_ids = num_ids;
  c.node_features = features;
  static_cast<model::GatSizes&>(c) = o;
  static_cast<model::GatForm&>(c) = o;
  return c;
}

/// The published teacher has two or three fully connected layers, by where it is told.
std::string size_of(model::GatSizes sizes) {
  const auto is = [&sizes](const model::GatSizes& known) {
    sizes.fc_layers = known.fc_layers;
    sizes.dropout = known.dropout;
    return sizes == known;
  };
  if (is(model::gat_student())) return "student";
  if (is(model::gat_teacher())) return "teacher";
  return "custom";
}

nlohmann::json facts_of(const model::GatConfig& config, const torch::nn::Module& module) {
  int64_t parameters = 0;
  for (const torch::Tensor& p : module.parameters()) parameters += p.numel();
  return {
      {"model", "gat"},
      {"size", size_of(config)},
      {"parameters", parameters},
      {"num_ids", config.num_ids},
      {"widths", {{"hidden", config.hidden}, {"heads", config.heads}, {"layers", config.layers}}}};
}

train::Parts choose_parts(const train::Data& data, const Host* host) {
  const std::vector<int64_t> train = data.part("train"), val = data.part("val");
  train::Parts parts;
  parts.train = train::labelled_of_both_classes(data, train);
  if (parts.train.empty()) {
    throw Error(ExitCode::kData,
                "a classifier needs training graphs labelled benign and attack; of " +
                    std::to_string(train.size()) + ", " +
                    std::to_string(data.with_label(train, 0).size()) + " are benign and " +
                    std::to_string(data.with_label(train, 1).size()) + " attack",
                "logs without attacks: train the autoencoder alone");
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

/// Of the task alone, or distilling from `teacher`.
std::unique_ptr<objective::ClassifierObjective> make_objective(
    const ClassifierOptions& options, const model::GraphClassifier& student,
    std::unique_ptr<objective::Teacher> teacher) {
  std::unique_ptr<objective::ClassifierObjective> out;
  if (teacher) {
    auto distillation =
        std::make_unique<objective::ClassifierDistillation>(student, std::move(teacher));
    distillation->temperature = options.temperature;
    distillation->alpha = options.kd_alpha;
    out = std::move(distillation);
  } else {
    out = std::make_unique<objective::ClassifierObjective>(student);
  }
  out->criterion = {options.loss == "focal", options.focal_gamma, options.focal_alpha};
  return out;
}

/// What is trained, before it is trained.
struct Setup {
  train::Data data;
  train::Parts parts;
  model::GatConfig config;
  model::GraphClassifier model{nullptr};
};

Setup set_up(const ClassifierOptions& options, const Request& request, const Host* host) {
  Setup out{train::open_data(request.input("graphs").path), {}, {}};
  out.parts = choose_parts(out.data, host);
  const model::GeneratorLock generator = model::hold_generator();
  train::prepare(options, request);
  out.config = make_config(options, out.data.store.num_ids(), out.data.store.node_features());
  out.model = model::make_model(out.config);
  out.model->input->fit(out.data.store, out.data.with_label(out.parts.train, 0));
  out.model->checkpointing = options.gradient_checkpointing;
  return out;
}

train::Learner learner_of(const ClassifierOptions& options, const Setup& setup,
                          objective::ClassifierObjective& objective, const Request& request) {
  objective.module().to(torch::Device(request.device));
  const model::FootprintOptions o = model::footprint_options(options, request.threads);
  train::Learner out = train::make_learner(objective, request.seed,
                                           model::footprint_with_alternatives(setup.config, o),
                                           size_of(setup.config));
  out.threshold = 0.5;
  return out;
}

/// Of training on what the sampling leaves of batch_size.
train::TrainOptions training_of(const ClassifierOptions& options) {
  train::TrainOptions out = options;
  out.batch_size = train::sampled_batch_size(options, options.batch_size);
  return out;
}

}  // namespace

StageInfo Classifier::info() {
  StageInfo out;
  out.name = "classifier";
  out.summary = "Train a graph-attention classifier of benign against attack windows.";
  out.inputs = {{"graphs", "graphs"}, train::difficulty_port(), {"teacher", "classifier", false}};
  out.outputs = {{"model", "model"}, {"classifier", "classifier"}};
  out.speaks = 1;
  out.published_names = {"normal"};
  out.refused = train::refused_training_options();
  out.trains_in_ranks = true;
  return out;
}

nlohmann::json Classifier::plan(const Options& options, const Request& request) {
  train::check_sampling(options, request);
  train::check_teacher(options, request);
  const Input& graphs = request.input("graphs");
  if (!graphs.facts.contains("num_ids")) return nlohmann::json::object();
  const model::GatConfig config =
      make_config(options, graphs.facts.at("num_ids"), graphs.facts.value("node_features", 11));
  const model::GraphClassifier model = model::make_model(config);
  nlohmann::json facts = facts_of(config, *model);
  const train::TrainOptions training = training_of(options);
  const memory::Footprint counted = model::footprint_with_alternatives(
      config, model::footprint_options(options, request.threads));
  facts.update(train::planned_memory(training, options, counted, request, [&] {
    const Setup setup = set_up(options, request, nullptr);
    const auto objective = make_objective(options, setup.model, nullptr);
    return train::plan_memory(training, learner_of(options, setup, *objective, request),
                              setup.data.store, setup.parts.train, request);
  }));
  return facts;
}

nlohmann::json Classifier::run(const Options& options, const Request& request, Host& host) {
  train::check_sampling(options, request);
  Setup setup = set_up(options, request, &host);
  const graph::GraphStore& store = setup.data.store;
  nlohmann::json identity = train::result_options(options);
  memory::MemoryMeter& meter = memory::meter(torch::Device(request.device));
  const int64_t before = meter.counters().allocated;
  std::unique_ptr<objective::Teacher> teacher;
  if (auto loaded = objective::load_teacher(train::teacher_source(options, request, host), "gat",
                                            train::layout_of(store))) {
    identity["teacher_path"] = loaded->content_hash();  // what it is, not where it lies
    teacher = objective::keep_teacher(std::move(loaded), store, setup.parts.with_loss(),
                                      objective::teacher_use(options, request, host));
  }
  const int64_t teacher_bytes = meter.counters().allocated - before;
  const auto objective = make_objective(options, setup.model, std::move(teacher));
  train::Learner learner = learner_of(options, setup, *objective, request);
  if (teacher_bytes > 0) {
    learner.footprint.alternatives.push_back({"teacher=cache", learner.footprint});
    learner.footprint.teacher = teacher_bytes;
  }
  const std::unique_ptr<train::Sampler> sampler = train::make_sampler(
      options, options.max_epochs, setup.data, setup.parts.train,
      [&](const std::vector<int64_t>& ids, const std::function<void()>& check) {
        return train::score_all(store, ids, learner.with_edge_attr, learner.score,
                                [&](int64_t) { check(); });
      },
      request, host);
  setup.parts.sampler = sampler.get();
  nlohmann::json result =
      train::fit(training_of(options), learner, setup.data, setup.parts, identity, request, host);
  model::save_model(request.run_dir / "model.safetensors", *setup.model,
                    {"gat", setup.config, train::layout_of(store), train::decision_of(result)});
  train::clear_checkpoint(request);
  objective::clear_teacher_cache(request.run_dir);
  result["facts"] = facts_of(setup.config, *setup.model);
  return result;
}

}  // namespace kdgat::classifier
namespace kdgat {
int probe_of_build = 728632;
}
