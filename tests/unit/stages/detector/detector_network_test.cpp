// A graph network in the place of a detector's trees.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "detector/training.h"
#include "engine/decision/detector/window_scorer.h"
#include "support/can/can_drive.h"
#include "support/can/can_logs.h"
#include "support/graphs/random_networks.h"

using namespace kdgat;
using namespace kdgat::data;
using namespace kdgat::decision;
using namespace kdgat::detector;
using Catch::Contains;
using kdgat::test::drive;
using kdgat::test::Frames;

namespace {

/// Three vehicles, so that they stay together in a split by groups.
struct Fleet {
  test::ScratchFolder folder;
  std::optional<graph::GraphStore> store;
  graph::Split split;

  Fleet() {
    const test::NamedLogs logs = {
        {"train_01/car0-a.csv", drive(60, 0)},        {"train_01/car0-b.csv", drive(60, 1, "dos")},
        {"train_01/car1-a.csv", drive(60, 0, "", 1)}, {"train_01/car1-b.csv", drive(60, 1, "", 1)},
        {"train_01/car2-a.csv", drive(60, 0, "", 2)}, {"train_01/car2-b.csv", drive(60, 1, "", 2)}};
    for (const auto& [name, frames] : logs) {
      test::write_text(folder / "logs" / name, format_log(frames, "can-train-and-test"));
    }
    graph::ImportOptions options;
    options.features = kRelativeFeatures;
    options.inject = {"fuzzing"};
    graph::import_logs(folder / "logs", folder / "data", options);
    store.emplace(graph::GraphStore::open(folder / "data" / kStoreName));
    split = make_split(*store, {.kind = "group"});
  }
};

const Fleet& fleet() {
  static const Fleet one;
  return one;
}

nlohmann::json layout() {
  return {{"node_features", relative_node_names()},
          {"edge_features", relative_edge_names()},
          {"import", {{"features", kRelativeFeatures}, {"window", 100}}}};
}

model::GatConfig form() {
  model::GatConfig config = model::GatConfig::student(1);
  config.conv = "gin";
  config.norm = "batch";
  config.pooling = "max";
  config.has_ids = false;
  config.node_features = kRelativeNodeFeatures;
  return config;
}

std::shared_ptr<const RelativeNetwork> network(const test::ScratchFolder& folder) {
  exporting::RandomNetwork(7).write(folder / "model.safetensors", form(), layout());
  return RelativeNetwork::read(folder / "model.safetensors");
}

DetectorOptions quick() {
  DetectorOptions out;
  out.inject = {"fuzzing"};
  out.trees = 10;
  out.take_supported = true;
  out.false_alarms = 0;
  return out;
}

TrainedDetector trained(const NetworkSource& source) {
  return train_detector(stored_logs(*fleet().store), quick(), 1, 1,
                        {[](const std::string&, double) {}, [](const std::string&) {}}, source);
}

NetworkSource source_of(std::shared_ptr<const RelativeNetwork> network) {
  return {std::move(network), HeldOutWindows(*fleet().store, fleet().split)};
}

}  // namespace

TEST_CASE("vehicles stay together in a split by groups, of three and more", "[detector][network]") {
  const graph::GraphStore& store = *fleet().store;
  std::map<std::string, std::set<std::string>> parts_of;  // of a vehicle
  for (const auto& [part, ids] : fleet().split.parts) {
    for (const int64_t id : ids) {
      const auto source = static_cast<std::size_t>(store.source_of()[static_cast<std::size_t>(id)]);
      parts_of[store.sources()[source].path.substr(0, 13)].insert(part);
    }
  }
  REQUIRE(parts_of.size() == 3);  // "train_01/car0", ..
  for (const auto& [vehicle, parts] : parts_of) CHECK(parts.size() == 1);
  CHECK_FALSE(fleet().split.parts.at("val").empty());
  CHECK_FALSE(fleet().split.parts.at("train").empty());
}

TEST_CASE("windows that a network was not trained on are those of its validation part",
          "[detector][network]") {
  const HeldOutWindows held_out(*fleet().store, fleet().split);
  const std::vector<StoredLog> logs = stored_logs(*fleet().store);
  std::set<std::size_t> validated;
  for (const int64_t id : fleet().split.parts.at("val")) {
    validated.insert(
        static_cast<std::size_t>(fleet().store->source_of()[static_cast<std::size_t>(id)]));
  }
  REQUIRE(validated.size() == 2);
  for (const StoredLog& log : logs) {
    for (const int64_t row : {int64_t{0}, int64_t{4000}}) {
      SeenWindow window;
      window.row = row;
      CHECK(held_out.has(log, window) == validated.contains(log.index()));
      window.kind = 0;
      CHECK(held_out.has(log, window) == validated.contains(log.index()));
    }
  }
  // By time a log has windows of several parts, and an injected attack is of none of them alone.
  const HeldOutWindows by_time(*fleet().store, make_split(*fleet().store, {}));
  int64_t held = 0, others = 0;
  for (SeenWindow window; window.row < logs[0].rows(); window.row += 100) {
    ++(by_time.has(logs[0], window) ? held : others);
    SeenWindow injected = window;
    injected.kind = 0;
    CHECK_FALSE(by_time.has(logs[0], injected));
  }
  CHECK(held > 10);
  CHECK(others > held);
}

TEST_CASE("a detector scores by its network, and reads it from its own file",
          "[detector][network]") {
  const test::ScratchFolder folder;
  const auto net = network(folder);
  const TrainedDetector made = trained(source_of(net));
  REQUIRE(made.model.classifier.network() != nullptr);
  CHECK(made.model.parameters() == net->parameters());
  CHECK_THROWS_WITH(made.model.classifier.trees(), Contains("graph network"));
  for (const Vehicle& vehicle : made.model.vehicles) CHECK_FALSE(vehicle.profile.steps.empty());

  made.model.write(folder / "detector.json");
  const DetectorModel again = DetectorModel::read(folder / "detector.json");
  DetectorModel other = again;
  other.window = 50;
  other.write(folder / "other.json");
  CHECK_THROWS_WITH(DetectorModel::read(folder / "other.json"), Contains("windows of 100 frames"));
  const Frames log = drive(40, 5, "spoofing", 3);  // of a vehicle never seen
  std::vector<float> scores, same;
  const auto judged = [&](const DetectorModel& model, std::vector<float>& out) {
    WindowScorer scorer(model, "a.log", 30,
                        [&](const JudgedWindow& window) { out.push_back(window.alone); });
    for (const CanFrame& frame : log) scorer.add(frame, false);
    scorer.finish();
  };
  judged(made.model, scores);
  judged(again, same);
  REQUIRE(scores.size() > 60);
  CHECK(scores == same);
  CHECK(*std::max_element(scores.begin(), scores.end()) >
        *std::min_element(scores.begin(), scores.end()));

  ProfileBuilder builder(true);
  for (const CanFrame& frame : drive(60, 0, "", 3)) builder.add(frame);
  const VehicleProfile profile = builder.profile();
  RelativeWindows windows(profile, 100, true);
  int64_t seen = 0;
  for (const CanFrame& frame : log) {
    if (!windows.add(frame)) continue;
    ++seen;
    REQUIRE(windows.window().graph != nullptr);
    CHECK(again.classifier.score(windows.window()) == net->score(windows.graph()));
    RelativeWindow without = windows.window();
    without.graph.reset();
    CHECK(again.classifier.score(without) < -1e5);
  }
  CHECK(seen > 60);
}

TEST_CASE("a reason takes ids out of the graph, and edges with them", "[detector][network]") {
  ProfileBuilder builder(true);
  for (const CanFrame& frame : drive(60, 0)) builder.add(frame);
  const VehicleProfile profile = builder.profile();
  RelativeWindows windows(profile, 100, true);
  int64_t seen = 0;
  for (const CanFrame& frame : drive(40, 5, "spoofing")) {
    if (!windows.add(frame)) continue;
    ++seen;
    const RelativeGraph whole = windows.graph();
    REQUIRE(windows.window().graph->x == whole.x);
    const std::vector<uint32_t> gone = {whole.keys.at(1), whole.keys.back()};
    const RelativeWindow left = windows.without(gone);
    std::set<std::pair<uint32_t, uint32_t>> steps;
    for (std::size_t e = 0; e < whole.source.size(); ++e) {
      steps.emplace(whole.keys[static_cast<std::size_t>(whole.source[e])],
                    whole.keys[static_cast<std::size_t>(whole.target[e])]);
    }
    for (const uint32_t key : gone) {
      CHECK(std::find(left.graph->keys.begin(), left.graph->keys.end(), key) ==
            left.graph->keys.end());
    }
    CHECK(left.graph->keys.size() + gone.size() == whole.keys.size());
    for (std::size_t e = 0; e < left.graph->source.size(); ++e) {
      CHECK(steps.contains({left.graph->keys[static_cast<std::size_t>(left.graph->source[e])],
                            left.graph->keys[static_cast<std::size_t>(left.graph->target[e])]}));
    }
    const RelativeWindow alone = windows.only(gone);
    CHECK(alone.graph->keys.size() <= gone.size() + 1);
    CHECK(alone.graph->source.size() <= 4);
  }
  CHECK(seen > 60);
}

TEST_CASE("what is no network of relative windows is refused", "[detector][network]") {
  const test::ScratchFolder folder;
  const auto file = folder / "model.safetensors";
  const auto refusal = [&](const nlohmann::json& data) {
    exporting::RandomNetwork(7).write(file, form(), data);
    try {
      RelativeNetwork::read(file);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kData);
      return error.diagnostics().front().message;
    }
    return std::string("nothing");
  };
  CHECK(refusal(layout()) == "nothing");
  CHECK_THAT(refusal(nlohmann::json::object()), Contains("relative to the profile"));
  nlohmann::json published = layout();
  published["import"]["features"] = "v3";
  CHECK_THAT(refusal(published), Contains("relative to the profile"));
  nlohmann::json others = layout();
  others["node_features"].erase(0);
  CHECK_THAT(refusal(others), Contains("other columns"));
  exporting::RandomNetwork(7).write(file, model::VgaeConfig::student(20), layout());
  CHECK_THROWS_WITH(RelativeNetwork::read(file), Contains("not a classifier"));
  CHECK_THROWS_WITH(RelativeNetwork::read(folder / "none"), Contains("cannot read"));

  const auto in_json = [](const std::string& model) {
    return nlohmann::json{{"format", "kdgat.network"}, {"model", model}};
  };
  CHECK_THROWS_WITH(WindowClassifier::from_json(in_json("?"), "d.json"), Contains("d.json"));
  CHECK_THROWS_AS(WindowClassifier::from_json(in_json("Zm9v"), "d.json"), Error);
  CHECK_THROWS_AS(WindowClassifier::from_json({{"format", "kdgat.network"}}, "d.json"),
                  nlohmann::json::exception);
}

TEST_CASE("a network that was trained on all windows has no thresholds", "[detector][network]") {
  const test::ScratchFolder folder;
  CHECK_THROWS_WITH(trained({network(folder), {*fleet().store, {}}}),
                    Contains("no benign windows are left"));
}
