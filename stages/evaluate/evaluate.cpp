#include "evaluate/evaluate.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "engine/file/safetensors.h"
#include "engine/graph/rewire.h"
#include "engine/graph/section_facts.h"
#include "engine/model/model_file.h"
#include "engine/objective/load_scorer.h"
#include "engine/setup/trained_model.h"
#include "engine/train/data_set.h"
#include "engine/train/metrics/class_metrics.h"
#include "engine/train/metrics/metrics.h"
#include "engine/train/scoring.h"
#include "evaluate/ablation.h"
#include "evaluate/beside.h"
#include "evaluate/class_evaluation.h"
#include "evaluate/number_evaluation.h"
#include "evaluate/report.h"
#include "kdgat/atomic_file.h"

namespace kdgat::evaluate {
namespace {

using nlohmann::json;

/// Behind the step of a fusion that was given a detector, where both count.
constexpr const char* kJoined = " with its detector";

struct Model {
  std::string step;
  model::ModelHeader header;
  int64_t parameters = 0;
  std::unique_ptr<train::Scorer> scorer;
  std::optional<decision::JoinedFiles> joined;  ///< of a fusion that was given a detector
};

/// Why a model cannot score the data; "" if it can. Files that do not say which graphs they are for
/// are held to the sizes of their model.
std::string difference(const model::ModelHeader& header, const graph::GraphStore& store) {
  if (!header.data.empty()) return model::layout_difference(header.data, train::layout_of(store));
  const int64_t known = store.ids() != nullptr ? store.ids()->count() : 1;
  const auto said = [&header](const char* key, int64_t otherwise) {
    const json value = header.config.value(key, json());
    return value.is_number_integer() ? value.get<int64_t>() : otherwise;  // judged when it is built
  };
  const int64_t ids = said("num_ids", known);
  const int64_t features = said("node_features", store.node_features());
  if (ids == known && features == store.node_features()) return "";
  return "made for " + std::to_string(ids) + " ids and " + std::to_string(features) +
         " node features, the data has " + std::to_string(known) + " and " +
         std::to_string(store.node_features());
}

Model load(const Input& input, const train::Data& data, torch::Device device, const Host& host) {
  const model::TrainedModel made = model::open_model(input.path);
  if (const std::string why = difference(made.header, data.store); !why.empty()) {
    throw Error(ExitCode::kData, made.path().string() + ": " + why,
                "a model can only score data with the features and vocabulary it was trained with");
  }
  const std::filesystem::path folder = made.path().parent_path();
  std::optional<decision::JoinedFiles> joined;
  if (decision::is_joined(folder))
    joined = decision::read_joined(folder, decision::warning_to(host));
  return {input.step, made.header, model::parameters_of(made.file),
          objective::load_scorer(made.path(), device), std::move(joined)};
}

double quantile(std::vector<float> values, double q) {
  std::sort(values.begin(), values.end());
  return values.at(static_cast<std::size_t>(q * static_cast<double>(values.size() - 1)));
}

bool contains_one(const std::string& name, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return name.find(word) != std::string::npos; });
}

std::vector<std::string> source_names(const graph::GraphStore& store) {
  std::vector<std::string> out;
  for (const graph::Source& source : store.sources()) out.push_back(source.path);
  return out;
}

/// "a, b, c and 4 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    out += (out.empty() ? "" : ", ") + names[i];
  }
  return names.size() > kShown ? out + " and " + std::to_string(names.size() - kShown) + " more"
                               : out;
}

/// Scores, decides and keeps what every model said.
class Evaluation {
 public:
  Evaluation(const EvaluateOptions& options, const train::Data& data, const Request& request,
             const Host& host)
      : options_(options),
        data_(data),
        request_(request),
        host_(host),
        report_(source_names(data.store)),
        beside_(data, request, host),
        ablation_(data.store.source_of()) {}

  void add(const Model& model) {
    const std::size_t first = predictions_.size();
    Predictions& val = score(model, "val", Edges::kAsTheyAre);
    const ModelFacts facts = decide(model, val);
    report_.add(facts);
    judge(val, facts);
    for (const auto& [part, ids] : data_.split.parts) {
      if (part.rfind("test", 0) != 0 || ids.empty() || !is_wanted(part)) continue;
      Predictions& p = score(model, part, Edges::kAsTheyAre);
      if (contains_one(p.name(), options_.calibrate)) calibrate(p, facts);
      judge(p, facts);
      beside_.add(model.step, p, on_raw_scale(p, facts.decision.threshold));
      if (model.joined) beside_.add_joined(model.step + kJoined, p, *model.joined);
    }
    if (options_.ablate == "structure") add_rewired(model, facts, first);
  }

  void add(const std::string& step, const decision::DetectorModel& detector) {
    beside_.add(step, detector, [&](const std::string& part) { return is_wanted("test/" + part); });
  }

  /// What was noticed in the data, each cause once for all models and files that it concerns.
  void tell() const {
    for (const std::string& sentence : ablation_.sentences()) host_.log("info", sentence);
    for (const auto& [what, steps] : warnings_) host_.log("warning", listed(steps) + ": " + what);
    if (uncalibrated_.empty()) return;
    host_.log("warning", listed({uncalibrated_.begin(), uncalibrated_.end()}) + ": fewer than " +
                             std::to_string(train::kLeastCalibration) +
                             " windows before the first attack; not calibrated, the threshold of "
                             "validation is used");
  }

  json result() {
    StageResult out = report_.result();
    beside_.finish(out);
    ablation_.finish(out);
    return out;
  }

  void write() const {
    file::SafetensorsWriter writer;
    for (const auto& [step, p] : predictions_) {
      const std::string name = step + "/" + p.part;
      const auto size = static_cast<int64_t>(p.graph.size());
      writer.add(name + "/graph", {size}, std::span<const int64_t>(p.graph));
      writer.add(name + "/score", {size}, std::span<const float>(p.score));
      writer.add(name + "/label", {size}, std::span<const int64_t>(p.label));
      writer.add(name + "/prediction", {size}, std::span<const int64_t>(p.prediction));
      if (p.files.empty()) continue;
      writer.add(name + "/calibrated", {size}, std::span<const int64_t>(p.calibrated));
    }
    writer.metadata("store", data_.store.content_hash());
    writer.write(request_.run_dir / "predictions.safetensors");
    write_file(request_.run_dir / "curves.json", Host::dump(report_.curves()) + "\n");
  }

 private:
  enum class Edges { kAsTheyAre, kRewired };

  /// The parts of a model, which begin at `first`, once more with rewired edges: windows, files and
  /// thresholds are the same, only the edges differ.
  void add_rewired(const Model& model, ModelFacts facts, std::size_t first) {
    facts.step += kRewired;
    facts.is_ablated = true;
    report_.add(facts);
    const std::size_t end = predictions_.size();
    for (std::size_t i = first; i < end; ++i) {
      const Predictions& whole = predictions_[i].second;
      Predictions& p = score(model, whole.part, Edges::kRewired);
      p.files = whole.files;
      p.file_threshold = whole.file_threshold;
      decide_by_file(p);
      judge(p, facts);
      if (!p.is_val()) {
        beside_.add_ablated(facts.step, p, on_raw_scale(p, facts.decision.threshold));
      }
      ablation_.add(model.step, whole, p);
    }
  }

  bool is_wanted(const std::string& part) const {
    const std::vector<std::string>& wanted = options_.parts;
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), part) != wanted.end();
  }

  Predictions& score(const Model& model, const std::string& part, Edges edges) {
    const bool is_rewired = edges == Edges::kRewired;
    const std::string step = model.step + (is_rewired ? kRewired : "");
    Predictions& p = predictions_.emplace_back(step, Predictions()).second;
    p.part = part;
    p.graph = data_.part(part);
    p.label = data_.labels(p.graph);
    const std::string name = step + "/" + part;
    const auto total = static_cast<int64_t>(p.graph.size());
    p.raw = train::score_all(
        data_.store, p.graph, model.scorer->with_edge_attr(),
        [&](graph::GraphBatch& batch) {
          if (is_rewired) graph::rewire(batch, static_cast<uint64_t>(request_.seed));
          return model.scorer->raw_score(batch);
        },
        [&](int64_t done) {
          const ExitCode code = host_.cancelled();
          if (code != ExitCode::kOk) throw Error(code, "stopped while scoring " + name);
          host_.progress(name, "graph", done, total);
        });
    for (const float raw : p.raw) {
      p.score.push_back(static_cast<float>(model.scorer->score_of(raw)));
    }
    return p;
  }

  /// A model that brings a fixed threshold keeps it; else validation alone chooses.
  ModelFacts decide(const Model& model, const Predictions& val) {
    ModelFacts out{model.step, model.parameters, {}, 0, 0, false};
    std::vector<float> scores;
    std::vector<int64_t> labels;
    for (const std::size_t i : judged(val)) {
      scores.push_back(val.score[i]);
      labels.push_back(val.label[i]);
    }
    const train::Threshold best = train::best_threshold(scores, labels);
    out.youden_j = best.youden_j;
    const auto attacks = std::count(labels.begin(), labels.end(), 1);
    if (attacks > 0 && attacks < static_cast<std::ptrdiff_t>(labels.size())) {
      out.decision = {best.value, "val"};
    } else if (!val.score.empty()) {
      out.decision = {quantile(val.score, options_.fallback_quantile), "val quantile"};
      warn(model, "validation has not both classes; the threshold is a quantile of its scores");
    } else {
      out.decision = {0.5, "fixed"};
      warn(model, "there is no validation data; the threshold is 0.5");
    }
    out.val_threshold = out.decision.threshold;
    if (const auto own = model::decision_of(model.header); own && own->from == "fixed") {
      out.decision = {own->threshold, own->from};
    }
    return out;
  }

  /// Each file is another vehicle or drive: each gets a threshold of its own.
  void calibrate(Predictions& p, const ModelFacts& facts) {
    p.files = train::by_file(data_, p.graph, options_.calibration_windows);
    for (const train::FileWindows& file : p.files) {
      std::vector<float> benign;
      for (const std::size_t i : file.prefix) benign.push_back(p.raw[i]);
      const double threshold = benign.empty() ? on_raw_scale(p, facts.decision.threshold)
                                              : train::calibrate(benign, options_.false_alarms);
      if (benign.empty()) {
        uncalibrated_.insert(data_.store.sources()[static_cast<std::size_t>(file.source)].path);
      }
      p.file_threshold.push_back(threshold);
    }
    decide_by_file(p);
  }

  /// By the thresholds of the files, where there are any.
  static void decide_by_file(Predictions& p) {
    if (!p.files.empty()) p.calibrated.resize(p.graph.size());
    for (std::size_t f = 0; f < p.files.size(); ++f) {
      const double threshold = p.file_threshold[f];
      for (const std::size_t i : p.files[f].prefix) p.calibrated[i] = -1;
      for (const std::size_t i : p.files[f].rest) p.calibrated[i] = p.raw[i] > threshold ? 1 : 0;
    }
  }

  void judge(Predictions& p, const ModelFacts& facts) {
    for (const float s : p.score) p.prediction.push_back(s > facts.decision.threshold ? 1 : 0);
    report_.add(p);
  }

  void warn(const Model& model, const std::string& what) { warnings_[what].push_back(model.step); }

  const EvaluateOptions& options_;
  const train::Data& data_;
  const Request& request_;
  const Host& host_;
  std::deque<std::pair<std::string, Predictions>> predictions_;  // references stay valid
  Report report_;
  Beside beside_;
  Ablation ablation_;
  std::map<std::string, std::vector<std::string>> warnings_;  ///< steps, by what is wrong
  std::set<std::string> uncalibrated_;                        ///< files
};

}  // namespace

StageInfo Evaluate::info() {
  StageInfo out;
  out.name = "evaluate";
  out.version = 2;  // thresholds calibrated for unknown vehicles
  out.summary = "Score trained models on validation and test data, the threshold from validation.";
  out.inputs = {graphs_of("can, graphs"), {"models", "model", true, true}};
  out.outputs = {{"metrics", "metrics"}};
  out.published_names = {"evaluation"};
  return out;
}

json Evaluate::plan(const Options&, const Request& request) {
  json names = json::array();
  const auto add = [&](const auto& metrics) {
    for (const auto* metric : train::in_tables(metrics)) names.push_back(metric->name);
  };
  const json& facts = request.input("graphs").facts;  // none = of unknown data
  const bool has_classes = facts.contains(graph::kClassifiedFacts);
  const bool has_targets = graph::targets_of(facts) > 0;
  if (facts.empty() || (has_classes && !has_targets)) add(train::metrics_of_classes());
  if (facts.empty() || has_targets) add(train::metrics_of_numbers());
  if (!has_classes) add(train::metrics());
  return {{"figures", std::move(names)}};
}

json Evaluate::run(const Options& options, const Request& request, Host& host) {
  request.input("models");
  const train::Data data = train::open_data(request.input("graphs").path);
  for (const std::string& part : options.parts) {
    if (!data.split.parts.contains(part)) {
      throw Error(ExitCode::kUsage, "parts: the data has no part " + part,
                  "kdgat data inspect shows the parts");
    }
  }
  if (train::has_targets(data.store)) return evaluate_numbers(options, data, request, host);
  if (train::is_labelled_graphs(data.store)) return evaluate_classes(options, data, request, host);
  const torch::Device device = setup::prepare_scoring(request, host);
  Evaluation evaluation(options, data, request, host);
  std::vector<Input> detectors;  // judged last: on the windows of the others
  for (const Input& input : request.inputs.at("models")) {
    if (decision::detector_file(input.path)) {
      detectors.push_back(input);
    } else {
      evaluation.add(load(input, data, device, host));
    }
  }
  for (const Input& input : detectors) {
    evaluation.add(input.step, decision::DetectorModel::read(*decision::detector_file(input.path),
                                                             decision::warning_to(host)));
  }
  evaluation.tell();
  evaluation.write();
  return evaluation.result();
}

}  // namespace kdgat::evaluate
