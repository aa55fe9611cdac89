#include "evaluate/class_evaluation.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/file/safetensors.h"
#include "engine/model/model_file.h"
#include "engine/objective/class_scorer.h"
#include "engine/setup/trained_model.h"
#include "engine/train/metrics/class_metrics.h"
#include "engine/train/scoring.h"
#include "evaluate/parts.h"
#include "kdgat/text.h"

namespace kdgat::evaluate {
namespace {

using nlohmann::json;

constexpr const char* kMajority = "majority class";

/// What a model says of graphs that have a label.
struct ClassPredictions {
  std::vector<int64_t> graph, label, prediction;
  std::vector<float> probability;  ///< [graphs, classes]
};

class ClassEvaluation {
 public:
  /// `wanted`: test parts; empty = all. All outlive it.
  ClassEvaluation(const train::Data& data, const std::vector<std::string>& wanted, const Host& host)
      : data_(data), classes_(data.store.targets()->classes), wanted_(wanted), host_(host) {}

  void add(const Input& input, torch::Device device) {
    const model::TrainedModel made = model::open_model(input.path);
    model::require_layout(made, train::layout_of(data_.store),
                          "a model can only judge graphs with the features and classes it was "
                          "trained with");
    objective::ClassScorer scorer(made, device);
    models_.push_back({input.step, model::parameters_of(made.file)});
    for (const std::string& part : parts()) {
      ClassPredictions& p = kept_.emplace_back(labelled_graphs(part));
      const std::string name = input.step + "/" + shown_part(part);
      const auto total = static_cast<int64_t>(p.graph.size());
      p.probability = train::score_all(
          data_.store, p.graph, scorer.with_edge_attr(),
          [&](const graph::GraphBatch& batch) { return scorer.probabilities(batch); },
          [&](int64_t values) {
            if (const ExitCode code = host_.cancelled(); code != ExitCode::kOk) {
              throw Error(code, "stopped while judging " + name);
            }
            host_.progress(name, "graph", values / count(), total);
          });
      p.prediction = predicted(p);
      write(input.step + "/" + part, p);
      report(input.step, part, p);
    }
  }

  /// The most frequent class of the training graphs, whatever the graph.
  void add_baseline() {
    std::vector<int64_t> graphs(classes_.size(), 0);
    for (const int64_t label : data_.labels(train::labelled(data_, data_.part("train")))) {
      ++graphs[static_cast<std::size_t>(label)];
    }
    const auto most = std::max_element(graphs.begin(), graphs.end()) - graphs.begin();
    for (const std::string& part : parts()) {
      ClassPredictions p = labelled_graphs(part);
      p.probability.assign(p.graph.size() * classes_.size(), 0.0F);
      for (std::size_t g = 0; g < p.graph.size(); ++g) {
        p.probability[g * classes_.size() + static_cast<std::size_t>(most)] = 1;
      }
      report(kMajority, part, p);
    }
  }

  /// Writes predictions.safetensors into `folder`, too.
  json result(const std::filesystem::path& folder) {
    writer_.metadata("store", data_.store.content_hash());
    writer_.metadata("classes", Host::dump(classes_));
    writer_.write(folder / "predictions.safetensors");
    StageResult out = result_of(metrics_, train::metrics_of_classes(), parts(), rows_, kMajority);
    out.tables.push_back({{"class", "part", "model", "graphs", "precision", "recall", "F1", "AUC"},
                          std::move(class_rows_)});
    out.tables.push_back({{"model", "parameters"}, models_});
    return out;
  }

 private:
  int64_t count() const { return static_cast<int64_t>(classes_.size()); }

  std::vector<std::string> parts() const {
    std::vector<std::string> out = parts_to_judge(data_, wanted_);
    std::erase_if(out,
                  [&](const std::string& part) { return labelled_graphs(part).graph.empty(); });
    return out;
  }

  ClassPredictions labelled_graphs(const std::string& part) const {
    ClassPredictions out;
    out.graph = train::labelled(data_, data_.part(part));
    out.label = data_.labels(out.graph);
    return out;
  }

  std::vector<int64_t> predicted(const ClassPredictions& p) const {
    std::vector<int64_t> out;
    for (auto row = p.probability.begin(); row != p.probability.end(); row += count()) {
      out.push_back(std::max_element(row, row + count()) - row);
    }
    return out;
  }

  void report(const std::string& step, const std::string& part, const ClassPredictions& p) {
    const json said = train::class_report(p.probability, p.label, count());
    json& place = part == "val" ? metrics_[step] : metrics_["test"][step][shown_part(part)];
    place["core"] = said.at("core");
    place["additional"]["confusion"] = said.at("confusion");
    json row = {shown_part(part), step, p.graph.size()};
    for (const train::ClassMetric* one : train::in_tables(train::metrics_of_classes())) {
      row.push_back(one->text(said.at("core").at(std::string(one->name))));
    }
    rows_.push_back(std::move(row));
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const json& of_class = said.at("classes").at(c);
      place["additional"]["classes"][classes_[c]] = of_class;
      if (step == kMajority || part == "val") continue;
      json cells = {classes_[c], shown_part(part), step, of_class.at("n_samples")};
      for (const char* name : {"precision", "recall", "f1", "auc"}) {
        cells.push_back(format_number("%.3f", of_class.at(name)));
      }
      class_rows_.push_back(std::move(cells));
    }
  }

  /// `p` must stay: it is written at the end.
  void write(const std::string& name, const ClassPredictions& p) {
    const auto size = static_cast<int64_t>(p.graph.size());
    writer_.add(name + "/graph", {size}, std::span<const int64_t>(p.graph));
    writer_.add(name + "/label", {size}, std::span<const int64_t>(p.label));
    writer_.add(name + "/prediction", {size}, std::span<const int64_t>(p.prediction));
    writer_.add(name + "/probability", {size, count()}, std::span<const float>(p.probability));
  }

  const train::Data& data_;
  const std::vector<std::string>& classes_;
  const std::vector<std::string>& wanted_;
  const Host& host_;
  file::SafetensorsWriter writer_;
  std::deque<ClassPredictions> kept_;  // references stay valid
  json metrics_ = json::object();
  std::vector<json> rows_, class_rows_, models_;
};

}  // namespace

json evaluate_classes(const EvaluateOptions& options, const train::Data& data,
                      const Request& request, const Host& host) {
  return evaluate_all<ClassEvaluation>(options, data, request, host);
}

}  // namespace kdgat::evaluate
