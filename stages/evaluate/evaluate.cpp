#include "evaluate/evaluate.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <memory>

#include "graph/safetensors.h"
#include "model/model_file.h"
#include "objective/load_scorer.h"
#include "train/fit.h"
#include "train/metrics.h"

namespace kdgat::evaluate {
namespace {

using nlohmann::json;

/// What one model said of one part.
struct Predictions {
  std::string name;  ///< "<step>/<part>"
  std::vector<int64_t> graph, label, prediction;
  std::vector<float> score;
};

/// Scores above it are attacks; unchanged for every part.
struct Decision {
  double threshold = 0;
  std::string from;  ///< "fixed", "val" or "val quantile"
};

struct Model {
  std::string step;
  std::string kind;  ///< "vgae" or "gat"
  std::unique_ptr<objective::Scorer> scorer;
};

Model load(const Input& input, const train::Data& data, torch::Device device) {
  const std::filesystem::path file =
      std::filesystem::is_directory(input.path) ? input.path / "model.safetensors" : input.path;
  const model::ModelHeader header = model::load_header(graph::SafetensorsFile::open(file));
  const int64_t ids = header.config.value("num_ids", int64_t{0});
  const int64_t features = header.config.value("node_features", int64_t{0});
  if (ids != data.store.num_ids() || features != data.store.node_features()) {
    throw Error(ExitCode::kData,
                file.string() + ": made for " + std::to_string(ids) + " ids and " +
                    std::to_string(features) + " node features, the data has " +
                    std::to_string(data.store.num_ids()) + " and " +
                    std::to_string(data.store.node_features()),
                "a model can only score data with the vocabulary it was trained with");
  }
  return {input.step, header.name, objective::load_scorer(file, device)};
}

/// Scores and labels of the graphs that have a label.
struct Labelled {
  std::vector<float> scores;
  std::vector<int64_t> labels;
  int64_t attacks = 0;
  bool both() const { return attacks > 0 && attacks < static_cast<int64_t>(labels.size()); }
};

Labelled labelled(const Predictions& p) {
  Labelled out;
  for (std::size_t i = 0; i < p.score.size(); ++i) {
    if (p.label[i] < 0) continue;
    out.scores.push_back(p.score[i]);
    out.labels.push_back(p.label[i]);
    out.attacks += p.label[i];
  }
  return out;
}

double quantile(std::vector<float> values, double q) {
  std::sort(values.begin(), values.end());
  return values.at(static_cast<std::size_t>(q * static_cast<double>(values.size() - 1)));
}

/// {"core", "additional"} as published; scores alone where nothing is labelled.
json metrics_of(const Labelled& l, const Decision& decision, double calibrated) {
  json core = train::rates(train::confusion(l.scores, l.labels, decision.threshold));
  json additional;
  for (const char* name : {"kappa", "tpr", "tnr", "detection_rate", "miss_rate"}) {
    additional[name] = core.at(name);
    core.erase(name);
  }
  core["auc"] = train::auc(l.scores, l.labels);
  core["threshold"] = decision.threshold;
  core["threshold_from"] = decision.from;
  additional["pr_auc"] = train::pr_auc(l.scores, l.labels);
  for (const auto& [name, fpr] : {std::pair{"0.05", 0.05}, {"0.01", 0.01}, {"0.001", 0.001}}) {
    additional["detection_at_fpr"][name] = train::detection_at_fpr(l.scores, l.labels, fpr);
  }
  if (calibrated != decision.threshold) {
    additional["calibrated"] = train::rates(train::confusion(l.scores, l.labels, calibrated));
    additional["calibrated"]["threshold"] = calibrated;
  }
  return {{"core", core}, {"additional", additional}};
}

std::string text(const char* format, double value) {
  char out[32];
  std::snprintf(out, sizeof out, format, value);
  return out;
}

json row_of(const std::string& model, const std::string& part, const json& core, bool is_val) {
  const auto number = [&core](const char* name) { return text("%.3f", core.at(name)); };
  return {model,
          part,
          number("accuracy"),
          number("precision"),
          number("recall"),
          number("f1"),
          number("auc"),
          is_val ? text("%.4g", core.at("threshold")) : ""};
}

/// Collects predictions, metrics (in the published form, by step) and rows of the table.
class Evaluation {
 public:
  Evaluation(const EvaluateOptions& options, const train::Data& data, const Request& request,
             const Host& host)
      : options_(options), data_(data), request_(request), host_(host) {}

  void add(const Model& model) {
    Predictions& val = score(model, "val");
    decide(model, val);
    report(model, val, "val");
    for (const auto& [part, ids] : data_.split.parts) {
      if (part.rfind("test", 0) != 0 || ids.empty() || !is_wanted(part)) continue;
      report(model, score(model, part), part);
    }
  }

  json result() const {
    return {{"metrics", metrics_},
            {"table",
             {{"columns",
               {"model", "part", "accuracy", "precision", "recall", "F1", "AUC", "threshold"}},
              {"rows", rows_}}},
            {"summary", ""}};
  }

  void write() const {
    graph::SafetensorsWriter writer;
    for (const Predictions& p : predictions_) {
      const auto size = static_cast<int64_t>(p.graph.size());
      writer.add(p.name + "/graph", {size}, std::span<const int64_t>(p.graph));
      writer.add(p.name + "/score", {size}, std::span<const float>(p.score));
      writer.add(p.name + "/label", {size}, std::span<const int64_t>(p.label));
      writer.add(p.name + "/prediction", {size}, std::span<const int64_t>(p.prediction));
    }
    writer.metadata("store", data_.store.content_hash());
    writer.write(request_.run_dir / "predictions.safetensors");
  }

 private:
  bool is_wanted(const std::string& part) const {
    const std::vector<std::string>& wanted = options_.parts;
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), part) != wanted.end();
  }

  Predictions& score(const Model& model, const std::string& part) {
    Predictions& p = predictions_.emplace_back();
    p.name = model.step + "/" + part;
    p.graph = data_.part(part);
    p.label = data_.labels(p.graph);
    const auto total = static_cast<int64_t>(p.graph.size());
    p.score = train::score_all(
        data_.store, p.graph, model.scorer->with_edge_attr(),
        [&](const graph::GraphBatch& batch) { return model.scorer->score(batch); },
        [&](int64_t done) {
          const ExitCode code = host_.cancelled();
          if (code != ExitCode::kOk) throw Error(code, "stopped while scoring " + p.name);
          host_.progress(p.name, "graph", done, total);
        });
    return p;
  }

  /// The threshold comes from validation alone; a classifier has one of its own.
  void decide(const Model& model, const Predictions& val) {
    const Labelled l = labelled(val);
    const train::Threshold best = train::best_threshold(l.scores, l.labels);
    youden_j_ = best.youden_j;
    if (l.both()) {
      decision_ = {best.value, "val"};
    } else if (!val.score.empty()) {
      decision_ = {quantile(val.score, options_.fallback_quantile), "val quantile"};
      host_.log("warning", model.step +
                               ": validation has not both classes; the threshold is a quantile of "
                               "its scores");
    } else {
      decision_ = {0.5, "fixed"};
      host_.log("warning", model.step + ": there is no validation data; the threshold is 0.5");
    }
    calibrated_ = decision_.threshold;
    if (model.kind == "gat") decision_ = {0.5, "fixed"};
  }

  void report(const Model& model, Predictions& p, const std::string& part) {
    for (const float s : p.score) p.prediction.push_back(s > decision_.threshold ? 1 : 0);
    const bool is_val = part == "val";
    const std::string shown = part.rfind("test/", 0) == 0 ? part.substr(5) : part;
    json& place = is_val ? metrics_[model.step] : metrics_["test"][model.step][shown];
    const Labelled l = labelled(p);
    if (l.labels.empty()) {
      place = {{"n_samples", p.score.size()}};
      return;
    }
    place = metrics_of(l, decision_, calibrated_);
    json& core = place["core"];
    if (is_val) {
      core["optimal_threshold"] = calibrated_;
      core["youden_j"] = youden_j_;
    } else {
      core["threshold_from_val"] = calibrated_;
    }
    rows_.push_back(row_of(is_val ? model.step : "", shown, core, is_val));
  }

  const EvaluateOptions& options_;
  const train::Data& data_;
  const Request& request_;
  const Host& host_;
  std::deque<Predictions> predictions_;  // references stay valid
  Decision decision_;
  double calibrated_ = 0, youden_j_ = 0;
  json metrics_ = json::object();
  json rows_ = json::array();
};

}  // namespace

StageInfo Evaluate::info() {
  StageInfo out;
  out.name = "evaluate";
  out.summary = "Score trained models on validation and test data, the threshold from validation.";
  out.inputs = {{"graphs", "graphs"}, {"models", "model", true, true}};
  out.outputs = {{"metrics", "metrics"}};
  return out;
}

json Evaluate::plan(const Options&, const Request&) { return json::object(); }

json Evaluate::run(const Options& options, const Request& request, Host& host) {
  const train::Data data = train::open_data(request.input("graphs").path);
  const torch::Device device = train::prepare(train::TrainOptions(), request);
  for (const std::string& part : options.parts) {
    if (!data.split.parts.contains(part)) {
      throw Error(ExitCode::kUsage, "parts: the data has no part " + part,
                  "kdgat data inspect shows the parts");
    }
  }
  request.input("models");
  Evaluation evaluation(options, data, request, host);
  for (const Input& input : request.inputs.at("models")) {
    evaluation.add(load(input, data, device));
  }
  evaluation.write();
  return evaluation.result();
}

}  // namespace kdgat::evaluate
