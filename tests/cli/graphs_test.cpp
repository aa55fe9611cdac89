// Labelled graphs of several classes through the executable: training, evaluation, scoring,
// distillation, and what is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/file/safetensors.h"
#include "support/programs/cli.h"

using kdgat::file::SafetensorsFile;

namespace {

/// Three classes that edges alone tell apart, and a run of the preset on them.
struct ClassRun {
  ClassRun() {
    must("data synth --kind graphs -o own --graphs 240 --nodes 24 --classes 3 --seed 4");
    out = json::parse(
        must("run --preset graphs --data own max_epochs=30 --root nets --threads 1 --json").out);
    folder = newest_run(scratch / "nets" / "own");
  }
  CommandResult must(const std::string& words) const { return must_kdgat(words, scratch.path()); }
  json metrics_of(const std::string& step) const {
    for (const json& one : out.at("steps")) {
      if (one.at("step") == step) return one.at("result").at("metrics");
    }
    FAIL("no step " << step);
    return {};
  }

  ScratchFolder scratch;
  json out;
  fs::path folder;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
  return out;
}

}  // namespace

TEST_CASE("classes that edges alone tell apart are learned, evaluated and scored",
          "[cli][classes]") {
  const ClassRun f;
  const json metrics = f.metrics_of("evaluate");
  const json& tests = metrics.at("test");
  const auto accuracy = [&](const char* step) {
    return tests.at(step).at("test").at("core").at("accuracy").get<double>();
  };
  CHECK(accuracy("classifier") > 0.85);
  CHECK(accuracy("without edges") < 0.55);
  CHECK(accuracy("majority class") < 0.45);
  const json& said = tests.at("classifier").at("test").at("additional");
  CHECK(said.at("classes").size() == 3);
  int64_t counted = 0;
  for (const json& row : said.at("confusion")) {
    for (const json& count : row) counted += count.get<int64_t>();
  }
  CHECK(counted == tests.at("classifier").at("test").at("core").at("n_samples").get<int64_t>());

  const SafetensorsFile predictions =
      SafetensorsFile::open(f.folder / "evaluate" / "predictions.safetensors");
  const auto probability = predictions.require<float>("classifier/test/probability", {counted, 3});
  const auto predicted = predictions.require<int64_t>("classifier/test/prediction", {counted});
  for (std::size_t g = 0; g < predicted.size(); ++g) {
    const auto row = probability.subspan(3 * g, 3);
    CHECK(row[0] + row[1] + row[2] == Approx(1).epsilon(1e-5));
    CHECK(std::max_element(row.begin(), row.end()) - row.begin() == predicted[g]);
  }

  // Score says of the same graphs what evaluate said.
  const std::string model = (f.folder / "classifier").string();
  std::istringstream lines(f.must("score own --run " + model).out);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "graph,label,predicted,p class_0,p class_1,p class_2");
  f.must("data import own -o store");
  const SafetensorsFile store = SafetensorsFile::open(f.scratch / "store" / "graphs.safetensors");
  const auto place = store.require<int64_t>("row_begin", {240});
  const auto graph = predictions.require<int64_t>("classifier/test/graph", {counted});
  std::vector<std::vector<std::string>> rows;
  while (std::getline(lines, line)) rows.push_back(cells_of(line));
  REQUIRE(rows.size() == 240);
  int64_t right = 0;
  for (std::size_t g = 0; g < graph.size(); ++g) {
    const auto at = static_cast<std::size_t>(place[static_cast<std::size_t>(graph[g])]);
    REQUIRE(rows[at].size() == 6);
    CHECK(rows[at][0] == std::to_string(at));
    CHECK(rows[at][2] == "class_" + std::to_string(predicted[g]));
    CHECK(std::stod(rows[at][3]) == Approx(probability[3 * g]).margin(1e-5));
    if (rows[at][1] == rows[at][2]) ++right;
  }
  CHECK(static_cast<double>(right) / static_cast<double>(counted) ==
        Approx(accuracy("classifier")));

  // Graphs with other features are refused with both lists.
  f.must("data synth --kind graphs -o wider --graphs 32 --nodes 24 --classes 16 --seed 4");
  const CommandResult other = run_kdgat("score wider --run " + model, f.scratch.path());
  CHECK(other.exit_code == 3);
  CHECK_THAT(other.err, Catch::Contains("other node features than the model was trained with"));

  // What the native engine and export do not have is named.
  const CommandResult c = run_kdgat("export " + model + " --format c -o out", f.scratch.path());
  CHECK(c.exit_code != 0);
  CHECK_THAT(c.err, Catch::Contains("more than two classes"));

  // A student of the three classes.
  const json student = json::parse(
      f.must(
           "run distill --data own --root small --threads 1 --json conv=gin norm=batch pooling=sum "
           "hidden=12 layers=3 lr=0.005 batch_size=64 min_steps_per_epoch=1 max_epochs=30 "
           "--teacher-path " +
           model + "/model.safetensors")
          .out);
  const json& of_student = student.at("steps").at(0).at("result").at("metrics");
  CHECK(of_student.at("val_accuracy").get<double>() > 0.8);
}

TEST_CASE("networks that read the features of edges learn from them, the others say so",
          "[cli][classes]") {
  // Rings that differ in nothing but the number on their edges.
  const ScratchFolder scratch;
  const fs::path folder = scratch / "rings";
  fs::create_directories(folder);
  std::ofstream graphs(folder / "graphs.csv"), nodes(folder / "nodes.csv"),
      edges(folder / "edges.csv");
  graphs << "graph,label\n";
  nodes << "graph,node,one\n";
  edges << "graph,source,target,current\n";
  constexpr int kGraphs = 120, kNodes = 6;
  for (int g = 0; g < kGraphs; ++g) {
    graphs << g << "," << (g % 2 == 0 ? "calm" : "busy") << "\n";
    for (int n = 0; n < kNodes; ++n) {
      nodes << g << "," << n << ",1\n";
      edges << g << "," << n << "," << (n + 1) % kNodes << ","
            << (g % 2 == 0 ? 1 : -1) * (1 + (g + n) % 3) << "\n";
    }
  }
  for (std::ofstream* file : {&graphs, &nodes, &edges}) file->close();
  must_kdgat("data import rings -o store", scratch.path());
  for (const char* conv : {"gatv2", "gine", "pna", "transformer", "gcn", "sage", "gin", "gat"}) {
    INFO(conv);
    const std::set<std::string> readers = {"gatv2", "gine", "pna", "transformer"};
    const bool reads = readers.contains(conv);
    const CommandResult run =
        must_kdgat("run classifier --data store --root " + std::string(conv) + " conv=" + conv +
                       " norm=batch hidden=8 heads=2 layers=2 dropout=0 lr=0.02 batch_size=16 "
                       "min_steps_per_epoch=1 max_epochs=20 --threads 1 --json",
                   scratch.path());
    const json step = json::parse(run.out).at("steps").at(0);
    const double accuracy = step.at("result").at("metrics").at("val_accuracy");
    // Those of gatv2 weigh neighbours, which are all alike here.
    const bool can_tell = reads && std::string(conv) != "gatv2";
    CHECK((can_tell ? accuracy > 0.95 : accuracy < 0.75));
    const std::string note =
        "does not read the features of edges (1): gatv2, gine, pna, transformer do";
    CHECK((run.err.find(note) == std::string::npos) == reads);
  }
  // What computes without LibTorch has not all of them, and says so.
  const std::string trained = newest_run(scratch / "pna" / "store").string();
  const CommandResult onnx =
      run_kdgat("export " + trained + "/classifier --format onnx -o out.onnx", scratch.path());
  CHECK(onnx.exit_code != 0);
  CHECK_THAT(onnx.err, Catch::Contains("conv pna"));
  must_kdgat("score rings --run " + trained + " -o said.csv", scratch.path());
}

TEST_CASE("what labelled graphs cannot have is refused before anything runs", "[cli][classes]") {
  const ScratchFolder scratch;
  must_kdgat("data synth --kind graphs -o own --graphs 40 --nodes 8 --classes 3", scratch.path());
  must_kdgat("data import own -o store", scratch.path());
  check_refused(
      {{"classifier conv=gatv2", "conv=gatv2 reads edge features, and the edges have none"},
       {"classifier conv=gine", "use one of gat, gcn, sage, gin, pna, transformer, none"},
       {"classifier id_embedding=hashed", "have no identifiers"},
       {"classifier sampling=curriculum", "after another classifier"},
       {"curriculum", "add a step of the stage classifier"},
       {"classifier loss=focal focal_alpha=0.5", "focal_alpha weighs two classes, these are 3"},
       {"distill model=autoencoder", "takes two classes, these graphs have 3"},
       {"autoencoder", "graphs of 2 classes, this is graphs of 3 classes"},
       {"detector", "reads data of the domain can, this is graphs"}},
      "store", scratch.path());
  // Batches and weights that make up for rare classes.
  must_kdgat(
      "run classifier --data store conv=gin max_epochs=2 sampling=balanced "
      "class_weights=balanced loss=focal monitor_metric=val_f1 monitor_mode=max",
      scratch.path());
}

TEST_CASE("a curriculum of six classes is planned, run, evaluated and kept", "[cli][classes]") {
  const ScratchFolder scratch;
  must_kdgat("data synth --kind graphs -o own --graphs 180 --nodes 12 --classes 6 --seed 4",
             scratch.path());
  must_kdgat("data import own -o store", scratch.path());
  const std::string words =
      "--preset graphs,graphs_curriculum --data store scorer.max_epochs=3 max_epochs=4 --threads "
      "1 ";
  const json plan = json::parse(must_kdgat("plan --json " + words, scratch.path()).out);
  std::vector<std::string> order;
  for (const json& one : plan.at("steps")) order.push_back(one.at("step"));
  CHECK(order == std::vector<std::string>{"without edges", "scorer", "curriculum", "classifier",
                                          "evaluate"});
  CHECK(plan.at("steps").at(3).at("memory").at("batch").at("graphs") == 64);
  const json out = json::parse(must_kdgat("run --json --root one " + words, scratch.path()).out);
  std::set<std::string> judged;
  for (const json& one : out.at("steps")) {
    if (one.at("step") != "evaluate") continue;
    const json tests = one.at("result").at("metrics").at("test");
    for (const auto& [name, said] : tests.items()) judged.insert(name);
  }
  CHECK(judged.contains("classifier"));
  const fs::path run = newest_run(scratch / "one" / "store");
  CHECK(SafetensorsFile::open(run / "curriculum" / "difficulty.safetensors")
            .metadata()
            .at("formula") == "cross entropy of the class");
  // The model of a curriculum scores as any other.
  const std::string rows =
      must_kdgat("score own --run " + (run / "classifier").string(), scratch.path()).out;
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 181);
  // The same again computes nothing.
  const json again = json::parse(must_kdgat("plan --json --root one " + words, scratch.path()).out);
  for (const json& one : again.at("steps")) CHECK(one.at("action") == "keep");
  // An autoencoder still has to be there for windows.
  must_kdgat("data synth -o can --seconds 4 --vehicles 1 --attacks dos", scratch.path());
  const CommandResult windows = run_kdgat("plan curriculum --data can", scratch.path());
  CHECK(windows.exit_code == 2);
  CHECK_THAT(windows.err, Catch::Contains("made by no step") && Catch::Contains("autoencoder"));
}

TEST_CASE("an autoencoder, a classifier and their fusion judge and score graphs of two classes",
          "[cli][classes][fusion]") {
  const ScratchFolder scratch;
  must_kdgat("data synth --kind graphs -o own --graphs 200 --nodes 20 --classes 2 --seed 4",
             scratch.path());
  const std::string words =
      " --preset graphs_fusion --data own --root runs --threads 1 --json max_epochs=25 "
      "fusion_episodes=20 ";
  const json plan = json::parse(must_kdgat("plan" + words, scratch.path()).out);
  CHECK(plan.at("steps").at(0).at("memory").at("batch").at("graphs") == 64);
  // Stopped behind the autoencoder and continued: it is kept.
  must_kdgat("run" + words + "--until autoencoder", scratch.path());
  const json out = json::parse(must_kdgat("run" + words, scratch.path()).out);
  json judged;
  for (const json& one : out.at("steps")) {
    if (one.at("step") == "evaluate") judged = one.at("result").at("metrics").at("test");
  }
  const auto auc = [&](const char* step) {
    return judged.at(step).at("test").at("core").at("auc").get<double>();
  };
  CHECK(auc("majority class") == 0.5);
  CHECK(auc("autoencoder") > 0.8);
  CHECK(auc("fusion") > 0.9);
  const json again = json::parse(must_kdgat("plan" + words, scratch.path()).out);
  for (const json& one : again.at("steps")) CHECK(one.at("action") == "keep");

  // The whole run scores with its fusion, and says what evaluate said.
  const fs::path folder = newest_run(scratch / "runs" / "own");
  const SafetensorsFile predictions =
      SafetensorsFile::open(folder / "evaluate" / "predictions.safetensors");
  must_kdgat("data import own -o store", scratch.path());
  const SafetensorsFile store = SafetensorsFile::open(scratch / "store" / "graphs.safetensors");
  const auto place = store.require<int64_t>("row_begin", {200});
  const auto rows_of = [&](const std::string& run) {
    std::istringstream lines(must_kdgat("score own --run " + run, scratch.path()).out);
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(lines, line);) rows.push_back(cells_of(line));
    REQUIRE(rows.size() == 201);
    return rows;
  };
  const auto check = [&](const std::string& step, const std::string& run,
                         const std::vector<std::string>& columns) {
    INFO(step);
    const auto rows = rows_of(run);
    CHECK(rows.front() == columns);
    const auto count = judged.at(step).at("test").at("core").at("n_samples").get<int64_t>();
    const auto graph = predictions.require<int64_t>(step + "/test/graph", {count});
    const auto predicted = predictions.require<int64_t>(step + "/test/prediction", {count});
    for (std::size_t g = 0; g < graph.size(); ++g) {
      const auto at = static_cast<std::size_t>(place[static_cast<std::size_t>(graph[g])]);
      CHECK(rows[at + 1][2] == "class_" + std::to_string(predicted[g]));
    }
  };
  check("fusion", folder.string(), {"graph", "label", "predicted", "p class_0", "p class_1"});
  check("autoencoder", folder.string() + " --model autoencoder",
        {"graph", "label", "predicted", "error"});
}

TEST_CASE("graphs of three classes are refused where two are needed, before there is a run",
          "[cli][classes][fusion]") {
  const ScratchFolder scratch;
  must_kdgat("data synth --kind graphs -o own --graphs 40 --nodes 8 --classes 3", scratch.path());
  for (const char* verb : {"plan", "run"}) {
    const CommandResult refused =
        run_kdgat(std::string(verb) + " --preset graphs_fusion --data own", scratch.path());
    CHECK(refused.exit_code == 3);
    for (const char* stage : {"autoencoder", "fusion"}) {
      const std::string name = stage;
      CHECK_THAT(refused.err,
                 Catch::Contains(name + ": the stage " + name +
                                 " reads data of the domain can, graphs of 2 classes, this is "
                                 "graphs of 3 classes"));
    }
    CHECK_THAT(refused.err, Catch::Contains("stages for such data: classifier, curriculum"));
  }
  for (const auto& entry : fs::recursive_directory_iterator(scratch / "runs")) {
    CHECK(entry.path().filename() != "run.json");
  }
}
