#include "fields/ratings/graphsage/graphsage.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/nn/module.h>

#include <utility>

#include "engine/memory/meter.h"
#include "engine/memory/out_of_memory.h"
#include "engine/setup/finish.h"
#include "engine/train/checkpoint.h"
#include "engine/train/memory_limit.h"
#include "engine/train/resources.h"
#include "fields/ratings/graphsage/rating_data.h"
#include "fields/ratings/graphsage/rating_fit.h"
#include "fields/ratings/graphsage/rating_metrics.h"
#include "kdgat/atomic_file.h"
#include "kdgat/figures.h"
#include "kdgat/text.h"

namespace kdgat::graphsage {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The net of `options` on ratings with these facts (RatingStore::facts).
ratings::SageConfig config_of(const GraphsageOptions& o, const json& facts) {
  const json& ratings = facts.at("ratings");
  ratings::SageConfig c;
  ratings.at("users").get_to(c.users);
  ratings.at("items").get_to(c.items);
  c.features = ratings.value("features", int64_t{0});
  c.hidden = o.hidden_dim;
  c.layers = o.num_layers;
  c.aggregator = o.aggregator;
  c.dropout = o.dropout;
  c.scaled_score = o.score == "scaled";
  c.bias_terms = o.bias_terms;
  c.embeddings = o.id_embeddings == "on" || (o.id_embeddings == "auto" && c.features == 0);
  c.batch = o.batch_size;
  c.nodes_a_pair = o.has_bpr() ? 3 : 2;
  return c;
}

/// Beside the tensors, of which all models of a process share one.
int64_t mapped_bytes(const json& facts) {
  const json& r = facts.at("ratings");
  constexpr int64_t kIndex = 4, kFloat = 4;
  const int64_t nodes = r.at("users").get<int64_t>() + r.at("items").get<int64_t>();
  return kIndex * (nodes + 1 + 2 * r.value("train", int64_t{0})) +
         kFloat * nodes * r.value("features", int64_t{0});
}

json facts_of(const ratings::SageConfig& config) {
  return {{"model", "graphsage"},
          {"size", std::to_string(config.hidden) + "x" + std::to_string(config.layers)},
          {"parameters", ratings::sage_parameters(config)},
          {"node_features", config.features},
          {"users", config.users},
          {"items", config.items},
          {"widths", {{"hidden", config.hidden}, {"layers", config.layers}}}};
}

json plan_of(const ratings::SageConfig& config, const json& facts, const Request& request) {
  const json& r = facts.at("ratings");
  const int64_t edges = 2 * r.value("train", int64_t{0});
  const json sizes = {{"graphs", 1},
                      {"nodes", {{"sum", config.nodes()}, {"max", config.nodes()}}},
                      {"edges", {{"sum", edges}, {"max", edges}}}};
  train::TrainOptions whole;
  whole.batch_size = 1;
  whole.min_steps_per_epoch = 1;
  json out = train::plan_memory(whole, ratings::sage_footprint(config), sizes, request).json();
  out["items"] = json::array();
  for (const ratings::SageItem& item : ratings::sage_items(config)) {
    out["items"].push_back({{"name", item.name}, {"bytes", item.bytes}});
  }
  out["items"].push_back(
      {{"name", "best weights"}, {"bytes", 4 * ratings::sage_parameters(config)}});
  out["mapped"] = mapped_bytes(facts);
  out["epochs"] = 1;
  return out;
}

/// The net's parameters under their names, for model files.
struct Parameters : torch::nn::Module {
  explicit Parameters(const ratings::SageNet& net) {
    for (const ratings::SageParameter& p : net.parameters()) {
      std::string name = p.name;  // a module's own names hold no dots
      std::replace(name.begin(), name.end(), '.', '_');
      register_parameter(name, p.value, /*requires_grad=*/false);
    }
  }
};

/// Rows of what items are ranked by, users [first, first + count) or fewer.
class Ranker {
 public:
  Ranker(const ratings::SageNet& net, const ratings::SageHead& head, bool by_score)
      : net_(net), head_(head), by_score_(by_score) {}

  ScoreRows operator()(int64_t first, int64_t count) const {
    const int64_t users = net_.config().users, items = net_.config().items;
    const at::Tensor& h = head_.states();
    const at::Tensor room = net_.scratch(items);
    count = std::min(count, room.size(0));
    at::Tensor rows = room.narrow(0, 0, count);
    at::mm_out(rows, h.narrow(0, first, count), h.narrow(0, users, items).t());
    float* value = rows.data_ptr<float>();
    for (int64_t u = 0; u < count; ++u) {
      for (int64_t i = 0; i < items; ++i, ++value) {
        const ratings::Prediction one = head_.of(*value, first + u, users + i);
        *value = static_cast<float>(by_score_ ? one.score : one.rating);
      }
    }
    return {rows.const_data_ptr<float>(), count};
  }

 private:
  const ratings::SageNet& net_;
  const ratings::SageHead& head_;
  bool by_score_;
};

void add_prefixed(json& to, const std::string& prefix, const json& values) {
  for (const auto& [name, value] : values.items()) to[prefix + name] = value;
}

std::string four_decimals(double value) { return format_number("%.4f", value); }

void write_predictions(const RatingData& data, const Predictions& test, const fs::path& folder) {
  std::string out = "user,item,rating,prediction\n";
  for (std::size_t p = 0; p < test.rating.size(); ++p) {
    const auto user = static_cast<std::size_t>(data.test.user[p]);
    const auto item = static_cast<std::size_t>(data.test.item[p] - data.store.users());
    out +=
        csv_field(data.store.user_names()[user]) + ',' + csv_field(data.store.item_names()[item]) +
        ',' + four_decimals(static_cast<double>(data.test.rating[p])) + ',' +
        four_decimals(std::clamp(static_cast<double>(test.rating[p]), static_cast<double>(data.low),
                                 static_cast<double>(data.high))) +
        '\n';
  }
  write_file(folder / "predictions.csv", out);
}

void write_recommendations(const RatingData& data, const Ranker& ranker, int64_t k,
                           const fs::path& folder) {
  std::string out = "user,rank,item,score\n";
  for (int64_t first = 0; first < data.store.users();) {
    const ScoreRows block = ranker(first, data.store.users() - first);
    for (int64_t u = 0; u < block.users; ++u) {
      const float* row = block.rows + u * data.store.items();
      int64_t rank = 0;
      for (const int32_t item : best_items(data.store, first + u, row, k)) {
        out += csv_field(data.store.user_names()[static_cast<std::size_t>(first + u)]) + ',' +
               std::to_string(++rank) + ',' +
               csv_field(data.store.item_names()[static_cast<std::size_t>(item)]) + ',' +
               four_decimals(static_cast<double>(row[item])) + '\n';
      }
    }
    first += block.users;
  }
  write_file(folder / "recommendations.csv", out);
}

/// All that is said of the trained net.
json judge(const GraphsageOptions& options, const RatingData& data, ratings::SageNet& net,
           RatingFit& fit, const fs::path& folder) {
  const RankingRule rule{options.top_k, options.relevant_rating};
  const double low = static_cast<double>(data.low), high = static_cast<double>(data.high);
  json out = json::object();
  fit.use_graph(false);
  const Predictions val = fit.predict(data.val);
  add_prefixed(out, "val_", rating_errors(data.val.rating, val.rating, low, high));
  add_prefixed(out, "val_", ranking_of_pairs(data.val, val.rank, rule));
  fit.use_graph(true);
  const Predictions test = fit.predict(data.test);
  add_prefixed(out, "test_", rating_errors(data.test.rating, test.rating, low, high));
  // What a net that has learnt nothing would get.
  const std::vector<float> mean(data.test.rating.size(), static_cast<float>(data.train_mean));
  add_prefixed(out, "test_mean_", rating_errors(data.test.rating, mean, low, high));
  add_prefixed(out, "test_", ranking_of_pairs(data.test, test.rank, rule));
  add_prefixed(out, "test_",
               cold_metrics(data, test, options.cold_user_threshold, options.cold_item_threshold));
  const ratings::SageHead head(net, net.embed());
  const Ranker ranker(net, head, options.loss == "bpr");
  if (options.full_ranking) {
    add_prefixed(out, "test_", full_ranking(data, data.test, rule, ranker));
  }
  // Every user and item has a node, and so a prediction: of the published coverage there is no
  // less.
  out["test_coverage"] = 1.0;
  if (options.write_predictions && !folder.empty()) {
    write_predictions(data, test, folder);
    write_recommendations(data, ranker, options.top_k, folder);
  }
  return out;
}

std::string summary(const GraphsageOptions& options, const FitOutcome& fitted,
                    const json& metrics) {
  std::string out = std::to_string(options.hidden_dim) + "x" + std::to_string(options.num_layers) +
                    "  epoch " + std::to_string(fitted.epochs) + "/" +
                    std::to_string(options.max_epochs);
  if (fitted.best_epoch != fitted.epochs) {
    out += " (best " + std::to_string(fitted.best_epoch) + ")";
  }
  out += "  val RMSE " + four_decimals(metrics.at("val_rmse"));
  if (metrics.contains("test_rmse")) {
    out += "  test RMSE " + four_decimals(metrics.at("test_rmse")) + " NDCG " +
           four_decimals(metrics.at("test_ndcg"));
  }
  const auto steps = static_cast<double>(std::max<int64_t>(1, fitted.timed_steps));
  return out + format_number("  %.1f ms/step", 1e3 * fitted.seconds / steps);
}

void require_ratings(const json& facts) {
  if (facts.contains("ratings")) return;
  throw Error(ExitCode::kData, "the stage graphsage trains on ratings, and these are none",
              "kdgat data import RATINGS -o DIR --format ratings");
}

void require_cpu(const Request& request) {
  if (request.device == "cpu") return;
  throw Error(ExitCode::kUsage,
              "device " + request.device + ": the stage graphsage computes on the CPU",
              "use device=cpu: its kernels keep nothing of the size of edges x channels, a step "
              "takes milliseconds there");
}

/// What results depend on beside the code.
std::string identity_of(const GraphsageOptions& options, const Request& request,
                        const ratings::RatingStore& store) {
  const std::string what =
      train::result_options(options).dump() + std::to_string(request.seed) + store.content_hash();
  return file::hash_bytes(what.data(), what.size());
}

}  // namespace

StageInfo Graphsage::info() {
  StageInfo out;
  out.name = "graphsage";
  out.summary = "Train a recommender on ratings: GraphSAGE on the graph of users and items.";
  out.refused = {{"num_negatives", {1}, "one item that was not rated is drawn for each pair"}};
  out.inputs = {graphs_of("ratings")};
  out.outputs = {{"model", "recommender"}};
  return out;
}

json Graphsage::plan(const Options& options, const Request& request) {
  const json& facts = request.input("graphs").facts;
  if (facts.empty()) return json::object();
  require_ratings(facts);
  const ratings::SageConfig config = config_of(options, facts);
  json out = facts_of(config);
  out["memory"] = plan_of(config, facts, request);
  out["memory"]["epochs"] = options.max_epochs;
  return out;
}

json Graphsage::run(const Options& options, const Request& request, Host& host) {
  const Input& input = request.input("graphs");
  require_cpu(request);
  const fs::path file =
      fs::is_directory(input.path) ? input.path / "graphs.safetensors" : input.path;
  if (!ratings::RatingStore::is_store(file::SafetensorsFile::open(file)))
    require_ratings(json::object());
  const auto seed = static_cast<uint64_t>(request.seed);
  // Of the process, and so left alone where it says the same already.
  if (at::get_num_threads() != std::max(1, request.threads)) {
    at::set_num_threads(std::max(1, request.threads));
  }
  const RatingData data =
      make_rating_data(ratings::RatingStore::shared(file), options.val_ratio, seed);
  const ratings::SageConfig config = config_of(options, data.store.facts());
  json planned = plan_of(config, data.store.facts(), request);
  memory::set_reported_plan(planned);
  host.metrics("memory", 0, {{"event", "plan"}, {"plan", planned}});
  host.log("info", planned.at("line"));
  train::limit_memory(torch::kCPU, request);
  if (data.test.size() == 0) host.log("warning", "no test ratings: only validation is evaluated");

  const memory::PeakScope peak(memory::meter(torch::kCPU));
  ratings::SageNet net(config, whole_graph(data.store), seed,
                       options.legacy_clamp ? 0 : data.train_mean);
  RatingFit fit(options, data, net, seed,
                {train::checkpoint_file(request), identity_of(options, request, data.store), seed},
                &host);
  const FitOutcome fitted = fit.run();
  json metrics = fitted.best;
  metrics.update(judge(options, data, net, fit, request.run_dir));
  metrics["epochs"] = fitted.epochs;
  metrics["best_epoch"] = fitted.best_epoch;
  metrics["steps"] = fitted.steps;
  metrics["nodes"] = config.nodes();
  metrics["train_ratings"] = data.fit.size();
  metrics["val_ratings"] = data.val.size();
  metrics["test_ratings"] = data.test.size();
  if (fitted.timed_steps > 0) {
    metrics["step_ms"] = 1e3 * fitted.seconds / static_cast<double>(fitted.timed_steps);
  }
  const json& ratings = data.store.facts().at("ratings");
  setup::finish(request, Parameters(net),
                {"graphsage",
                 config,
                 {{"content_hash", data.store.content_hash()},
                  {"user_features", ratings.at("user_features")},
                  {"item_features", ratings.at("item_features")}},
                 json::object()});
  const int64_t tensors = peak.peak() - peak.start();
  const json actual = {{"peak_tensor_bytes", tensors},
                       {"peak_reserved_bytes", memory::meter(torch::kCPU).counters().peak_reserved},
                       {"held_bytes", net.bytes() + static_cast<int64_t>(net.weights().nbytes())},
                       {"context_bytes", memory::anonymous_memory() -
                                             memory::meter(torch::kCPU).counters().reserved}};
  StageResult result;
  result.metrics = metrics;
  result.figures = step_figures(metrics);
  result.summary = summary(options, fitted, metrics);
  result.facts = facts_of(config);
  result.memory = {{"planned", std::move(planned)}, {"actual", actual}};
  return result;
}

}  // namespace kdgat::graphsage
