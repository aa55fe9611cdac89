#include "autoencoder/autoencoder.h"

#include <string>
#include <utility>

#include "memory/meter.h"
#include "model/detector/footprint.h"
#include "model/layers/generator_lock.h"
#include "model/model_file.h"
#include "objective/distillation.h"
#include "objective/teacher_cache.h"
#include "train/fit.h"

namespace kdgat::autoencoder {
namespace {

model::VgaeConfig make_config(const AutoencoderOptions& o, int64_t num_ids, int64_t features) {
  model::VgaeConfig c;
  c.num_ids = num_ids;
  c.node_features = features;
  static_cast<model::VgaeSizes&>(c) = o;
  static_cast<model::VgaeForm&>(c) = o;
  return c;
}

/// By what makes its parameters: any dropout.
std::string size_of(model::VgaeSizes sizes) {
  const auto is = [&sizes](const model::VgaeSizes& known) {
    sizes.dropout = known.dropout;
    return sizes == known;
  };
  if (is(model::vgae_student())) return "student";
  if (is(model::vgae_teacher())) return "teacher";
  return "custom";
}

nlohmann::json facts_of(const model::VgaeConfig& config, const torch::nn::Module& module) {
  int64_t parameters = 0;
  for (const torch::Tensor& p : module.parameters()) parameters += p.numel();
  return {{"model", "vgae"},
          {"size", size_of(config)},
          {"parameters", parameters},
          {"num_ids", config.num_ids},
          {"widths", {{"hidden_dims", config.hidden_dims}, {"latent_dim", config.latent_dim}}}};
}

train::Parts choose_parts(const AutoencoderOptions& options, const train::Data& data,
                          const Host* host) {
  const std::vector<int64_t> train = data.part("train"), val = data.part("val");
  train::Parts parts;
  if (options.train_on == "all") {
    parts = {train, val, {}};
  } else {
    parts = {data.with_label(train, 0), data.with_label(val, 0), {}};
    if (parts.train.empty() && !train.empty()) {
      throw Error(ExitCode::kData, "no training graph is labelled benign",
                  "logs without labels: data.assume=benign, or train_on=all");
    }
    const std::size_t unlabelled = data.with_label(train, -1).size();
    if (unlabelled > 0 && host != nullptr) {
      host->log("warning", std::to_string(unlabelled) +
                               " training graphs without a label are left out (train_on=benign)");
    }
  }
  parts.val_score = train::labelled_of_both_classes(data, val);
  return parts;
}

/// Of the task alone, or distilling from `teacher`.
std::unique_ptr<objective::AutoencoderObjective> make_objective(
    const AutoencoderOptions& options, const model::GraphAutoencoder& student,
    std::unique_ptr<objective::Teacher> teacher) {
  std::unique_ptr<objective::AutoencoderObjective> out;
  if (teacher) {
    auto distillation =
        std::make_unique<objective::AutoencoderDistillation>(student, std::move(teacher));
    distillation->alpha = options.kd_alpha;
    distillation->latent_weight = options.kd_latent_weight;
    distillation->reconstruction_weight = options.kd_reconstruction_weight;
    out = std::move(distillation);
  } else {
    out = std::make_unique<objective::AutoencoderObjective>(student);
  }
  out->feature_weight = options.feature_weight;
  out->identifier_weight = options.identifier_weight;
  out->neighbour_weight = options.neighbour_weight;
  out->kl_weight = options.kl_weight;
  return out;
}

/// What is trained, before it is trained.
struct Setup {
  train::Data data;
  train::Parts parts;
  model::VgaeConfig config;
  model::GraphAutoencoder model{nullptr};
  int64_t teacher_latent = 0;  ///< width, of the teacher if there is one
};

Setup set_up(const AutoencoderOptions& options, const Request& request, const Host* host) {
  Setup out{train::open_data(request.input("graphs").path), {}, {}};
  out.parts = choose_parts(options, out.data, host);
  const model::GeneratorLock generator = model::hold_generator();
  train::prepare(options, request);
  out.config = make_config(options, out.data.store.need<graph::Ids>().count(),
                           out.data.store.node_features());
  out.model = model::make_model(out.config);
  const std::vector<int64_t> benign = out.data.with_label(out.parts.train, 0);
  out.model->input->fit(out.data.store, benign.empty() ? out.parts.train : benign);
  out.model->checkpointing = options.gradient_checkpointing;
  return out;
}

train::Learner learner_of(const AutoencoderOptions& options, const Setup& setup,
                          objective::AutoencoderObjective& objective, const Request& request) {
  objective.module().to(torch::Device(request.device));
  model::FootprintOptions o = model::footprint_options(options, request.threads);
  o.teacher_latent = setup.teacher_latent;
  train::Learner out = train::make_learner(objective, request.seed,
                                           model::footprint_with_alternatives(setup.config, o),
                                           size_of(setup.config));
  out.parts_differ = setup.config.norm == "batch";
  return out;
}

}  // namespace

StageInfo Autoencoder::info() {
  StageInfo out;
  out.name = "autoencoder";
  out.summary = "Train a graph autoencoder; its reconstruction error scores anomalies.";
  out.inputs = {graphs_of("can"), {"teacher", "autoencoder", false}};
  out.outputs = {{"model", "model"}, {"autoencoder", "autoencoder"}};
  out.refused = train::refused_training_options();
  out.trains_in_ranks = true;
  return out;
}

nlohmann::json Autoencoder::plan(const Options& options, const Request& request) {
  train::check_teacher(options, request);
  const Input& graphs = request.input("graphs");
  if (!graphs.facts.contains("num_ids")) return nlohmann::json::object();
  const model::VgaeConfig config =
      make_config(options, graphs.facts.at("num_ids"), graphs.facts.value("node_features", 11));
  const model::GraphAutoencoder model = model::make_model(config);
  nlohmann::json facts = facts_of(config, *model);
  const memory::Footprint counted = model::footprint_with_alternatives(
      config, model::footprint_options(options, request.threads));
  facts.update(train::planned_memory(options, options, counted, request, [&] {
    const Setup setup = set_up(options, request, nullptr);
    const auto objective = make_objective(options, setup.model, nullptr);
    return train::plan_memory(options, learner_of(options, setup, *objective, request),
                              setup.data.store, setup.parts.train, request);
  }));
  return facts;
}

nlohmann::json Autoencoder::run(const Options& options, const Request& request, Host& host) {
  Setup setup = set_up(options, request, &host);
  const graph::GraphStore& store = setup.data.store;
  nlohmann::json identity = train::result_options(options);
  memory::MemoryMeter& meter = memory::meter(torch::Device(request.device));
  const int64_t before = meter.counters().allocated;
  std::unique_ptr<objective::Teacher> teacher;
  if (auto loaded = objective::load_teacher(train::teacher_source(options, request, host), "vgae",
                                            train::layout_of(store))) {
    identity["teacher_path"] = loaded->content_hash();  // what it is, not where it lies
    setup.teacher_latent = loaded->config().value("latent_dim", int64_t{0});
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
  nlohmann::json result =
      train::fit(options, learner, setup.data, setup.parts, identity, request, host);
  model::save_model(request.run_dir / "model.safetensors", *setup.model,
                    {"vgae", setup.config, train::layout_of(store), train::decision_of(result)});
  train::clear_checkpoint(request);
  objective::clear_teacher_cache(request.run_dir);
  result["facts"] = facts_of(setup.config, *setup.model);
  return result;
}

}  // namespace kdgat::autoencoder
