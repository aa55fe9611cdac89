#include "classify/classify.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/core/option_values.h"
#include "engine/data/graphs/graphs_import.h"
#include "engine/graph/graph_arrays.h"
#include "engine/model/model_file.h"
#include "engine/objective/class_scorer.h"
#include "engine/objective/load_scorer.h"
#include "engine/objective/number_objective.h"
#include "engine/setup/trained_model.h"
#include "kdgat/kinds.h"
#include "kdgat/text.h"

namespace kdgat::classify {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A model, and what it says of each graph.
class Said {
 public:
  explicit Said(const model::TrainedModel& made)
      : data_(made.header.data), model_(made.header.name), path_(made.path()) {}
  virtual ~Said() = default;
  Said(const Said&) = delete;
  Said& operator=(const Said&) = delete;

  /// train::layout_of() the graphs that the model was trained on.
  const json& made_for() const { return data_; }
  virtual std::vector<std::string> columns() const = 0;
  virtual bool with_edge_attr() const = 0;
  virtual void read(const graph::GraphBatch& batch) = 0;
  /// Of graph `row` of the batch, which is `g` of the graphs: values by column.
  virtual void add(std::size_t row, const graph::GraphStoreData& graphs, std::size_t g,
                   json& values) const = 0;
  virtual json metrics() const = 0;
  virtual std::string words() const = 0;

 protected:
  /// The texts of a list that the file has.
  std::vector<std::string> names(const char* key) const {
    const json found = data_.value(key, json());
    const bool are_names =
        found.is_array() &&
        std::all_of(found.begin(), found.end(), [](const json& one) { return one.is_string(); });
    if (are_names) return found.get<std::vector<std::string>>();
    throw Error(ExitCode::kData,
                path_.string() + ": a " + model_ + ", and not a model of labelled graphs",
                "kdgat run --preset graphs --data FOLDER trains one");
  }
  void require_count(const char* of, std::size_t named, int64_t said) const {
    if (static_cast<int64_t>(named) == said) return;
    throw Error(ExitCode::kData, path_.string() + ": names " + std::to_string(named) + " " + of +
                                     " of " + std::to_string(said));
  }

 private:
  json data_;
  std::string model_;
  fs::path path_;
};

/// A class, and its probability or an error.
class SaidOfClasses : public Said {
 public:
  SaidOfClasses(const model::TrainedModel& made, torch::Device device)
      : Said(made), scorer_(made, device), classes_(names("classes")) {
    require_count("classes", classes_.size(), scorer_.classes());
    if (scorer_.autoencoder() != nullptr) {
      numbers_ = {"error"};
      return;
    }
    for (const std::string& name : classes_) numbers_.push_back("p " + name);
  }

  std::vector<std::string> columns() const override {
    std::vector<std::string> out = {"graph", "label", "predicted"};
    out.insert(out.end(), numbers_.begin(), numbers_.end());
    return out;
  }
  bool with_edge_attr() const override { return scorer_.with_edge_attr(); }
  void read(const graph::GraphBatch& batch) override {
    objective::AutoencoderObjective* autoencoder = scorer_.autoencoder();
    rows_ = (autoencoder != nullptr ? autoencoder->score(batch) : scorer_.probabilities(batch))
                .contiguous();
  }
  void add(std::size_t row, const graph::GraphStoreData& graphs, std::size_t g,
           json& values) const override {
    const float* of_row = rows_.const_data_ptr<float>() + row * numbers_.size();
    values["predicted"] = classes_[predicted({of_row, numbers_.size()})];
    values["label"] = graphs.y[g] < 0
                          ? ""
                          : graphs.sections.targets->classes[static_cast<std::size_t>(graphs.y[g])];
    for (std::size_t c = 0; c < numbers_.size(); ++c) values[numbers_[c]] = of_row[c];
  }
  json metrics() const override { return {{"classes", classes_.size()}}; }
  std::string words() const override {
    return "each of " + std::to_string(classes_.size()) + " classes";
  }

 private:
  std::size_t predicted(std::span<const float> row) const {
    if (numbers_.size() == 1) return static_cast<double>(row[0]) > scorer_.threshold() ? 1 : 0;
    return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }

  mutable objective::ClassScorer scorer_;
  std::vector<std::string> classes_, numbers_;
  at::Tensor rows_;
};

/// Numbers: of each target what the input has, and what is predicted.
class SaidOfNumbers : public Said {
 public:
  SaidOfNumbers(const model::TrainedModel& made, torch::Device device)
      : Said(made),
        scorer_(objective::load_scorer(made.path(), device)),
        numbers_(dynamic_cast<objective::NumberObjective*>(scorer_.get())),
        targets_(names("targets")) {
    require_count("targets", targets_.size(),
                  numbers_ == nullptr ? 0 : numbers_->model()->config().classes);
  }

  std::vector<std::string> columns() const override {
    std::vector<std::string> out = {"graph"};
    for (const std::string& name : targets_) {
      out.push_back(name);
      out.push_back("predicted " + name);
    }
    return out;
  }
  bool with_edge_attr() const override { return numbers_->with_edge_attr(); }
  void read(const graph::GraphBatch& batch) override { rows_ = numbers_->predict(batch); }
  void add(std::size_t row, const graph::GraphStoreData& graphs, std::size_t g,
           json& values) const override {
    const std::vector<float>& given = graphs.sections.targets->values;
    const bool is_given = given.size() == targets_.size() * graphs.y.size();
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      values["predicted " + targets_[t]] = rows_.const_data_ptr<float>()[row * targets_.size() + t];
      const float value = is_given ? given[g * targets_.size() + t] : std::nanf("");
      values[targets_[t]] = std::isnan(value) ? json("") : json(value);
    }
  }
  json metrics() const override { return {{"targets", targets_.size()}}; }
  std::string words() const override {
    return targets_.size() == 1 ? "a number predicted of each"
                                : std::to_string(targets_.size()) + " numbers predicted of each";
  }

 private:
  std::unique_ptr<train::Scorer> scorer_;
  objective::NumberObjective* numbers_;
  std::vector<std::string> targets_;
  at::Tensor rows_;
};

std::unique_ptr<Said> load(const fs::path& given, torch::Device device) {
  const model::TrainedModel made = model::open_model(given);
  if (made.header.data.contains("targets")) return std::make_unique<SaidOfNumbers>(made, device);
  return std::make_unique<SaidOfClasses>(made, device);
}

/// The graphs of `source`, read as those that the model was trained on.
graph::GraphStoreData read(const ClassifyOptions& options, const json& made_for,
                           const Request& request, const Host& host) {
  const fs::path source = request.input("graphs").path;
  const std::optional<data::GraphsInput> input = data::find_graphs(source, options.format);
  if (!input) {
    throw Error(ExitCode::kData,
                source.string() +
                    ": no labelled graphs: neither tables, a TUDataset folder nor "
                    "arrays",
                "kdgat data import --help shows the forms");
  }
  auto how = data::own_options<data::GraphsOptions>(made_for.value("import", json::object()));
  how.task = made_for.contains("targets") ? "regression" : "classes";
  data::Notes warnings;
  const auto done = [&host](int64_t) {
    if (const ExitCode code = host.cancelled(); code != ExitCode::kOk) {
      throw Error(code, "interrupted while graphs were read");
    }
  };
  graph::GraphStoreData out = data::import_graphs(
      {*input, how, [&] { return host.cancelled() != ExitCode::kOk; }, done, warnings, false}, {});
  for (const Diagnostic& warning : warnings) host.log("warning", warning.text());
  const json here = {{"node_features", out.node_feature_names},
                     {"edge_features", out.edge_feature_names}};
  for (const char* name : {"node_features", "edge_features"}) {
    if (made_for.value(name, json()) == here.at(name)) continue;
    throw Error(ExitCode::kData,
                source.string() + ": other " + (name[0] == 'n' ? "node" : "edge") +
                    " features than the model was trained with: " + here.at(name).dump() +
                    ", it takes " + made_for.value(name, json()).dump(),
                "give the graphs the same columns, in the same order");
  }
  return out;
}

}  // namespace

json Classify::run(const Options& options, const Request& request, Host& host) {
  const auto said = load(request.input("model").path, setup::prepare_scoring(request, host));
  const graph::GraphStoreData data = read(options, said->made_for(), request, host);
  const arrays::Column<int32_t> order = graph::target_order_of(data);
  const graph::GraphArrays arrays = graph::arrays_of(data, order);
  host.metrics("columns", 0, {{"columns", said->columns()}});

  std::vector<int64_t> ids(data.y.size());
  std::iota(ids.begin(), ids.end(), int64_t{0});
  std::sort(ids.begin(), ids.end(), [&](int64_t a, int64_t b) {
    return data.row_begin[static_cast<std::size_t>(a)] <
           data.row_begin[static_cast<std::size_t>(b)];
  });
  constexpr std::size_t kGraphs = 256;
  graph::GraphBatch batch;
  for (std::size_t first = 0; first < ids.size(); first += kGraphs) {
    if (const ExitCode code = host.cancelled(); code != ExitCode::kOk) {
      throw Error(code, "interrupted after " + std::to_string(first) + " graphs");
    }
    const auto some = std::span(ids).subspan(first, std::min(kGraphs, ids.size() - first));
    graph::gather(arrays, some, said->with_edge_attr(), batch);
    said->read(batch);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto g = static_cast<std::size_t>(some[i]);
      json values = {{"graph", data.row_begin[g]}};
      said->add(i, data, g, values);
      host.metrics("row", data.row_begin[g], values);
    }
  }
  json metrics = said->metrics();
  metrics["graphs"] = ids.size();
  return {{"metrics", std::move(metrics)},
          {"summary", grouped(std::ssize(ids)) + " graphs, " + said->words()}};
}

StageInfo Classify::info() {
  StageInfo out;
  out.summary = "Say how probable each class of labelled graphs is; used by kdgat score.";
  out.inputs.push_back({"model", kind::kModel});
  out.inputs.push_back({"graphs", kind::kData});
  out.name = "classify";
  return out;
}

json Classify::plan(const Options&, const Request&) { return json::object(); }

}  // namespace kdgat::classify
