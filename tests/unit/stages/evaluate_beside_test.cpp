// Baselines beside the models that evaluate judges: on the same windows, and left out with a word
// where graphs are no such windows.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>

#include "classifier/classifier.h"
#include "detector/baselines.h"
#include "evaluate/evaluate.h"
#include "support/can_drive.h"
#include "support/can_logs.h"
#include "support/stage_fixture.h"

using namespace kdgat;
using Catch::Contains;
using kdgat::test::drive;
using kdgat::test::LogStore;
using nlohmann::json;

namespace {

test::NamedLogs known_and_new() {
  return {{"train_01/a.csv", drive(15, 0)},
          {"train_02/dos.csv", drive(15, 1, "dos")},
          {"test_01_known/dos.csv", drive(10, 7, "dos")},
          {"test_01_known/spoofing.csv", drive(10, 8, "spoofing")},
          {"test_02_unknown_vehicle/dos.csv", drive(25, 9, "dos", 1)}};
}

/// A small classifier on the logs, and what evaluate says of it.
json evaluated(const LogStore& data, test::FakeHost& fake) {
  const auto request = [&](const std::string& step) {
    Request out;
    out.step = step;
    out.run_dir = data.folder() / step;
    std::filesystem::create_directories(out.run_dir);
    out.inputs["graphs"] = {{"data", "graphs", data.data(), data.store().facts()}};
    return out;
  };
  classifier::Classifier::run(test::small_classifier(), request("gat"), fake.host);
  Request judging = request("evaluate");
  judging.inputs["models"] = {{"gat", "model", data.folder() / "gat", {}}};
  return evaluate::Evaluate::run({}, judging, fake.host);
}

}  // namespace

TEST_CASE("evaluate judges baselines on the windows of its models", "[stages]") {
  const LogStore data(known_and_new());
  test::FakeHost fake;
  const json result = evaluated(data, fake);
  const json& metrics = result.at("metrics");
  const json& parts = metrics.at("baselines").at("parts");
  REQUIRE(parts.size() == 2);
  for (const auto& [part, methods] : parts.items()) {
    INFO(part);
    const json& core = metrics.at("test").at("gat").at(part).at("core");
    const json& beside = methods.at("gat");
    for (const char* name : {"n_samples", "f1", "mcc", "auc"}) {
      INFO(name);
      CHECK(beside.at(name).get<double>() == Approx(core.at(name).get<double>()).margin(1e-12));
    }
    CHECK(methods.at(detector::kAlwaysAttack).at("n_samples") == core.at("n_samples"));
    CHECK(methods.at(detector::kAlwaysAttack).at("false_windows") ==
          core.at("n_samples").get<int64_t>() - beside.at("attacks").get<int64_t>());
    CHECK(methods.at(detector::kBoostedTrees).at("n_samples") == core.at("n_samples"));
  }
  // A part with thresholds of its files has the model by these, too, and by the same count.
  const std::string unknown = "test_02_unknown_vehicle";
  const json& calibrated = metrics.at("test").at("gat").at(unknown).at("calibrated");
  CHECK(parts.at(unknown).at("gat calibrated").at("f1").get<double>() ==
        Approx(calibrated.at("f1").get<double>()).margin(1e-12));
  CHECK(!parts.at("test_01_known").contains("gat calibrated"));
  CHECK(metrics.at("baselines").at("kinds").at("dos").at("gat").at("files") == 2);

  // A flood by an id of its own is no riddle for the rule: three epochs do not beat it.
  CHECK(parts.at("test_01_known").at(detector::kPublishedRule).at("f1") >
        parts.at("test_01_known").at("gat").at("f1"));
  CHECK_THAT(fake.log, Contains("test_01_known: other methods have a higher F1 than gat: "));
  // Tables: calibrated, models, and those of the comparison.
  REQUIRE(result.at("tables").size() == 5);
  CHECK(result.at("tables").at(2).at("rows").at(0).at(1) == "gat");
  CHECK(result.value("summary", "") == "");
}

TEST_CASE("evaluate says why there are no baselines", "[stages]") {
  test::FakeHost fake;
  SECTION("graphs overlap") {
    const json result = evaluated(LogStore(known_and_new(), 100, 50), fake);
    CHECK(!result.at("metrics").contains("baselines"));
    CHECK_THAT(fake.log, Contains("test_01_known: no baselines") && Contains("stride"));
  }
  SECTION("two captures in one file shift the windows behind the first") {
    test::NamedLogs logs = known_and_new();
    for (graph::CanFrame frame : drive(5, 20)) {
      frame.time -= 1e6;
      logs[2].second.push_back(frame);
    }
    const json result = evaluated(LogStore(logs), fake);
    CHECK_THAT(fake.log, Contains("test_01_known: no baselines") && Contains("several captures"));
    CHECK(!result.at("metrics").at("baselines").at("parts").contains("test_01_known"));
    CHECK(result.at("metrics").at("baselines").at("parts").contains("test_02_unknown_vehicle"));
  }
  SECTION("the test part is of logs that baselines learn from") {
    const json result = evaluated(
        LogStore({{"train_01/a.csv", drive(15, 0)}, {"train_02/dos.csv", drive(15, 1, "dos")}}),
        fake);
    CHECK(!result.at("metrics").contains("baselines"));
    CHECK_THAT(fake.log, Contains("test: no baselines") && Contains("learn from"));
  }
}

TEST_CASE("without frames evaluate says in a line how to get baselines", "[stages]") {
  test::CanFixture f;
  classifier::Classifier::run(test::small_classifier(), f.request("gat"), f.fake.host);
  Request request = f.request("evaluate");
  request.inputs["models"] = {{"gat", "model", f.folder / "gat", {}}};
  const json result = evaluate::Evaluate::run({}, request, f.fake.host);
  CHECK(!result.at("metrics").contains("baselines"));
  CHECK_THAT(result.at("summary").get<std::string>(), Contains("data.features=v3"));
}
