// What crosses the seam, read back as it was sent.
#include "kdgat/result.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "kdgat/stage.h"

using namespace kdgat;
using nlohmann::json;

TEST_CASE("a figure is read as it was written, and says only what its name does not", "[sdk]") {
  Figure plain("val_f1", 0.5);
  CHECK(json(plain) == json{{"name", "val_f1"}, {"value", 0.5}});
  CHECK(plain.label == "val F1");
  CHECK(plain.better == Better::kMore);

  Figure own("gain", 2);
  own.model = "gat";
  own.part = "test_01";
  own.label = "gain of it";
  own.decimals = 0;
  own.better = Better::kLess;
  own.is_recorded = false;
  own.place = 3;
  own.headline = 2;
  own.is_tile = own.is_decision = true;
  const Figure back = json(own).get<Figure>();
  CHECK(json(back) == json(own));
  CHECK(back.model == "gat");
  CHECK(back.part == "test_01");
  CHECK(back.label == "gain of it");
  CHECK(back.decimals == 0);
  CHECK(back.better == Better::kLess);
  CHECK_FALSE(back.is_recorded);
  CHECK(back.place == 3);
  CHECK(back.headline == 2);
  CHECK(back.is_tile);
  CHECK(back.is_decision);
}

TEST_CASE("a figure of no number has none", "[sdk]") {
  for (const json& value : {json(), json("0.5"), json(NAN), json::parse("[1]")}) {
    CHECK(std::isnan(json{{"name", "f1"}, {"value", value}}.get<Figure>().value));
  }
  CHECK(std::isnan(json("f1").get<Figure>().value));
}

TEST_CASE("names say how numbers are written and which way they are better", "[sdk]") {
  CHECK(label_of("val_auc") == "val AUC");
  CHECK(label_of("graphs_per_second") == "graphs/s");
  CHECK(label_of("best_epoch") == "best epoch");
  CHECK(better_of("val_loss") == Better::kLess);
  CHECK(better_of("test_rmse") == Better::kLess);
  CHECK(better_of("val_f1") == Better::kMore);
  CHECK(better_of("graphs_per_second") == Better::kMore);
  CHECK(better_of("best_epoch") == Better::kNeither);
  CHECK(decimals_of("val_loss") == 4);
  CHECK(decimals_of("val_f1") == 3);
  CHECK(decimals_of("graphs_per_second") == 0);
}

TEST_CASE("a result holds what its stage gave it and nothing else", "[sdk]") {
  CHECK(json(StageResult()) == json::object());
  StageResult result;
  result.metrics = {{"val_f1", 0.5}};
  result.figures = {Figure("val_f1", 0.5)};
  result.table = ResultTable{{"part", "F1"}, {{"val", 0.5}}};
  result.tables = {{{"model"}, {json::array({"gat"})}}};
  result.summary = "";
  result.facts = {{"size", "student"}};
  result.memory = {{"planned", 1}};
  const json sent = result;
  CHECK(sent.at("table") ==
        json{{"columns", {"part", "F1"}}, {"rows", json::parse(R"([["val",0.5]])")}});
  CHECK(sent.at("summary") == "");
  CHECK(json(sent.get<StageResult>()) == sent);
}

TEST_CASE("events of any form are read without an error", "[sdk]") {
  CHECK(kind_of(MetricsEvent{kEpoch, 3, {{"a", 1}}}) == EventKind::kMetrics);
  CHECK(kind_of(ProgressEvent{}) == EventKind::kProgress);
  CHECK(kind_of(LogEvent{}) == EventKind::kLog);
  CHECK(kind_of(WindowEvent{}) == EventKind::kWindow);
  CHECK(kind_of(AlarmEvent{}) == EventKind::kAlarm);
  CHECK(kind_of(StartEvent{}) == EventKind::kStart);
  CHECK(kind_of(EndEvent{}) == EventKind::kEnd);
  for (const json& broken : {json(), json(3), json::array({1}), json{{"event", 7}}}) {
    CHECK(kind_of(broken) == EventKind::kOther);
    CHECK_FALSE(is_event(broken));
    CHECK(broken.get<ProgressEvent>().total == 0);
    CHECK(broken.get<LogEvent>().message.empty());
    CHECK(broken.get<EndEvent>().code == 1);
    CHECK(broken.get<AlarmEvent>().ids.empty());
  }
  CHECK(json{{"index", "x"}}.get<MetricsEvent>().index == -1);
  const json progress = {{"done", "much"}, {"unit", "step"}, {"metrics", 3}};
  CHECK(progress.get<ProgressEvent>().unit == "step");
  CHECK(progress.get<ProgressEvent>().metrics.is_object());
  CHECK(json(EndEvent{}) == json{{"event", "end"}, {"code", 0}});
  CHECK(json(EndEvent{3, "no data"}).get<EndEvent>().error == "no data");
}

TEST_CASE("an alarm is read as it was told", "[sdk]") {
  const AlarmEvent alarm{"a.log",
                         2,
                         true,
                         12.5,
                         json(),
                         40,
                         44,
                         3,
                         1.5F,
                         {"2C0", "1:316"},
                         {"EngineData", ""},
                         {"2C0: 41 frames"},
                         "0a1b"};
  const json sent = alarm;
  CHECK(sent.at("end").is_null());
  CHECK(json(sent.get<AlarmEvent>()) == sent);
  json odd = sent;
  odd["ids"] = {3, "0A1"};
  CHECK(odd.get<AlarmEvent>().ids == std::vector<std::string>{"0A1"});
}

TEST_CASE("a request of memory is read as it was asked", "[sdk]") {
  MemoryRequest asked{1 << 30, 1 << 29, "job", 2, 3, true, FrozenPacks{4, 5, 6, 7}, true};
  const json sent = asked;
  CHECK(sent.at("own") == true);
  CHECK(sent.at("available") == 1 << 29);
  CHECK(sent.at("packs").at("min_packs") == 7);
  CHECK(json(sent.get<MemoryRequest>()) == sent);
  asked.packs.reset();
  CHECK_FALSE(json(asked).contains("packs"));
  CHECK_FALSE(json(asked).get<MemoryRequest>().packs.has_value());
}

TEST_CASE("diagnostics cross as they are, and anything else is passed over", "[sdk]") {
  const std::vector<Diagnostic> list = {{"a.yaml:3", "no", "yes"}, {"", "alone", ""}};
  const std::vector<Diagnostic> back = read_diagnostics(json(list));
  REQUIRE(back.size() == 2);
  CHECK(back[0].text() == list[0].text());
  CHECK(back[1].text() == list[1].text());
  CHECK(read_diagnostics(json("no list")).empty());
  CHECK(read_diagnostics(json::array({1, json{{"message", "it"}}})).front().message == "it");
}

namespace {

struct Told {
  std::vector<json> events;
  json result;
};

/// A stage that makes a remark twice.
struct Remarks {
  struct Options {
    bool summarized = false;
    static auto table() {
      return std::tuple{field("summarized", &Options::summarized, "With a summary.")};
    }
  };
  static StageInfo info() { return {"remarks", 1, "Remarks.", {}, {}, {}}; }
  static json plan(const Options&, const Request&) { return json::object(); }
  static json run(const Options& options, const Request&, Host& host) {
    host.remark("plain operations");
    host.remark("plain operations");
    if (options.summarized) return {{"summary", "epoch 2/2"}};
    return json::object();
  }
};

Told run_remarks(const json& options) {
  Told out;
  kdgat_host host = {};
  host.context = &out;
  host.emit = [](void* context, const char* text) {
    static_cast<Told*>(context)->events.push_back(json::parse(text));
  };
  host.result = [](void* context, const char* text) {
    static_cast<Told*>(context)->result = json::parse(text);
  };
  host.fail = [](void*, const char* text) { FAIL(text); };
  const std::string request = json{{"step", "remarks"}, {"options", options}}.dump();
  CHECK(detail::entry<Remarks>()->run(&host, request.c_str()) == 0);
  return out;
}

}  // namespace

TEST_CASE("what a stage remarks is one warning, and ends the summary of its step", "[sdk]") {
  const Told told = run_remarks({{"summarized", true}});
  REQUIRE(told.events.size() == 1);
  CHECK(told.events.front().dump().find("warning") != std::string::npos);
  CHECK(told.result == json{{"summary", "epoch 2/2  plain operations"}});
  CHECK(run_remarks({{"summarized", false}}).result == json{{"summary", "plain operations"}});
}
