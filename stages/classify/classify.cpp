#include "classify/classify.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
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
#include "engine/setup/trained_model.h"
#include "kdgat/kinds.h"
#include "kdgat/text.h"

namespace kdgat::classify {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A model and what its file says of graphs.
struct Model {
  objective::ClassScorer scorer;
  std::vector<std::string> classes;
  json data;  ///< train::layout_of() the graphs that it was trained on
  fs::path path;
};

Model load(const fs::path& given, torch::Device device) {
  const model::TrainedModel made = model::open_model(given);
  const json classes = made.header.data.value("classes", json());
  const bool are_names =
      classes.is_array() &&
      std::all_of(classes.begin(), classes.end(), [](const json& c) { return c.is_string(); });
  if (!are_names) {
    throw Error(
        ExitCode::kData,
        made.path().string() + ": a " + made.header.name + ", and not a model of labelled graphs",
        "kdgat run --preset graphs --data FOLDER trains one");
  }
  Model out{objective::ClassScorer(made, device), classes.get<std::vector<std::string>>(),
            made.header.data, made.path()};
  if (std::ssize(out.classes) != out.scorer.classes()) {
    throw Error(ExitCode::kData, made.path().string() + ": names " +
                                     std::to_string(out.classes.size()) + " classes of " +
                                     std::to_string(out.scorer.classes()));
  }
  return out;
}

/// The graphs of `source`, read as those that the model was trained on.
graph::GraphStoreData read(const ClassifyOptions& options, const Model& model,
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
  auto how = data::own_options<data::GraphsOptions>(model.data.value("import", json::object()));
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
    if (model.data.value(name, json()) == here.at(name)) continue;
    throw Error(ExitCode::kData,
                source.string() + ": other " + (name[0] == 'n' ? "node" : "edge") +
                    " features than the model was trained with: " + here.at(name).dump() +
                    ", it takes " + model.data.value(name, json()).dump(),
                "give the graphs the same columns, in the same order");
  }
  return out;
}

std::string column_of(const std::string& name) { return "p " + name; }

/// What is said of each graph beside its class: by name, a number for each of the batch, row by
/// row.
class Said {
 public:
  explicit Said(Model& model) : model_(model) {
    if (model.scorer.autoencoder() != nullptr) {
      columns_ = {"error"};
      return;
    }
    for (const std::string& name : model.classes) columns_.push_back(column_of(name));
  }

  const std::vector<std::string>& columns() const { return columns_; }
  void read(const graph::GraphBatch& batch) {
    objective::AutoencoderObjective* autoencoder = model_.scorer.autoencoder();
    rows_ =
        (autoencoder != nullptr ? autoencoder->score(batch) : model_.scorer.probabilities(batch))
            .contiguous();
  }
  /// Of graph `g` of the batch.
  std::span<const float> row(std::size_t g) const {
    return {rows_.const_data_ptr<float>() + g * columns_.size(), columns_.size()};
  }
  std::size_t predicted(std::span<const float> row) const {
    if (model_.scorer.autoencoder() != nullptr) {
      return static_cast<double>(row[0]) > model_.scorer.threshold() ? 1 : 0;
    }
    return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }

 private:
  Model& model_;
  std::vector<std::string> columns_;
  at::Tensor rows_;
};

}  // namespace

json Classify::run(const Options& options, const Request& request, Host& host) {
  Model model = load(request.input("model").path, setup::prepare_scoring(request, host));
  const graph::GraphStoreData data = read(options, model, request, host);
  const arrays::Column<int32_t> order = graph::target_order_of(data);
  const graph::GraphArrays arrays = graph::arrays_of(data, order);
  Said said(model);
  json columns = {"graph", "label", "predicted"};
  for (const std::string& name : said.columns()) columns.push_back(name);
  host.metrics("columns", 0, {{"columns", columns}});

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
    graph::gather(arrays, some, model.scorer.with_edge_attr(), batch);
    said.read(batch);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto g = static_cast<std::size_t>(some[i]);
      const std::span<const float> row = said.row(i);
      json values = {{"graph", data.row_begin[g]},
                     {"predicted", model.classes[said.predicted(row)]}};
      values["label"] =
          data.y[g] < 0 ? "" : data.sections.targets->classes[static_cast<std::size_t>(data.y[g])];
      for (std::size_t c = 0; c < row.size(); ++c) values[said.columns()[c]] = row[c];
      host.metrics("row", data.row_begin[g], values);
    }
  }
  return {{"metrics", {{"graphs", ids.size()}, {"classes", model.classes.size()}}},
          {"summary", grouped(std::ssize(ids)) + " graphs, each of " +
                          std::to_string(model.classes.size()) + " classes"}};
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
