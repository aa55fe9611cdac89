#include "curriculum/curriculum.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/figures.h"
#include "kdgat/text.h"
#include "memory/meter.h"
#include "objective/autoencoder_objective.h"
#include "objective/load_scorer.h"
#include "setup/trained_model.h"
#include "train/data_set.h"
#include "train/sampling/difficulty.h"

namespace kdgat::curriculum {
namespace {

using nlohmann::json;

// Batches begin at multiples of this whatever the chunk: matrix products round differently for
// other numbers of rows, and the chunk must not show in the result.
constexpr int64_t kBatch = 100;

/// An autoencoder made for graphs like these, and where it came from.
struct Model {
  std::unique_ptr<train::Scorer> scorer;
  objective::AutoencoderObjective* autoencoder = nullptr;
  std::string hash;
};

Model load(const std::filesystem::path& path, const train::Data& data, torch::Device device) {
  const model::TrainedModel made = model::open_model(path);
  model::require_layout(made, train::layout_of(data.store), "train the autoencoder on this data");
  Model out{objective::load_scorer(made.path(), device), nullptr, made.file.header_hash()};
  out.autoencoder = dynamic_cast<objective::AutoencoderObjective*>(out.scorer.get());
  if (out.autoencoder == nullptr) {
    throw Error(ExitCode::kUsage,
                made.path().string() + ": " + made.header.name + " is not an autoencoder",
                "name the step of an autoencoder under needs:");
  }
  return out;
}

std::vector<int64_t> benign_windows(const train::Data& data) {
  const std::vector<int64_t> train = data.part("train");
  std::vector<int64_t> out = data.with_label(train, 0);
  if (!out.empty()) return out;
  throw Error(ExitCode::kData,
              "none of the " + std::to_string(train.size()) +
                  " training windows is labelled benign: there is nothing to score",
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
std::vector<float> score(objective::AutoencoderObjective& autoencoder,
                         const graph::GraphStore& store, const std::vector<int64_t>& ids,
                         int64_t chunk, memory::Cache& cache, const Rate& rate, const Host& host) {
  const auto total = static_cast<int64_t>(ids.size());
  std::vector<float> out;
  graph::GraphBatch batch;
  for (int64_t done = 0; done < total; done = static_cast<int64_t>(out.size())) {
    if (const ExitCode code = host.cancelled(); code != ExitCode::kOk) {
      throw Error(code, "stopped after " + std::to_string(done) + " of " + std::to_string(total) +
                            " windows; scoring starts over next time");
    }
    const auto some = std::span(ids).subspan(
        static_cast<std::size_t>(done), static_cast<std::size_t>(std::min(kBatch, total - done)));
    graph::gather(store, some, autoencoder.with_edge_attr(), batch);
    const torch::Tensor scores = autoencoder.difficulty(batch).contiguous();
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

}  // namespace

StageInfo Curriculum::info() {
  StageInfo out;
  out.name = "curriculum";
  out.summary = "Score how hard each benign training window is, for a classifier's curriculum.";
  out.inputs = {graphs_of("can"), {"autoencoder", "autoencoder"}};
  out.outputs = {{"difficulty", "difficulty"}};
  return out;
}

json Curriculum::plan(const Options&, const Request&) { return json::object(); }

json Curriculum::run(const Options& options, const Request& request, Host& host) {
  const train::Data data = train::open_data(request.input("graphs").path);
  const torch::Device device = setup::prepare_scoring(request);
  const Model model = load(request.input("autoencoder").path, data, device);
  train::Difficulty out;
  out.graph = benign_windows(data);
  out.store = data.store.content_hash();
  out.model = model.hash;
  out.formula = "mean over nodes of squared error of features + " +
                format_number("%g", model.autoencoder->identifier_weight) +
                " cross entropy of identifier";
  const int64_t chunk = (options.scoring_chunk + kBatch - 1) / kBatch * kBatch;
  std::vector<Diagnostic> problems;  // the options were checked when they were read
  memory::Cache cache(memory::meter(device),
                      memory::CachePolicy::parse(options.cache_policy, problems),
                      [&host](const std::string& text) { host.log("info", text); });
  const Rate rate;
  out.value = score(*model.autoencoder, data.store, out.graph, chunk, cache, rate, host);
  cache.after_stage();
  train::check_finite(out.graph, out.value, "the difficulty");
  train::write_difficulty(request.run_dir / train::kDifficultyFile, out);

  const auto total = static_cast<int64_t>(out.graph.size());
  const json metrics = {{"graphs", total},
                        {"graphs_per_second", rate.of(total)},
                        {"difficulty", statistics_of(out.value)},
                        {"chunks", (total + chunk - 1) / chunk},
                        {"cache", cache.totals()}};
  const json& statistics = metrics.at("difficulty");
  const auto text = [&](const char* name) { return format_number("%.4f", statistics.at(name)); };
  const std::string summary = grouped(total) + " benign windows  difficulty mean " + text("mean") +
                              "  p75 " + text("p75") + "  p95 " + text("p95") + "  " +
                              grouped(std::llrint(rate.of(total))) + " graphs/s";
  StageResult result;
  result.metrics = metrics;
  result.figures = step_figures(metrics);
  result.summary = summary;
  result.facts = {{"graphs", total}};
  return result;
}

}  // namespace kdgat::curriculum
