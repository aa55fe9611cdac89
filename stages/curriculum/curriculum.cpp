#include "curriculum/curriculum.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/section_facts.h"
#include "engine/memory/meter.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "engine/objective/load_scorer.h"
#include "engine/setup/trained_model.h"
#include "engine/train/data_set.h"
#include "engine/train/sampling/difficulty.h"
#include "kdgat/figures.h"
#include "kdgat/kinds.h"
#include "kdgat/text.h"

namespace kdgat::curriculum {
namespace {

using nlohmann::json;

// Batches begin at multiples of this whatever the chunk: matrix products round differently for
// other numbers of rows, and the chunk must not show in the result.
constexpr int64_t kBatch = 100;

/// What says how hard graphs are, and where it came from.
struct Model {
  std::unique_ptr<train::Scorer> scorer;
  std::function<torch::Tensor(const graph::GraphBatch& batch)> difficulty;
  std::string hash, formula;
};

/// The port of the model that scores, by the graphs.
const char* port_of(bool has_classes) {
  return has_classes ? kind::kClassifier : kind::kAutoencoder;
}

/// Of a step's model, which must be made for graphs like these.
Model load(const std::filesystem::path& path, const train::Data& data, torch::Device device) {
  const bool has_classes = train::is_labelled_graphs(data.store);
  const model::TrainedModel made = model::open_model(path);
  model::require_layout(made, train::layout_of(data.store),
                        std::string("train the ") + port_of(has_classes) + " on this data");
  Model out{objective::load_scorer(made.path(), device), {}, made.file.header_hash(), ""};
  auto* classifier = dynamic_cast<objective::ClassifierObjective*>(out.scorer.get());
  auto* autoencoder = dynamic_cast<objective::AutoencoderObjective*>(out.scorer.get());
  if (has_classes && classifier != nullptr) {
    out.difficulty = [classifier](const auto& batch) { return classifier->difficulty(batch); };
    out.formula = "cross entropy of the class";
  } else if (!has_classes && autoencoder != nullptr) {
    out.difficulty = [autoencoder](const auto& batch) { return autoencoder->difficulty(batch); };
    out.formula = "mean over nodes of squared error of features + " +
                  format_number("%g", autoencoder->identifier_weight) +
                  " cross entropy of identifier";
  } else {
    const std::string wanted = has_classes ? "a classifier" : "an autoencoder";
    throw Error(ExitCode::kUsage,
                made.path().string() + ": " + made.header.name + " is not " + wanted,
                "name the step of " + wanted + " under needs:");
  }
  return out;
}

/// The training graphs that get a difficulty: those with a class, or benign windows.
std::vector<int64_t> graphs_to_score(const train::Data& data) {
  const std::vector<int64_t> train = data.part("train");
  const bool has_classes = train::is_labelled_graphs(data.store);
  std::vector<int64_t> out = has_classes ? train::labelled(data, train) : data.with_label(train, 0);
  if (!out.empty()) return out;
  const std::string none = "none of the " + std::to_string(train.size()) + " training ";
  if (has_classes) {
    throw Error(ExitCode::kData, none + "graphs has a label: there is nothing to score",
                "kdgat data inspect shows the parts and their classes");
  }
  throw Error(ExitCode::kData, none + "windows is labelled benign: there is nothing to score",
              "logs without labels: data.assume=benign");
}

/// {"min", "p50", "p75", "p90", "p95", "p99", "max", "mean"}
json statistics_of(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  json out;
  for (const auto& [name, q] : {std::pair{"min", 0.0},
                                {"p50", 0.5},
                                {"p75", 0.75},
                                {"p90", 0.9},
                                {"p95", 0.95},
                                {"p99", 0.99},
                                {"max", 1.0}}) {
    out[name] = values[static_cast<std::size_t>(q * last)];
  }
  out["mean"] = std::accumulate(values.begin(), values.end(), 0.0) / (last + 1);
  return out;
}

/// Graphs a second since it was made.
class Rate {
 public:
  double of(int64_t graphs) const {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    return static_cast<double>(graphs) / std::max(1e-9, seconds.count());
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Difficulties of `ids`, in their order. `chunk`: a multiple of kBatch.
std::vector<float> score(const Model& model, const graph::GraphStore& store,
                         const std::vector<int64_t>& ids, int64_t chunk, memory::Cache& cache,
                         const Rate& rate, const Host& host) {
  const auto total = static_cast<int64_t>(ids.size());
  std::vector<float> out;
  graph::GraphBatch batch;
  for (int64_t done = 0; done < total; done = static_cast<int64_t>(out.size())) {
    if (const ExitCode code = host.cancelled(); code != ExitCode::kOk) {
      throw Error(code, "stopped after " + std::to_string(done) + " of " + std::to_string(total) +
                            " graphs; scoring starts over next time");
    }
    const auto some = std::span(ids).subspan(
        static_cast<std::size_t>(done), static_cast<std::size_t>(std::min(kBatch, total - done)));
    graph::gather(store, some, model.scorer->with_edge_attr(), batch);
    const torch::Tensor scores = model.difficulty(batch).contiguous();
    const float* values = scores.const_data_ptr<float>();
    out.insert(out.end(), values, values + scores.numel());
    const auto now = static_cast<int64_t>(out.size());
    if (now % chunk != 0 && now != total) continue;
    cache.after_chunk();
    host.progress("score", "graph", now, total,
                  {{"rate", rate.of(now)}, {"rate_unit", "graphs/s"}});
  }
  return out;
}

/// Of each class by its name: how many graphs, and how hard they are on average.
json by_class(const train::Data& data, const train::Difficulty& difficulty) {
  const std::vector<std::string>& names = data.store.targets()->classes;
  std::vector<double> sum(names.size(), 0);
  std::vector<int64_t> graphs(names.size(), 0);
  const std::vector<int64_t> labels = data.labels(difficulty.graph);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto c = static_cast<std::size_t>(labels[i]);
    sum[c] += difficulty.value[i];
    ++graphs[c];
  }
  json out;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (graphs[c] == 0) continue;
    out[names[c]] = {{"graphs", graphs[c]}, {"mean", sum[c] / static_cast<double>(graphs[c])}};
  }
  return out;
}

/// Throws Error(kUsage) if no step gives the model that such graphs need.
void check_model(const Request& request, bool has_classes) {
  const auto found = request.inputs.find(port_of(has_classes));
  if (found != request.inputs.end() && !found->second.empty()) return;
  if (has_classes) {
    throw Error(
        ExitCode::kUsage,
        request.step +
            ": a classifier says how hard labelled graphs are, and no step "
            "gives one",
        "add a step of the stage classifier, and its name to \"needs:\" of " + request.step);
  }
  throw Error(ExitCode::kUsage,
              request.step + ": an autoencoder says how hard windows are, and no step gives one",
              "add a step \"autoencoder\" before it, as --preset curriculum does");
}

}  // namespace

StageInfo Curriculum::info() {
  StageInfo out;
  out.name = "curriculum";
  out.summary =
      "Score how hard each benign training window, or labelled graph, is, for a classifier's "
      "curriculum.";
  out.inputs = {graphs_of("can, graphs"),
                {kind::kAutoencoder, kind::kAutoencoder, true, false, "can"},
                {kind::kClassifier, kind::kClassifier, false}};
  out.outputs = {{"difficulty", "difficulty"}};
  return out;
}

json Curriculum::plan(const Options&, const Request& request) {
  const json& facts = request.input("graphs").facts;
  if (!facts.empty()) check_model(request, facts.contains(graph::kClassifiedFacts));
  return json::object();
}

json Curriculum::run(const Options& options, const Request& request, Host& host) {
  const train::Data data = train::open_data(request.input("graphs").path);
  const bool has_classes = train::is_labelled_graphs(data.store);
  check_model(request, has_classes);
  const torch::Device device = setup::prepare_scoring(request, host);
  const Model model = load(request.input(port_of(has_classes)).path, data, device);
  train::Difficulty out;
  out.graph = graphs_to_score(data);
  out.store = data.store.content_hash();
  out.model = model.hash;
  out.formula = model.formula;
  const int64_t chunk = (options.scoring_chunk + kBatch - 1) / kBatch * kBatch;
  std::vector<Diagnostic> problems;  // the options were checked when they were read
  memory::Cache cache(memory::meter(device),
                      memory::CachePolicy::parse(options.cache_policy, problems),
                      [&host](const std::string& text) { host.log("info", text); });
  const Rate rate;
  out.value = score(model, data.store, out.graph, chunk, cache, rate, host);
  cache.after_stage();
  train::check_finite(out.graph, out.value, "the difficulty");
  train::write_difficulty(request.run_dir / train::kDifficultyFile, out);

  const auto total = static_cast<int64_t>(out.graph.size());
  json metrics = {{"graphs", total},
                  {"graphs_per_second", rate.of(total)},
                  {"difficulty", statistics_of(out.value)},
                  {"chunks", (total + chunk - 1) / chunk},
                  {"cache", cache.totals()}};
  if (has_classes) metrics["classes"] = by_class(data, out);
  const json& statistics = metrics.at("difficulty");
  const auto text = [&](const char* name) { return format_number("%.4f", statistics.at(name)); };
  const std::string summary =
      grouped(total) + (has_classes ? " labelled graphs" : " benign windows") +
      "  difficulty mean " + text("mean") + "  p75 " + text("p75") + "  p95 " + text("p95") + "  " +
      grouped(std::llrint(rate.of(total))) + " graphs/s";
  StageResult result;
  result.metrics = metrics;
  result.figures = step_figures(metrics);
  result.summary = summary;
  result.facts = {{"graphs", total}};
  return result;
}

}  // namespace kdgat::curriculum
