// Graphs of which numbers are predicted, through the executable: import, training, evaluation,
// scoring, and what is refused.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "engine/file/safetensors.h"
#include "support/programs/cli.h"

using kdgat::file::SafetensorsFile;

namespace {

constexpr int kNodes = 12;
constexpr double kNoise = 0.05;

/// Graphs whose number is the share of edges that join nodes of one kind, and noise: no node says
/// it, and no count of kinds. `second`: of another target, which half of the graphs lack.
void write_graphs(const fs::path& folder, int graphs, bool second, unsigned seed) {
  fs::create_directories(folder);
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, kNoise);
  std::ofstream table(folder / "graphs.csv"), nodes(folder / "nodes.csv"),
      edges(folder / "edges.csv");
  table << "graph," << (second ? "target_share,target_large\n" : "label\n");
  nodes << "graph,node,a,b\n";
  edges << "graph,source,target\n";
  for (int g = 0; g < graphs; ++g) {
    std::vector<int> kind(kNodes);
    for (int n = 0; n < kNodes; ++n) {
      kind[static_cast<std::size_t>(n)] = static_cast<int>(random() % 2);
      const bool is_a = kind[static_cast<std::size_t>(n)] == 0;
      nodes << g << "," << n << "," << (is_a ? "1,0" : "0,1") << "\n";
    }
    // Half of the neighbours are chosen by a bias of the graph towards the same kind.
    const double bias = static_cast<double>(random() % 1000) / 1000;
    int same = 0, all = 0;
    for (int n = 0; n < kNodes; ++n) {
      for (int tries = 0; tries < 3; ++tries) {
        const int other = static_cast<int>(random() % kNodes);
        const bool alike =
            kind[static_cast<std::size_t>(n)] == kind[static_cast<std::size_t>(other)];
        const double drawn = static_cast<double>(random() % 1000) / 1000;
        if (other <= n || drawn > (alike ? bias : 1 - bias)) continue;
        edges << g << "," << n << "," << other << "\n" << g << "," << other << "," << n << "\n";
        same += alike ? 1 : 0;
        ++all;
      }
    }
    const double value = (all > 0 ? static_cast<double>(same) / all : 0.5) + noise(random);
    table << g << "," << value;
    if (second) table << "," << (g % 2 == 0 ? std::to_string(1000 + 300 * value) : "");
    table << "\n";
  }
}

const char* const kNetwork =
    " conv=sage norm=batch hidden=24 layers=2 fc_layers=2 dropout=0 lr=0.01 batch_size=32 "
    "min_steps_per_epoch=1 max_epochs=40 --threads 1 ";

std::vector<std::vector<std::string>> rows_of(const std::string& text) {
  std::vector<std::vector<std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line + ",");
    std::vector<std::string>& row = out.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return out;
}

}  // namespace

TEST_CASE("a number that edges alone tell is learned, evaluated and scored", "[cli][regression]") {
  const ScratchFolder scratch;
  write_graphs(scratch / "own", 400, false, 3);
  CHECK_THAT(must_kdgat("data import own -o store", scratch.path()).out,
             Catch::Contains("400 graphs with a number to predict: label"));
  CHECK_THAT(must_kdgat("data inspect store", scratch.path()).out,
             Catch::Contains("400 graphs with a number to predict: label"));
  std::ofstream(scratch / "two.yaml") << R"(
dataset: own
stages:
  classifier: {}
  without edges: {stage: classifier, needs: data, conv: none}
  evaluate: {needs: [data, classifier, without edges]}
)";
  const CommandResult run =
      must_kdgat("run two.yaml --data own --json" + std::string(kNetwork), scratch.path());
  json evaluated;
  const json answer = json::parse(run.out);
  for (const json& step : answer.at("steps")) {
    if (step.at("step") == "evaluate") evaluated = step.at("result");
  }
  const auto rmse = [&](const char* model) {
    return evaluated.at("metrics")
        .at("test")
        .at(model)
        .at("test")
        .at("core")
        .at("rmse")
        .get<double>();
  };
  CHECK(rmse("classifier") < 2 * kNoise);
  CHECK(rmse("without edges") > 0.9 * rmse("mean of training"));
  CHECK(rmse("mean of training") > 3 * kNoise);
  CHECK(evaluated.at("table").at("columns") ==
        json({"part", "model", "graphs", "MAE", "RMSE", "R2"}));

  // A run scores what evaluate judged, in the units of the data.
  const fs::path folder = newest_run(scratch / "runs" / "own");
  const auto predictions = SafetensorsFile::open(folder / "evaluate" / "predictions.safetensors");
  const json tests = evaluated.at("metrics").at("test").at("classifier").at("test").at("core");
  const int64_t count = tests.at("n_samples");
  const auto graph = predictions.require<int64_t>("classifier/test/graph", {count});
  const auto said = predictions.require<float>("classifier/test/prediction", {count, 1});
  const auto scored = rows_of(
      must_kdgat("score own --run " + folder.string() + " --model classifier", scratch.path()).out);
  REQUIRE(scored.size() == 401);
  CHECK(scored[0] == std::vector<std::string>{"graph", "label", "predicted label"});
  const auto store = SafetensorsFile::open(scratch / "store" / "graphs.safetensors");
  const auto place = store.require<int64_t>("row_begin", {400});
  double square = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto& row =
        scored.at(static_cast<std::size_t>(place[static_cast<std::size_t>(graph[i])]) + 1);
    CHECK(std::stod(row.at(2)) == Approx(said[i]).margin(1e-5));
    square += std::pow(std::stod(row.at(2)) - std::stod(row.at(1)), 2);
  }
  CHECK(std::sqrt(square / static_cast<double>(count)) == Approx(rmse("classifier")).epsilon(1e-3));

  // Of graphs without the number it is predicted, too.
  write_graphs(scratch / "further", 5, false, 9);
  std::ofstream(scratch / "further/graphs.csv") << "graph\n0\n1\n2\n3\n4\n";
  const auto further = rows_of(
      must_kdgat("score further --run " + folder.string() + " --model classifier", scratch.path())
          .out);
  REQUIRE(further.size() == 6);
  CHECK(further[1].at(1).empty());
  CHECK(std::isfinite(std::stod(further[1].at(2))));

  // A second run keeps the steps, and another loss makes them anew.
  const json again = json::parse(
      must_kdgat("plan two.yaml --data own --json" + std::string(kNetwork), scratch.path()).out);
  for (const json& step : again.at("steps")) CHECK(step.at("action") == "keep");
}

TEST_CASE("several numbers of very different size are learned together, where they are known",
          "[cli][regression]") {
  const ScratchFolder scratch;
  write_graphs(scratch / "own", 300, true, 5);
  CHECK_THAT(must_kdgat("data import own -o store", scratch.path()).out,
             Catch::Contains("300 graphs with 2 numbers to predict: target_share, target_large"));
  std::ofstream(scratch / "two.yaml") << "dataset: own\nstages: {classifier: , evaluate: }\n";
  for (const char* loss : {"mse", "mae", "huber"}) {
    INFO(loss);
    const json answer =
        json::parse(must_kdgat("run two.yaml --data store --json --root " + std::string(loss) +
                                   " regression_loss=" + loss + kNetwork,
                               scratch.path())
                        .out);
    const json targets = answer.at("steps")
                             .at(1)
                             .at("result")
                             .at("metrics")
                             .at("test")
                             .at("classifier")
                             .at("test")
                             .at("additional")
                             .at("targets");
    CHECK(targets.at("target_share").at("r2").get<double>() > 0.7);
    CHECK(targets.at("target_large").at("r2").get<double>() > 0.6);
    CHECK(targets.at("target_large").at("rmse").get<double>() > 10);
    CHECK(targets.at("target_large").at("n_samples") < targets.at("target_share").at("n_samples"));
  }
}

TEST_CASE("what numbers to predict cannot have is refused with the place", "[cli][regression]") {
  const ScratchFolder scratch;
  write_graphs(scratch / "own", 40, false, 7);
  must_kdgat("data import own -o store", scratch.path());
  check_refused(
      {{"classifier loss=focal", "loss=focal is for classes; these graphs have numbers to predict"},
       {"classifier class_weights=balanced", "class_weights=balanced is for classes"},
       {"classifier sampling=balanced", "sampling=balanced is for classes"},
       {"classifier monotone=true conv=gin", "monotone=true is for classes"},
       {"classifier conv=gine", "conv=gine reads edge features, and the edges have none"},
       {"autoencoder", "graphs of 2 classes, this is graphs without classes"},
       {"detector", "reads data of the domain can"}},
      "store", scratch.path());
  const CommandResult as_classes =
      run_kdgat("data import own -o other task=classes", scratch.path());
  CHECK(as_classes.exit_code == 3);
  CHECK_THAT(as_classes.err, Catch::Contains("graphs.csv:2: label is ") &&
                                 Catch::Contains("task=regression predicts numbers"));
  std::ofstream(scratch / "own/graphs.csv", std::ios::app) << "40,unknown\n";
  std::ofstream(scratch / "own/nodes.csv", std::ios::app) << "40,0,1,0\n";
  const CommandResult as_text =
      run_kdgat("data import own -o other task=regression", scratch.path());
  CHECK(as_text.exit_code == 3);
  CHECK_THAT(as_text.err, Catch::Contains("graphs.csv:42") &&
                              Catch::Contains("unknown, not a number to be predicted"));
}
