// evaluate with ablate=structure: models beside themselves on graphs with other edges.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <array>
#include <fstream>

#include "classifier/classifier.h"
#include "engine/arrays/random.h"
#include "engine/file/safetensors.h"
#include "engine/train/metrics/metrics.h"
#include "evaluate/ablation.h"
#include "evaluate/evaluate.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;
using Catch::Contains;
using nlohmann::json;

namespace {

enum class Tell { kEdges, kNodes };

/// Graphs of eight nodes that send two edges each and receive two; every second one is an attack,
/// but for the beginnings of the test files. What tells them apart are edges alone (between unlike
/// nodes in attacks, between like ones else), or nodes alone (all nodes of a graph are alike). A
/// training file and three of the test part.
struct TellingGraphs : test::StageData {
  explicit TellingGraphs(Tell tell) {
    std::filesystem::create_directories(folder / "data");
    test::RandomGraphs wanted;
    wanted.files = {160, kTestGraphs, kTestGraphs, kTestGraphs};
    wanted.test_scenarios = {"test_01", "test_01", "test_01"};
    wanted.node_features = 11;
    graph::GraphStoreData data = test::random_graphs(wanted);
    data.x.clear();
    data.edge_source.clear();
    data.edge_target.clear();
    data.edge_attr.clear();
    arrays::Random random(5);
    for (std::size_t g = 0; g < data.y.size(); ++g) {
      const bool is_beginning = g >= 160 && (g - 160) % kTestGraphs < kBenign;
      data.y[g] = is_beginning ? 0 : static_cast<int32_t>(g % 2);
      add_graph(tell, data.y[g] == 1, static_cast<float>(random.uniform()), data);
      data.node_ptr[g + 1] = data.node_ptr[g] + kNodes;
      data.edge_ptr[g + 1] = data.edge_ptr[g] + 2 * kNodes;
    }
    graph::write_graph_store(store_file(), data);
    graph::SplitOptions options;
    options.kind = "random";
    graph::write_split(folder / "data" / "split.safetensors",
                       graph::make_split(graph::GraphStore::open(store_file()), options));
  }

  static void add_graph(Tell tell, bool is_attack, float noise, graph::GraphStoreData& data) {
    for (int32_t n = 0; n < kNodes; ++n) {
      const bool is_first = n < kNodes / 2;
      data.x.push_back(0);
      data.x.push_back(tell == Tell::kEdges ? (is_first ? 1.0F : -1.0F)
                                            : noise + (is_attack ? 0.5F : -0.5F));
      for (int f = 2; f < 11; ++f) data.x.push_back(0.1F * noise);
      std::set<int32_t> targets;
      for (const int32_t step : {1, 2}) {
        const int32_t within = (n + step) % (kNodes / 2);
        const bool to_first = tell == Tell::kEdges ? is_first != is_attack : is_first;
        targets.insert(within + (to_first ? 0 : kNodes / 2));
      }
      for (const int32_t target : targets) {
        data.edge_source.push_back(n);
        data.edge_target.push_back(target);
        data.edge_attr.append(std::array{noise, static_cast<float>(n)});
      }
    }
  }

  json facts() const override { return graph::GraphStore::open(store_file()).facts(); }

  void train_classifier() {
    classifier::ClassifierOptions options = test::small_classifier();
    options.max_epochs = 30;
    classifier::Classifier::run(options, request("gat"), fake.host);
  }

  json evaluated(const std::string& ablate, int64_t seed = 42, const json& more = json::object()) {
    Request asked = request("evaluate", seed);
    asked.inputs["models"] = {{"gat", "model", folder / "gat", {}}};
    json values = {{"ablate", ablate}};
    values.update(more);
    return evaluate::Evaluate::run(load_options<evaluate::EvaluateOptions>(values), asked,
                                   fake.host);
  }

  static constexpr int32_t kNodes = 8;
  static constexpr int64_t kTestGraphs = 48, kBenign = 25;
};

std::vector<std::string> column(const json& table, std::size_t index) {
  std::vector<std::string> out;
  for (const json& row : table.at("rows")) out.push_back(row.at(index));
  return out;
}

}  // namespace

TEST_CASE("what a model learned from edges is lost when they are rewired", "[stages]") {
  TellingGraphs data(Tell::kEdges);
  data.train_classifier();
  const json result = data.evaluated("structure");
  const json& metrics = result.at("metrics");
  const json& of_part = metrics.at("rewired").at("test_01").at("gat");
  CHECK(of_part.at("auc") > 0.99);
  CHECK(of_part.at("auc_rewired") < 0.7);
  CHECK(of_part.at("lost_low") > 0);
  CHECK(of_part.at("lost_low") <= of_part.at("lost"));
  CHECK(of_part.at("lost") <= of_part.at("lost_high"));
  CHECK(of_part.at("auc") == metrics.at("test").at("gat").at("test_01").at("core").at("auc"));
  CHECK(of_part.at("auc_rewired").get<double>() ==
        Approx(metrics.at("test").at("gat rewired").at("test_01").at("core").at("auc")));
  CHECK_THAT(data.fake.log, Contains("test_01: AUC of gat 1.000 with the edges as they are, ") &&
                                Contains("over files") && Contains("; the graph matters\n"));
  CHECK_THAT(result.at("summary").get<std::string>(),
             Contains("AUC lost with edges rewired: gat 0."));

  // Beside the model, in the order of the models, and decided by the same threshold.
  CHECK(column(result.at("table"), 1) ==
        std::vector<std::string>{"gat", "gat rewired", "gat", "gat rewired"});
  CHECK(metrics.at("gat rewired").at("core").at("threshold") ==
        metrics.at("gat").at("core").at("threshold"));
  const json& last = result.at("tables").back();
  CHECK(column(last, 0) == std::vector<std::string>{"val", "test_01"});
  CHECK(column(last, 6).back() == "the graph matters");
  // One training file: its validation windows say nothing of others.
  CHECK(metrics.at("rewired").at("val").at("gat").at("lost_low").is_null());
  // Rewired models are listed and recorded, but no headline is made of them.
  bool is_listed = false;
  for (const json& figure : result.at("figures")) {
    if (figure.at("model") != "gat rewired") continue;
    is_listed = is_listed || figure.value("place", 0) > 0;
    CHECK(figure.value("headline", 0) == 0);
    CHECK_FALSE(figure.value("tile", false));
  }
  CHECK(is_listed);
  const auto file = file::SafetensorsFile::open(data.folder / "evaluate/predictions.safetensors");
  CHECK(file.require<float>("gat rewired/test/test_01/score", {144}).size() == 144);
  std::ifstream curves(data.folder / "evaluate" / "curves.json");
  CHECK(json::parse(curves).at("gat rewired").contains("test_01"));

  SECTION("the same by the same seed, and otherwise by another") {
    CHECK(data.evaluated("structure").at("metrics") == metrics);
    const json other = data.evaluated("structure", 43).at("metrics");
    CHECK(other.at("test").at("gat") == metrics.at("test").at("gat"));
    CHECK(other.at("rewired") != metrics.at("rewired"));
  }
  SECTION("not asked for, nothing of it is there") {
    const json plain = data.evaluated("none");
    CHECK_FALSE(plain.at("metrics").contains("rewired"));
    CHECK(plain.at("metrics").at("test").at("gat") == metrics.at("test").at("gat"));
    CHECK(column(plain.at("table"), 1) == std::vector<std::string>{"gat", "gat"});
  }
}

TEST_CASE("where edges say nothing a model has the same figures without them", "[stages]") {
  TellingGraphs data(Tell::kNodes);
  data.train_classifier();
  const json metrics = data.evaluated("structure").at("metrics");
  const json& of_part = metrics.at("rewired").at("test_01").at("gat");
  CHECK(of_part.at("auc") > 0.8);
  CHECK(of_part.at("lost").get<double>() == Approx(0).margin(1e-3));
  CHECK_THAT(data.fake.log, Contains("no sign that the graph matters"));
  const json& whole = metrics.at("test").at("gat").at("test_01").at("core");
  const json& rewired = metrics.at("test").at("gat rewired").at("test_01").at("core");
  CHECK(whole.at("f1").get<double>() == Approx(rewired.at("f1").get<double>()).margin(1e-3));
}

TEST_CASE("thresholds of files stay as they were found with the edges of the log", "[stages]") {
  TellingGraphs data(Tell::kEdges);
  data.train_classifier();
  const json metrics =
      data.evaluated("structure", 42, {{"calibrate", {"test_01"}}}).at("metrics").at("test");
  const json &whole = metrics.at("gat").at("test_01").at("calibrated"),
             &rewired = metrics.at("gat rewired").at("test_01").at("calibrated");
  CHECK(rewired.at("calibration_windows") == 3 * TellingGraphs::kBenign);
  REQUIRE(whole.at("files").size() == 3);
  for (std::size_t f = 0; f < 3; ++f) {
    const json &of_whole = whole.at("files")[f], &of_rewired = rewired.at("files")[f];
    CHECK(of_rewired.at("raw_threshold") == of_whole.at("raw_threshold"));
    CHECK(of_rewired.at("n_samples") == of_whole.at("n_samples"));
  }
  CHECK(whole.at("f1") > rewired.at("f1"));
}

TEST_CASE("intervals of what is lost are of files drawn for both alike", "[stages]") {
  // Four files; of the second two the rewired scores are the same, of the others reversed.
  const std::vector<int32_t> source_of = {0, 0, 1, 1, 2, 2, 3, 3};
  evaluate::Predictions whole, rewired;
  whole.part = rewired.part = "test/x";
  whole.graph = rewired.graph = {0, 1, 2, 3, 4, 5, 6, 7};
  whole.label = rewired.label = {0, 1, 0, 1, 0, 1, 0, 1};
  whole.raw = {0, 1, 0, 1, 0, 1, 0, 1};
  rewired.raw = {1, 0, 1, 0, 0, 1, 0, 1};
  evaluate::Ablation ablation(source_of);
  ablation.add("m", whole, rewired);
  ablation.add("same", whole, whole);
  StageResult result;
  ablation.finish(result);
  const json& m = result.metrics.at("rewired").at("x").at("m");
  CHECK(m.at("auc") == 1);
  CHECK(m.at("auc_rewired").get<double>() == Approx(train::auc(rewired.raw, rewired.label)));
  // All four of one kind are drawn once in sixteen times: the interval reaches from one end to the
  // other.
  CHECK(m.at("lost_low") == 0);
  CHECK(m.at("lost_high") == 1);
  const json& same = result.metrics.at("rewired").at("x").at("same");
  CHECK(same.at("lost_low") == 0);
  CHECK(same.at("lost_high") == 0);
  CHECK_THAT(ablation.sentences().at(1), Contains("no sign that the graph matters"));

  evaluate::Ablation none(source_of);
  whole.label = rewired.label = {0, 0, 0, 0, 0, 0, 0, 0};
  none.add("m", whole, rewired);
  CHECK(none.sentences().empty());
}
