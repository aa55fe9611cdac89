#include "fields/space/finetune/finetune.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/arrays/random.h"
#include "engine/model/layers/generator_lock.h"
#include "engine/model/model_file.h"
#include "engine/setup/finish.h"
#include "engine/setup/training_stage.h"
#include "engine/train/fit.h"
#include "engine/train/metrics/class_metrics.h"
#include "engine/train/resources.h"
#include "engine/train/scoring.h"
#include "fields/space/model/graph_head.h"
#include "fields/space/model/sgmp_footprint.h"
#include "fields/space/objective/graph_objective.h"
#include "fields/space/setup/space_setup.h"
#include "kdgat/figures.h"

namespace kdgat::finetune {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Needs = space::Needs<graph::Positions, graph::PathCounts, graph::Targets>;

bool is_regression(const FinetuneOptions& o) { return o.task == "regression"; }

/// The file of the pre-trained encoder, of the step before or of encoder_path; empty = none.
fs::path encoder_file(const FinetuneOptions& options, const Request& request) {
  const auto wired = request.inputs.find("encoder");
  const bool is_wired = wired != request.inputs.end() && !wired->second.empty();
  if (is_wired && !options.encoder_path.empty()) {
    throw Error(ExitCode::kUsage,
                "two encoders: that of the step " + wired->second.front().step +
                    ", and encoder_path " + options.encoder_path,
                "leave one out");
  }
  if (is_wired) return wired->second.front().path / "model.safetensors";
  fs::path path = options.encoder_path;
  if (fs::is_directory(path)) {
    for (const char* inside : {"model.safetensors", "gtssl/model.safetensors"}) {
      if (fs::exists(path / inside)) return path / inside;
    }
  }
  return path;
}

space::SgmpConfig config_from(const file::SafetensorsFile& file) {
  const model::ModelHeader header = model::load_header(file);
  if (header.name != "gtssl" || !header.config.contains("encoder")) {
    throw Error(ExitCode::kData, file.path().string() + ": a " + header.name +
                                     ", and not an encoder of the stage gtssl");
  }
  space::SgmpConfig config;
  try {
    header.config.at("encoder").get_to(config);
  } catch (const Error& error) {
    std::vector<Diagnostic> problems = error.diagnostics();
    for (Diagnostic& problem : problems) problem.where = file.path().string();
    throw Error(error.code(), std::move(problems));
  }
  const model::LeastSize least = config.least_size();
  model::require_room(file, least.numbers, least.tensors);
  return config;
}

/// Of the pre-trained file what starts with "encoder.".
void load_encoder(const file::SafetensorsFile& file, space::SgmpEncoder& encoder) {
  const torch::NoGradGuard no_grad;
  for (auto& item : encoder->named_parameters()) {
    const std::string name = "encoder." + item.key();
    const at::Tensor& to = item.value();
    const auto found = file.tensors().find(name);
    if (found == file.tensors().end() || found->second.shape != to.sizes().vec() ||
        found->second.dtype != file::DType::kF32) {
      throw Error(ExitCode::kData, file.path().string() + ": no tensor '" + name +
                                       "' of the shape its configuration says");
    }
    item.value().copy_(model::finite_tensor(file, name));
  }
}

/// Graphs that can be used: with a label, or with a target.
std::vector<int64_t> usable(const FinetuneOptions& options, const train::Data& data,
                            const std::vector<int64_t>& ids) {
  std::vector<int64_t> out;
  for (const int64_t id : ids) {
    const auto g = static_cast<std::size_t>(id);
    const bool has = is_regression(options) ? std::isfinite(data.store.targets()->values[g])
                                            : data.store.y()[g] >= 0;
    if (has) out.push_back(id);
  }
  return out;
}

/// The labelled share of the training graphs, chosen class by class by the seed.
std::vector<int64_t> labelled_share(const FinetuneOptions& options, const train::Data& data,
                                    std::vector<int64_t> ids, int64_t seed) {
  arrays::Random(static_cast<uint64_t>(seed), 0x1abe1).shuffle(ids);
  std::map<int32_t, std::vector<int64_t>> by_class;
  for (const int64_t id : ids) {
    const auto g = static_cast<std::size_t>(id);
    by_class[is_regression(options) ? 0 : data.store.y()[g]].push_back(id);
  }
  std::vector<int64_t> out;
  for (auto& [label, members] : by_class) {
    const auto share = static_cast<int64_t>(
        std::llround(options.label_fraction * static_cast<double>(members.size())));
    const auto count =
        std::min(static_cast<int64_t>(members.size()), std::max(options.least_labels, share));
    out.insert(out.end(), members.begin(), members.begin() + count);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// What is trained, before it is trained.
struct Setup {
  train::Data data;
  train::Parts parts;
  space::SgmpConfig config;  ///< of the encoder
  std::string start;         ///< "pre-trained", "from scratch" or "shape"
  std::unique_ptr<space::GraphObjective> objective;
};

void standardise_target(const train::Data& data, const std::vector<int64_t>& ids,
                        const space::GraphModel& model) {
  std::vector<double> values;
  values.reserve(ids.size());
  for (const int64_t id : ids) {
    values.push_back(data.store.targets()->values[static_cast<std::size_t>(id)]);
  }
  const at::Tensor all = torch::tensor(values, at::kDouble);
  model->target_mean.copy_(all.mean());
  const double deviation = all.std(/*unbiased=*/false).item<double>();
  model->target_deviation.fill_(deviation > 0 ? deviation : 1);
}

Setup set_up(const FinetuneOptions& options, const Request& request, const Host* host) {
  Setup out{Needs::open(request.input("graphs").path), {}, {}, {}, nullptr};
  const graph::GraphStore& store = out.data.store;
  if (options.representation == "shape") store.need<graph::Trees>();
  if (is_regression(options) && store.targets()->count() > 1) {
    throw Error(ExitCode::kData, store.path().string() + ": the graphs have several targets",
                "this stage predicts one number: import the data with one");
  }
  const std::vector<int64_t> train = usable(options, out.data, out.data.part("train"));
  out.parts.train = labelled_share(options, out.data, train, request.seed);
  out.parts.val_loss = out.parts.val_score = usable(options, out.data, out.data.part("val"));
  const auto classes = static_cast<int64_t>(store.targets()->classes.size());
  if (out.parts.train.empty() || (!is_regression(options) && classes < 2)) {
    throw Error(ExitCode::kData,
                is_regression(options) ? "no training graph has a target"
                                       : "a classifier needs training graphs of two classes",
                is_regression(options) ? "data.target_column names the column of the labels"
                                       : "data.labels and data.label_column name them");
  }
  const model::GeneratorLock generator = model::hold_generator();
  train::prepare(options, request);
  space::GraphHeadConfig head;
  static_cast<space::HeadForm&>(head) = options;
  head.classes = is_regression(options) ? 0 : classes;
  space::GraphModel model{nullptr};
  const fs::path file = encoder_file(options, request);
  if (options.representation == "shape") {
    out.start = "shape";
    model = space::GraphModel(head);
  } else if (!file.empty()) {
    out.start = "pre-trained";
    const auto opened = file::SafetensorsFile::open(file);
    if (std::vector<Diagnostic> faults = file::verify_hashes(opened); !faults.empty()) {
      for (Diagnostic& fault : faults) fault.hint = "run the step that made it again";
      throw Error(ExitCode::kData, std::move(faults));
    }
    out.config = config_from(opened);
    if (out.config.node_features != store.node_features()) {
      throw Error(ExitCode::kData,
                  file.string() + ": an encoder of " + std::to_string(out.config.node_features) +
                      " node features, the data has " + std::to_string(store.node_features()));
    }
    model = space::GraphModel(out.config, head);
    load_encoder(opened, model->encoder);
  } else {
    out.start = "from scratch";
    out.config = space::make_sgmp_config(options, store.node_features(),
                                         space::median_edge_length(store, train));
    model = space::GraphModel(out.config, head);
  }
  if (is_regression(options)) standardise_target(out.data, out.parts.train, model);
  model->to(torch::Device(request.device));
  if (out.start == "shape") {
    graph::GraphBatch batch;
    graph::gather(store, out.parts.train, false, batch);
    model->fit_shape(batch);
  } else {
    model->encoder->path_budget = options.path_budget;
  }
  out.objective = std::make_unique<space::GraphObjective>(std::move(model), options.freeze_encoder);
  out.objective->keep_readouts = options.freeze_encoder || out.start == "shape";
  if (host != nullptr) {
    host->log("info", std::to_string(out.parts.train.size()) + " labelled training graphs of " +
                          std::to_string(train.size()) + ", " + out.start);
  }
  return out;
}

json judge(const FinetuneOptions& options, const Setup& setup, const std::vector<int64_t>& ids,
           const std::function<void()>& check) {
  std::vector<float> predicted;
  train::for_batches(
      setup.data.store, ids, false,
      [&](const graph::GraphBatch& batch, std::span<const int64_t>) {
        check();
        const at::Tensor out = setup.objective->predict(batch).contiguous();
        const float* from = out.const_data_ptr<float>();
        predicted.insert(predicted.end(), from, from + out.numel());
      },
      options.batch_size);
  if (is_regression(options)) {
    std::vector<float> target;
    target.reserve(ids.size());
    for (const int64_t id : ids) {
      target.push_back(setup.data.store.targets()->values[static_cast<std::size_t>(id)]);
    }
    return train::regression_metrics(predicted, target);
  }
  json out = train::class_metrics(predicted, setup.data.labels(ids),
                                  setup.objective->model()->head_config().classes);
  out["f1"] = out.at("macro_f1");
  out.erase("macro_f1");
  return out;
}

json facts_of(const FinetuneOptions& options, const std::string& start,
              const space::SgmpConfig& config, const space::GraphModel& module) {
  json out = {{"model", "graph"},
              {"size", "custom"},
              {"task", options.task},
              {"start", start},
              {"parameters", model::count_parameters(*module)}};
  if (start != "shape") {
    out["widths"] = {{"hidden", config.hidden}, {"interactions", config.interactions}};
  }
  return out;
}

memory::Footprint footprint_of(const FinetuneOptions& options, const Setup& setup,
                               const Request& request) {
  const space::GraphModel& model = setup.objective->model();
  space::SgmpStep step;
  step.path_budget = options.path_budget;
  step.batch_graphs = options.batch_size;
  step.frozen = options.freeze_encoder || setup.start == "shape";
  step.is_short = options.is_short();
  step.accumulating = options.accumulates();
  step.kernels = train::planned_kernels(request);
  return space::footprint(model, step, space::path_statistics(setup.data.store.facts()));
}

/// Metrics of every part, "test/..." included, of the best epoch; and a table of them.
void report(const FinetuneOptions& options, const Setup& setup, const Host& host, json& result) {
  const std::vector<std::string> names = is_regression(options)
                                             ? std::vector<std::string>{"mae", "rmse"}
                                             : std::vector<std::string>{"accuracy", "f1", "auc"};
  json columns = {"part", "graphs"}, rows = json::array();
  for (const std::string& name : names) columns.push_back(name);
  const auto check = [&host] {
    if (const ExitCode code = host.cancelled(); code != ExitCode::kOk) {
      throw Error(code, "stopped while the parts were evaluated");
    }
  };
  for (const auto& [part, all] : setup.data.split.parts) {
    const std::vector<int64_t> ids =
        part == "train" ? setup.parts.train : usable(options, setup.data, all);
    if (ids.empty()) continue;
    const json metrics = judge(options, setup, ids, check);
    result["metrics"]["parts"][part] = metrics;
    json row = {part, ids.size()};
    for (const std::string& name : names) row.push_back(metrics.at(name));
    rows.push_back(std::move(row));
  }
  result["figures"] = step_figures(result.at("metrics"));
  result["table"] = {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

}  // namespace

StageInfo Finetune::info() {
  StageInfo out = setup::training_stage(
      "finetune", "Train a head on an encoder of graphs in space: classes of graphs, or a number.");
  out.inputs = {graphs_of("space"), {"encoder", "encoder", false}};
  out.outputs = {{"model", "graph_model"}};
  return out;
}

json Finetune::plan(const Options& options, const Request& request) {
  const json& facts = request.input("graphs").facts;
  if (!facts.contains("node_features")) return json::object();
  Needs::check(facts);
  const bool is_there = !request.input("graphs").path.empty();
  const auto encoder = request.inputs.find("encoder");
  const bool is_awaited = encoder != request.inputs.end() && !encoder->second.empty() &&
                          encoder->second.front().path.empty();
  if (!is_there || is_awaited) return json::object();  // its encoder is not made yet
  const Setup setup = set_up(options, request, nullptr);
  json out = facts_of(options, setup.start, setup.config, setup.objective->model());
  const memory::Footprint counted = footprint_of(options, setup, request);
  out.update(train::planned_memory(options, "none", counted, request, [&] {
    return train::plan_memory(options, *setup.objective, counted, setup.data.store,
                              setup.parts.train, request);
  }));
  return out;
}

json Finetune::run(const Options& options, const Request& request, Host& host) {
  const Setup setup = set_up(options, request, &host);
  train::Fit task;
  task.footprint = footprint_of(options, setup, request);
  task.identity = train::result_options(options);
  task.identity["start"] = setup.start;
  task.identity["encoder_path"] = "";  // what it is, not where it lies
  if (const fs::path file = encoder_file(options, request);
      !file.empty() && setup.start == "pre-trained") {
    task.identity["encoder_path"] = file::SafetensorsFile::open(file).header_hash();
  }
  task.size = setup.start;
  task.judge = [&](const std::vector<int64_t>& ids, const std::function<void()>& check) {
    return judge(options, setup, ids, check);
  };
  task.headline = is_regression(options) ? "rmse" : "accuracy";
  json result =
      train::fit(options, *setup.objective, task, setup.data.store, setup.parts, request, host);
  report(options, setup, host, result);
  const space::GraphModel& model = setup.objective->model();
  json config = {{"task", options.task},
                 {"readout", options.readout},
                 {"head", options.head},
                 {"classes", setup.data.store.targets()->classes}};
  if (setup.start != "shape") config["encoder"] = setup.config;
  setup::finish(request, *model,
                {"graph", std::move(config), train::layout_of(setup.data.store), {}});
  result["facts"] = facts_of(options, setup.start, setup.config, model);
  return result;
}

}  // namespace kdgat::finetune
