// Baselines beside the models that evaluate judges: on the same windows, and left out with a word
// where graphs are no such windows.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>

#include "classifier/classifier.h"
#include "detector/detector.h"
#include "engine/compare/baselines.h"
#include "engine/graph/section_facts.h"
#include "evaluate/evaluate.h"
#include "support/can/can_drive.h"
#include "support/can/can_logs.h"
#include "support/can/small_detector.h"
#include "support/runs/request_on.h"
#include "support/runs/stage_fixture.h"

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

Request request_of(const LogStore& data, const std::string& step) {
  return test::request_on(data.data(), data.folder() / step, step, 42, data.store().facts());
}

json judged_models(const LogStore& data, const std::vector<std::string>& steps,
                   test::FakeHost& fake, const evaluate::EvaluateOptions& options = {}) {
  Request judging = request_of(data, "evaluate");
  for (const std::string& step : steps) {
    judging.inputs["models"].push_back({step, "model", data.folder() / step, {}});
  }
  return evaluate::Evaluate::run(options, judging, fake.host);
}

/// A small classifier on the logs, and what evaluate says of it.
json evaluated(const LogStore& data, test::FakeHost& fake) {
  classifier::Classifier::run(test::small_classifier(), request_of(data, "gat"), fake.host);
  return judged_models(data, {"gat"}, fake);
}

/// A small detector on the logs; the metrics of its step.
json detected(const LogStore& data, test::FakeHost& fake) {
  const json result =
      detector::Detector::run(test::small_detector(20), request_of(data, "detector"), fake.host);
  return result.at("metrics");
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
    CHECK(methods.at(compare::kAlwaysAttack).at("n_samples") == core.at("n_samples"));
    CHECK(methods.at(compare::kAlwaysAttack).at("false_windows") ==
          core.at("n_samples").get<int64_t>() - beside.at("attacks").get<int64_t>());
    CHECK(methods.at(compare::kBoostedTrees).at("n_samples") == core.at("n_samples"));
  }
  // A part with thresholds of its files has the model by these, too, and by the same count.
  const std::string unknown = "test_02_unknown_vehicle";
  const json& calibrated = metrics.at("test").at("gat").at(unknown).at("calibrated");
  CHECK(parts.at(unknown).at("gat calibrated").at("f1").get<double>() ==
        Approx(calibrated.at("f1").get<double>()).margin(1e-12));
  CHECK(!parts.at("test_01_known").contains("gat calibrated"));
  CHECK(metrics.at("baselines").at("kinds").at("dos").at("gat").at("files") == 2);

  // A flood by an id of its own is no riddle for the rule: three epochs do not beat it.
  CHECK(parts.at("test_01_known").at(compare::kPublishedRule).at("f1") >
        parts.at("test_01_known").at("gat").at("f1"));
  CHECK_THAT(fake.log, Contains("test_01_known: other methods have a higher F1 than gat: "));
  // Tables: calibrated, models, and those of the comparison.
  REQUIRE(result.at("tables").size() == 5);
  CHECK(result.at("tables").at(2).at("rows").at(0).at(1) == "gat");
  CHECK(result.value("summary", "") == "");
}

TEST_CASE("models on rewired graphs stand between their models and the baselines", "[stages]") {
  const LogStore data(known_and_new());
  test::FakeHost fake;
  classifier::Classifier::run(test::small_classifier(), request_of(data, "gat"), fake.host);
  evaluate::EvaluateOptions options;
  options.ablate = "structure";
  const json result = judged_models(data, {"gat"}, fake, options);
  const json& metrics = result.at("metrics");
  for (const auto& [part, methods] : metrics.at("baselines").at("parts").items()) {
    INFO(part);
    const json& core = metrics.at("test").at("gat rewired").at(part).at("core");
    for (const char* name : {"n_samples", "f1", "auc"}) {
      CHECK(methods.at("gat rewired").at(name).get<double>() ==
            Approx(core.at(name).get<double>()).margin(1e-12));
    }
    CHECK(core.at("auc").get<double>() ==
          Approx(metrics.at("rewired").at(part).at("gat").at("auc_rewired")));
    CHECK(methods.contains("gat rewired calibrated") == methods.contains("gat calibrated"));
  }
  const json& rows = result.at("tables").at(2).at("rows");
  CHECK(rows.at(0).at(1) == "gat");
  CHECK(rows.at(1).at(1) == "gat rewired");
  CHECK_THAT(fake.log, !Contains("F1 than gat rewired"));
  // Two files of a known vehicle give an interval, one of a new one does not.
  CHECK(metrics.at("rewired").at("test_01_known").at("gat").at("lost_low").is_number());
  CHECK(metrics.at("rewired").at("test_02_unknown_vehicle").at("gat").at("lost_low").is_null());
  CHECK_THAT(fake.log, Contains("one file, which says nothing of others"));
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
    for (data::CanFrame frame : drive(5, 20)) {
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

TEST_CASE("evaluate judges a detector as its own stage does", "[stages]") {
  const LogStore data(known_and_new());
  test::FakeHost fake;
  const json own = detected(data, fake).at("parts");
  SECTION("alone") {
    const json parts =
        judged_models(data, {"detector"}, fake).at("metrics").at("baselines").at("parts");
    REQUIRE(parts.size() == own.size());
    for (const auto& [part, methods] : own.items()) {
      INFO(part);
      for (const char* name :
           {"n_samples", "attacks", "f1", "auc", "false_windows", "events_found"}) {
        INFO(name);
        CHECK(parts.at(part).at("detector").at(name) == methods.at("detector").at(name));
      }
      CHECK(parts.at(part).contains(compare::kPublishedRule));
    }
  }
  SECTION("beside a model of graphs, whichever is named first") {
    classifier::Classifier::run(test::small_classifier(), request_of(data, "gat"), fake.host);
    const json parts =
        judged_models(data, {"detector", "gat"}, fake).at("metrics").at("baselines").at("parts");
    const json& known = parts.at("test_01_known");
    CHECK(known.at("detector").at("f1") == own.at("test_01_known").at("detector").at("f1"));
    CHECK(known.at("gat").at("n_samples") == known.at("detector").at("n_samples"));
    // Windows ahead of the first attack of a new car teach both of them, and count for neither.
    const json& unknown = parts.at("test_02_unknown_vehicle");
    CHECK(unknown.at("detector").at("n_samples") == unknown.at("gat").at("n_samples"));
    CHECK(unknown.at("detector").at("attacks") == unknown.at("gat").at("attacks"));
  }
  SECTION("on the parts that are wanted") {
    evaluate::EvaluateOptions options;
    options.parts = {"test/test_01_known"};
    const json parts =
        judged_models(data, {"detector"}, fake, options).at("metrics").at("baselines").at("parts");
    CHECK(parts.size() == 1);
    CHECK(parts.contains("test_01_known"));
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

TEST_CASE("evaluate says before it runs which figures it will list, of unknown data all of them",
          "[stages]") {
  const auto told = [](const json& facts) {
    Request request;
    request.inputs["graphs"] = {{"data", "graphs", "", facts}};
    return evaluate::Evaluate::plan({}, request).at("figures");
  };
  const json of_windows = {"accuracy", "precision", "recall", "f1", "auc"};
  const json of_classes = {"accuracy", "balanced_accuracy", "macro_f1", "auc"};
  CHECK(told({{"graphs", 10}}) == of_windows);
  CHECK(told({{graph::kClassifiedFacts, json::object()}}) == of_classes);
  const json of_numbers = {"mae", "rmse", "r2"};
  CHECK(told({{graph::kClassifiedFacts, {{"target_names", {"y"}}}}}) == of_numbers);
  json all = of_classes;
  for (const json& name : of_numbers) all.push_back(name);
  for (const json& name : of_windows) all.push_back(name);
  CHECK(told({}) == all);
}
