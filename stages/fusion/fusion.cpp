#include "fusion/fusion.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/graph/section_facts.h"
#include "engine/model/layers/generator_lock.h"
#include "engine/model/model_file.h"
#include "engine/objective/fusion_scorer.h"
#include "engine/objective/fusion_state.h"
#include "engine/objective/load_scorer.h"
#include "engine/setup/labelled_graphs.h"
#include "engine/setup/trained_model.h"
#include "engine/train/data_set.h"
#include "engine/train/metrics/metrics.h"
#include "engine/train/named_tensors.h"
#include "engine/train/scoring.h"
#include "fusion/channel.h"
#include "fusion/learners.h"
#include "kdgat/atomic_file.h"
#include "kdgat/figures.h"
#include "kdgat/text.h"

namespace kdgat::fusion {
namespace {

using nlohmann::json;

constexpr double kThreshold = 0.5;

/// What a fusion must know of the graphs that it is made for.
struct GraphShape {
  int64_t num_ids = 1;
  int64_t features = 11;
  bool has_ids = true;  ///< of nodes
};

model::FusionConfig make_config(const FusionOptions& o, const GraphShape& graphs) {
  model::FusionConfig c;
  c.num_ids = graphs.num_ids;
  c.node_features = graphs.features;
  c.has_ids = graphs.has_ids;
  c.method = o.method;
  c.hidden = o.method == "dqn" ? o.dqn_hidden : o.mlp_hidden;
  c.layers = o.method == "dqn" ? o.dqn_layers : o.mlp_layers;
  c.alpha_steps = o.alpha_steps;
  return c;
}

json facts_of(const model::FusionConfig& config, const torch::nn::Module& net) {
  const int64_t parameters = model::count_parameters(net);
  json out = {{"model", "fusion"},
              {"method", config.method},
              {"parameters", parameters},
              {"num_ids", config.num_ids}};
  if (parameters > 0) out["widths"] = {{"hidden", config.hidden}, {"layers", config.layers}};
  return out;
}

/// Of labelled graphs: there are two classes, and no detector judges them.
void check_classes(int64_t classes, const Request& request) {
  setup::require_two_classes("a fusion decides between two classes, with an autoencoder of one",
                             classes);
  const auto given = request.inputs.find("detector");
  if (given == request.inputs.end() || given->second.empty()) return;
  throw Error(ExitCode::kUsage, "a detector judges frames of logs, and these are labelled graphs",
              "leave detector away");
}

void check_cancelled(const Host& host, const std::string& where) {
  const ExitCode code = host.cancelled();
  if (code != ExitCode::kOk) {
    throw Error(code, "stopped " + where, "a fusion keeps no checkpoint: it starts again");
  }
}

/// The file of an input, made for the data at hand.
std::filesystem::path file_of(const Input& input, const train::Data& data) {
  const model::TrainedModel made = model::open_model(input.path);
  model::require_layout(made, train::layout_of(data.store),
                        "a fusion joins models of the data at hand: run their steps on it");
  return made.path();
}

/// At most `limit` of `ids`, drawn by the seed, in order.
std::vector<int64_t> some_of(std::vector<int64_t> ids, int64_t limit, int64_t seed) {
  if (static_cast<int64_t>(ids.size()) <= limit) return ids;
  arrays::Random(static_cast<uint64_t>(seed), 0xF51).shuffle(ids);
  ids.resize(static_cast<std::size_t>(limit));
  std::sort(ids.begin(), ids.end());
  return ids;
}

States states_of(const objective::FusionInputs& inputs, const train::Data& data,
                 const std::vector<int64_t>& ids, const std::string& part, const Host& host) {
  std::vector<torch::Tensor> states;
  int64_t done = 0;
  train::for_batches(
      data.store, ids, inputs.classifier->with_edge_attr(),
      [&](const graph::GraphBatch& batch, std::span<const int64_t> some) {
        check_cancelled(host, "while scoring the " + part + " graphs");
        states.push_back(objective::fusion_states(*inputs.autoencoder, *inputs.classifier, batch));
        done += static_cast<int64_t>(some.size());
        host.progress("states of " + part, "graph", done, static_cast<int64_t>(ids.size()));
      });
  const std::vector<int64_t> labels = data.labels(ids);
  const auto count = static_cast<int64_t>(ids.size());
  if (count == 0) return {torch::empty({0}), torch::empty({0})};
  return {torch::cat(states), torch::tensor(labels, torch::kLong)};
}

/// What is said of an epoch, of scores at 0.5.
json judge(const torch::Tensor& scores_G, const torch::Tensor& labels_G) {
  const torch::Tensor scores = scores_G.to(torch::kFloat).contiguous();
  const torch::Tensor labels = labels_G.contiguous();
  const std::span<const float> s(scores.const_data_ptr<float>(),
                                 static_cast<std::size_t>(scores.numel()));
  const std::span<const int64_t> y(labels.const_data_ptr<int64_t>(), s.size());
  return train::epoch_metrics(s, y, kThreshold);
}

/// Weights and statistics of the best validated episode.
class Best {
 public:
  explicit Best(model::FusionNet net) : net_(std::move(net)) {}

  /// By F1, equal ones by AUC; the earlier where both are equal. Without numbers the newest.
  void offer(int64_t episode, const json& judged) {
    if (episode_ > 0 && !judged.empty()) {
      const auto key = [](const json& j) { return std::pair<double, double>(j["f1"], j["auc"]); };
      if (key(judged) <= key(judged_)) return;
    }
    episode_ = episode;
    judged_ = judged;
    kept_ = train::clones(train::parameters_of(*net_));
  }

  void restore() { train::copy(kept_, train::parameters_of(*net_)); }

  int64_t episode() const { return episode_; }
  const json& judged() const { return judged_; }

 private:
  model::FusionNet net_;
  train::NamedTensors kept_;
  int64_t episode_ = 0;
  json judged_;
};

json validate(model::FusionNet& net, const States& val) {
  if (val.x_GS.size(0) == 0) return json::object();
  const torch::NoGradGuard no_grad;
  return judge(net->score(val.x_GS), val.y_G);
}

/// Runs the episodes; leaves the best state in the net. Not the Trainer: an episode draws from
/// states that are in memory, and a learner remembers decisions, of which no checkpoint is kept.
Best train_net(const FusionOptions& options, model::FusionNet& net, const States& train,
               const States& val, int64_t seed, const Host& host) {
  Best best(net);
  const auto seed_bits = static_cast<uint64_t>(seed);
  const auto learner = make_learner(options, net, train, seed_bits);
  arrays::Random random(seed_bits, 0xE91);
  std::vector<int64_t> order(static_cast<std::size_t>(train.x_GS.size(0)));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  const auto seen = std::min(order.size(), static_cast<std::size_t>(options.episode_sample_size));
  const int64_t episodes = learner ? options.fusion_episodes : 1;
  double best_accuracy = 0;
  for (int64_t e = 1; e <= episodes; ++e) {
    check_cancelled(host, "at episode " + std::to_string(e) + " of " + std::to_string(episodes));
    json shown = json::object();
    if (learner) {
      random.shuffle(order);
      const std::vector<int64_t> rows(order.begin(),
                                      order.begin() + static_cast<std::ptrdiff_t>(seen));
      shown = learner->episode(torch::tensor(rows, torch::kLong));
    }
    host.progress("train", "episode", e, episodes, shown);
    if (e % options.validate_every != 0 && e != episodes) continue;
    const json judged = validate(net, val);
    for (const auto& [name, value] : judged.items()) shown["val_" + name] = value;
    if (judged.contains("accuracy")) {
      best_accuracy = std::max(best_accuracy, judged.at("accuracy").get<double>());
      shown["best_accuracy"] = best_accuracy;
    }
    if (shown.contains("reward")) {
      shown["total_reward"] = shown.at("reward").get<double>() * static_cast<double>(seen);
    }
    host.metrics("episode", e, shown);
    best.offer(e, judged);
  }
  best.restore();
  return best;
}

/// A whole copy of an input's file in the step's folder; its hash.
std::string copy_model(const std::filesystem::path& from, const std::filesystem::path& to) {
  const std::string bytes = objective::bytes_of(from);
  write_file(to, bytes);
  return file::hash_bytes(bytes.data(), bytes.size());
}

std::string summary(const model::FusionConfig& config, int64_t episodes, const Best& best) {
  std::string out = config.method;
  if (config.method != "weighted") {
    out += "  episode " + std::to_string(episodes);
    if (best.episode() != episodes) out += " (best " + std::to_string(best.episode()) + ")";
  }
  if (best.judged().contains("f1")) {
    out += "  val F1 " + format_number("%.3f", best.judged().at("f1")) + "  val AUC " +
           format_number("%.3f", best.judged().at("auc"));
  }
  return out;
}

/// The graphs to learn from: labelled ones. A fixed weight needs benign ones alone.
std::vector<int64_t> training_graphs(const FusionOptions& options, const train::Data& data) {
  const std::vector<int64_t> all = data.part("train");
  std::vector<int64_t> ids = options.method == "weighted"
                                 ? data.with_label(all, 0)
                                 : train::labelled_of_both_classes(data, all);
  if (ids.empty()) {
    if (train::is_labelled_graphs(data.store)) {
      throw Error(ExitCode::kData, "a fusion needs training graphs of both classes",
                  "kdgat data inspect shows the parts and their classes");
    }
    throw Error(ExitCode::kData,
                "a fusion needs training graphs labelled benign" +
                    std::string(options.method == "weighted" ? "" : " and attack"),
                "the method weighted needs no attacks");
  }
  return ids;
}

}  // namespace

StageInfo Fusion::info() {
  StageInfo out;
  out.name = "fusion";
  out.summary =
      "Join an autoencoder and a classifier into one detector, and that with another detector.";
  out.inputs = {graphs_of("can, graphs of 2 classes"),
                {"autoencoder", "autoencoder"},
                {"classifier", "classifier"}};
  out.inputs.push_back({"detector", kind::kData, /*required=*/false});
  out.outputs = {{"model", "model"}};
  out.speaks = 2;
  return out;
}

json Fusion::plan(const Options& options, const Request& request) {
  const json& graphs = request.input("graphs").facts;
  if (!graphs.contains("num_ids")) return json::object();
  if (graphs.contains(graph::kClassifiedFacts)) {
    check_classes(graph::classes_of(graphs), request);
  }
  const int64_t ids = graphs.at("num_ids");
  const model::FusionConfig config =
      make_config(options, {ids, graphs.value("node_features", 11), ids > 1});
  return facts_of(config, *model::make_model(config));
}

json Fusion::run(const Options& options, const Request& request, Host& host) {
  const train::Data data = train::open_data(request.input("graphs").path);
  if (train::is_labelled_graphs(data.store)) {
    check_classes(std::ssize(data.store.targets()->classes), request);
  }
  const std::vector<int64_t> train_ids =
      some_of(training_graphs(options, data), options.fusion_max_samples, request.seed);
  const std::vector<int64_t> val_ids =
      some_of(train::labelled_of_both_classes(data, data.part("val")), options.max_val_samples,
              request.seed);
  if (val_ids.empty()) {
    host.log("warning", "validation has not both classes; the state of the last episode is kept");
  }
  const std::filesystem::path autoencoder = file_of(request.input("autoencoder"), data),
                              classifier = file_of(request.input("classifier"), data);
  model::GeneratorLock generator = model::hold_generator();
  const torch::Device device = setup::prepare_scoring(request, host);
  const int64_t ids = train::ids_of(data.store);
  model::FusionConfig config =
      make_config(options, {std::max<int64_t>(1, ids), data.store.node_features(), ids > 0});
  config.autoencoder = copy_model(autoencoder, request.run_dir / objective::kFusionAutoencoder);
  config.classifier = copy_model(classifier, request.run_dir / objective::kFusionClassifier);
  const objective::FusionInputs inputs =
      objective::load_fusion_inputs(request.run_dir / objective::kFusionAutoencoder,
                                    request.run_dir / objective::kFusionClassifier, device);
  const States train = states_of(inputs, data, train_ids, "train", host);
  const States val = states_of(inputs, data, val_ids, "val", host);

  model::FusionNet net = model::make_model(config);
  generator.unlock();
  net->set_scale(train.x_GS, train.x_GS.index({train.y_G.eq(0)}), options.error_quantile);
  if (options.method == "weighted") net->fixed_alpha.fill_(options.fusion_weight);
  const Best best = train_net(options, net, train, val, request.seed, host);

  json metrics = {{"train_graphs", train_ids.size()},
                  {"val_graphs", val_ids.size()},
                  {"best_episode", best.episode()}};
  for (const auto& [name, value] : best.judged().items()) metrics["val_" + name] = value;
  if (!val_ids.empty()) {  // what each of the two says alone, by the same rule
    metrics["inputs"] = {{"autoencoder", judge(net->anomaly(val.x_GS), val.y_G)},
                         {"classifier", judge(val.x_GS.select(1, net->state().attack()), val.y_G)}};
  }
  model::save_model(request.run_dir / "model.safetensors", *net,
                    {"fusion",
                     config,
                     train::layout_of(data.store),
                     {{"threshold", kThreshold}, {"from", "fixed"}},
                     setup::scoring_stage(data.store)});
  if (const auto given = request.inputs.find("detector");
      given != request.inputs.end() && !given->second.empty()) {
    const auto network = objective::load_scorer(request.run_dir / "model.safetensors", device);
    metrics["channel"] =
        add_channel(options, given->second.front().path, data, *network, request, host);
  }
  StageResult result;
  result.metrics = metrics;
  result.figures = train::trained_figures(metrics);
  result.summary = summary(config, options.fusion_episodes, best);
  result.facts = facts_of(config, *net);
  return result;
}

}  // namespace kdgat::fusion
