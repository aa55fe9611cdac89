#include <catch2/catch.hpp>
#include <fstream>

#include "pipeline/report/report_html.h"
#include "support/command.h"
#include "support/fake_run.h"
#include "support/markup_check.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kId = "01JDAAAAAAAAAAAAAAAAAAAAK7";
constexpr const char* kOther = "01JDBBBBBBBBBBBBBBBBBBBBM2";

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++out;
  return out;
}

/// A classifier that trained for six epochs and was evaluated.
fs::path good_run(const fs::path& root, const std::string& id = kId, double lr = 0.01) {
  const fs::path run =
      write_run(root, "set", id,
                {step_state("gat", "classifier", "done",
                            {{"reason", "option changed: lr 0.1 -> 0.01 (p.yaml:7)"}}),
                 step_state("evaluate", "evaluate")});
  write_training(run / "gat", 6, lr);
  write_evaluation(run / "evaluate", "gat");
  return run;
}

/// The report of some runs, which is well-formed and whole.
std::string page_of(const std::vector<fs::path>& folders) {
  std::vector<ReportRun> runs;
  for (const fs::path& folder : folders) runs.push_back(read_report(folder, PluginCatalog()));
  std::string page = report_html(runs, "2026-03-02 09:00 UTC");
  CHECK(markup_problem(page) == "");
  return page;
}

}  // namespace

TEST_CASE("a report shows what ran, why, and what came of it", "[report]") {
  const ScratchFolder root;
  const std::string page = page_of({good_run(root.path())});
  CHECK_THAT(page, Contains("kdgat run --preset smoke") && Contains(kId) &&
                       Contains("option changed: lr 0.1 -&gt; 0.01 (p.yaml:7)") &&
                       Contains("2026-03-01 18:04 UTC") && Contains("bench, cpu, 2 threads") &&
                       Contains("27.0 s") && Contains("100 MiB"));
  // Curves of training with the best epoch, both curves of detection, memory.
  CHECK(count(page, "<svg class=\"chart\"") == 2 + 2 * 2 + 1);
  CHECK_THAT(page, Contains("best: 5") && Contains("Learning rate 0.01 throughout.") &&
                       Contains("Memory over time") && Contains("planned peak"));
  // Decisions: 90 of 100 attacks, 10 false alarms of 900.
  CHECK_THAT(page, Contains("90 (90.0 %)") && Contains("10 (1.1 %)") && Contains(">0.838<") &&
                       Contains("recall 0.900, precision 0.900, false alarms 0.0111"));
  // Options that someone set, and nothing of the defaults but in the full list.
  CHECK_THAT(page, Contains("p.yaml:7</td>") && Contains("batch_size=64"));
  CHECK(count(page, "class=\"state failed\"") == 0);
  // Read aloud it is one main part, where each table says what it is and no heading is empty.
  CHECK(count(page, "<main>") == 1);
  CHECK(count(page, "<table>") > 4);
  CHECK(count(page, "<table>") == count(page, "<table><caption>"));
  CHECK(count(page, "\"></th>") == 0);
}

TEST_CASE("every text of a run is harmless in a report", "[report]") {
  const ScratchFolder root;
  const std::string evil = "<script>alert('1')</script>\"&\x1b[31m \xff";
  const std::string step = "<script>alert(1)<";
  const fs::path run =
      write_run(root.path(), "set", kId,
                {step_state(step, evil, "failed", {{"reason", evil}, {"error", evil}}),
                 step_state("gat", "classifier", evil)},
                {{"profile", evil},
                 {"host", evil},
                 {"command", evil},
                 {"device", evil},
                 {"started", evil},
                 {"data", {{"path", evil}, {"summary", evil}}}});
  write_training(run / "gat", 3);
  write_training(run / step, 3);
  write_evaluation(run / "evaluate", step);
  const std::string quoted = json(evil).dump(-1, ' ', true, json::error_handler_t::replace);
  write_text(run / step / "journal.jsonl",
             R"({"event":"metrics","what":"epoch","index":1,"values":{"val_)" + step +
                 R"(":1,"train_loss":2}})"
                 "\n"
                 R"({"event":"log","level":"warning","message":)" +
                 quoted + "}\n");
  write_text(run / step / "config.json",
             R"({"options":{"name":)" + quoted + R"(},"origin":{"name":)" + quoted +
                 R"(},"inputs":{"graphs":[{"kind":"graphs","path":)" + quoted + "}]}}");
  write_text(run / step / "log.txt", evil);
  write_text(run / step / "oom-report.md", evil);
  write_text(run / step / "step.json", R"({"result":{"summary":)" + quoted +
                                           R"(,"table":{"columns":[)" + quoted + R"(],"rows":[[)" +
                                           quoted + "]]}}}");
  const std::string page = page_of({run});
  CHECK_THAT(page, Contains("&lt;script&gt;alert(1)&lt;") && Contains("&#39;1&#39;"));
  CHECK(page.find('\x1b') == std::string::npos);
  CHECK(page.find('\xff') == std::string::npos);
  page_of({run, run});
}

TEST_CASE("a failure shows its message and the end of its log", "[report]") {
  const ScratchFolder root;
  const fs::path run =
      write_run(root.path(), "set", kId,
                {step_state("gat", "classifier", "failed",
                            {{"error", "train_loss is not finite"}, {"exit_code", 1}}),
                 step_state("evaluate", "evaluate", "skipped", {{"reason", "needs gat"}})},
                {{"exit_code", 1}});
  write_training(run / "gat", 4);
  fs::remove(run / "gat" / "metrics.json");
  fs::remove(run / "gat" / "step.json");
  const std::string page = page_of({run});
  CHECK_THAT(page, Contains("id=\"failures\"") && Contains("train_loss is not finite") &&
                       Contains("64 graphs in 4 batches") && Contains("needs gat") &&
                       Contains("class=\"state failed\""));
  // The best so far, by what the step monitors.
  CHECK_THAT(page, Contains("best: 4"));
}

TEST_CASE("warnings of a run that finished are no failures", "[report]") {
  const ScratchFolder root;
  const fs::path run = good_run(root.path());
  std::ofstream journal(run / "gat" / "journal.jsonl", std::ios::app);
  for (int i = 0; i < 3; ++i) {
    journal << R"({"event":"log","level":"warning","message":"3 graphs have no label"})"
            << "\n";
  }
  journal << std::flush;
  const std::string page = page_of({run});
  CHECK_THAT(page, !Contains("Failures") && Contains("<h2>Warnings</h2>") &&
                       Contains("warning: 3 graphs have no label (3 times)"));
  CHECK(count(page, "3 graphs have no label") == 1);
}

TEST_CASE("a run without any result is shown as far as it came", "[report]") {
  const ScratchFolder root;
  const fs::path run = write_run(
      root.path(), "set", kId,
      {step_state("gat", "classifier", "running"), step_state("evaluate", "evaluate", "pending")},
      {{"exit_code", nullptr}, {"finished", nullptr}});
  CHECK_THAT(page_of({run}),
             Contains("class=\"state interrupted\"") && Contains("the same command continues it"));
  // A torn journal, a file that is no JSON, a document of other types.
  write_text(run / "gat" / "journal.jsonl",
             R"({"event":"metrics","what":"epoch","index":1,"values":{"train_loss":1.5}})"
             "\n"
             R"({"event":"met)");
  write_text(run / "gat" / "config.json", "[1, 2");
  write_text(run / "gat" / "metrics.json", R"({"best_epoch":"none","parts":7,"test":[1]})");
  write_text(run / "gat" / "step.json", R"({"result":[1]})");
  CHECK_THAT(page_of({run}), Contains("train loss: 1.5 at 1 (epoch)"));
  write_text(run / "run.json",
             R"({"id":3,"steps":[1,{"step":null,"seconds":"x"}],"data":5,"threads":"2"})");
  page_of({run});
  write_text(run / "run.json", "{");
  CHECK_THAT(data_error([&] { read_report(run, PluginCatalog()); }),
             Contains("run.json:1: not valid JSON"));
}

TEST_CASE("variants of a model stand below it", "[report]") {
  const ScratchFolder root;
  const fs::path run =
      write_run(root.path(), "set", kId,
                {step_state("gat", "classifier"), step_state("vgae", "autoencoder"),
                 step_state("gat small", "classifier"), step_state("evaluate", "evaluate")});
  write_evaluation(run / "evaluate",
                   {"gat", "gat rewired", "gat small", "gat small rewired", "gate", "vgae"});
  std::vector<std::string> models;
  for (const Detection& one : detections(read_report(run, PluginCatalog()))) {
    if (one.part == "val") models.push_back(one.model);
  }
  CHECK(models ==
        std::vector<std::string>{"gat", "gat rewired", "vgae", "gat small", "gat small rewired"});
  CHECK_THAT(page_of({run}), Contains("gat rewired at its threshold 0.5: recall 0.900"));
}

TEST_CASE("an older run says that it recorded no curves", "[report]") {
  const ScratchFolder root;
  const fs::path run = good_run(root.path());
  write_evaluation(run / "evaluate", "gat", false);
  fs::remove(run / "evaluate" / "curves.json");
  const std::string page = page_of({run});
  CHECK_THAT(page, Contains("recorded neither curves nor counts") && Contains(">0.991<"));
  CHECK_THAT(page, !Contains("ROC, val"));
}

TEST_CASE("kept steps are shown as the run that made them left them", "[report]") {
  const ScratchFolder root;
  const fs::path first = good_run(root.path());
  const fs::path second = write_run(root.path(), "set", kOther,
                                    {{{"step", "gat"},
                                      {"stage", "classifier"},
                                      {"status", "kept"},
                                      {"run", kId},
                                      {"reason", "same options"},
                                      {"folder", (first / "gat").string()}},
                                     step_state("evaluate", "evaluate")});
  write_evaluation(second / "evaluate", "gat");
  const std::string page = page_of({second});
  CHECK_THAT(page, Contains("best: 5") && Contains("of 01JD…K7") && Contains("4.0 s"));
  CHECK_THAT(page, Contains("2 of 2 steps done, 1 of them kept"));
}

TEST_CASE("several runs stand side by side with what they differ in", "[report]") {
  const ScratchFolder root;
  const fs::path a = good_run(root.path()), b = good_run(root.path(), kOther, 0.002);
  write_training(b / "gat", 5, 0.002);
  json metrics = json::parse(read_text(b / "evaluate" / "metrics.json"));
  metrics["gat"]["core"]["f1"] = 0.912;
  write_text(b / "evaluate" / "metrics.json", metrics.dump());
  const std::string page = page_of({a, b});
  CHECK_THAT(page, Contains("2 runs compared") && Contains("id=\"A-steps\"") &&
                       Contains("id=\"B-options\"") && !Contains("id=\"B-memory\""));
  CHECK_THAT(page, Contains("lr</td><td class=\"n\">0.01</td><td class=\"n\">0.002</td>"));
  CHECK_THAT(page, Contains(">0.838</td><td class=\"n\"><b>0.912</b></td>"));
  CHECK_THAT(page, Contains("gat: val loss") && Contains("ROC, test_01"));
  CHECK_THAT(page, Contains("\"sections of 01JD…K7\"") && Contains("\"sections of 01JD…M2\""));
}

/// pictures.json as a stage leaves it of one part with `logs` logs of `columns` columns each.
json pictures(int logs, int columns) {
  json method = {
      {"name", "detector"},
      {"model", true},
      {"value", 0.981},
      {"low", 0.9},
      {"high", 0.99},
      {"attacks", 100},
      {"benign", 900},
      {"hours", 0.5},
      {"tp", {0, 90, 95, 100}},
      {"fp", {0, 0, 3, 900}},
      {"at", {{"tp", 95}, {"fp", 3}}},
      {"histogram",
       {{"from", -4}, {"to", 4}, {"benign", {800, 97, 2, 1}}, {"attack", {0, 5, 20, 75}}}}};
  json baseline = method;
  baseline.erase("histogram");
  baseline["name"] = "rule <own>";
  baseline["model"] = false;
  json list = json::array();
  for (int log = 0; log < logs; ++log) {
    json x, low, high;
    for (int i = 0; i < columns; ++i) {
      x.push_back(i);
      low.push_back(-3 + (i * 7 % 5) * 0.123);
      high.push_back(-2 + (i * 11 % 7) * 0.345);
    }
    list.push_back({{"name", "dos-" + std::to_string(log)},
                    {"windows", 25'000},
                    {"axis", "seconds"},
                    {"attacks", {{10, 20}, {30, 35}}},
                    {"models",
                     {{{"name", "detector"},
                       {"x", x},
                       {"low", low},
                       {"high", high},
                       {"alarms", {{11, 19}}}}}}});
  }
  return {{"shortfalls", {"test_01: other methods have a higher F1 than detector: <rule> 1.0"}},
          {"measure", "F1"},
          {"parts",
           {{"test_01", {{"methods", {method, baseline}}, {"logs", list}, {"more_logs", 2}}}}}};
}

TEST_CASE("models and baselines are drawn on the same windows, and scores over time", "[report]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kId, {step_state("detector", "detector")});
  write_text(run / "detector" / "pictures.json", pictures(2, 50).dump());
  const std::string page = page_of({run});
  CHECK_THAT(page, Contains("<h2>Models and baselines</h2>") && Contains("class=\"notice\"") &&
                       Contains("higher F1 than detector: &lt;rule&gt; 1.0"));
  CHECK_THAT(page, Contains("F1, test_01") && Contains("Scores by class, detector, test_01") &&
                       Contains("ROC, test_01") && Contains("Recall by false alarms an hour"));
  // Bars, one histogram, ROC, recall, and two logs of which one is folded.
  CHECK(count(page, "<svg class=\"chart\"") == 4 + 2);
  CHECK_THAT(page,
             Contains("Scores over time of 1 more log<") && Contains("2 more logs are not drawn"));
  CHECK(count(page, "class=\"tint f1\"") == 2 * (2 + 1));  // with the legends
  CHECK(count(page, "class=\"strip f3\"") == 2 * (1 + 1));
  CHECK_THAT(page, Contains("detector at its threshold: 0.950 of the attack windows, 3 false of "
                            "900 benign ones") &&
                       Contains("One false window would be 2 an hour"));
  CHECK(count(page, "rule &lt;own&gt;") >= 3);
}

TEST_CASE("a part of one class, and pictures of other types, are drawn as far as they go",
          "[report]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kId, {step_state("detector", "detector")});
  json one = pictures(1, 3);
  json& part = one["parts"]["test_01"];
  for (json& method : part["methods"]) {
    method["attacks"] = 0;
    method["tp"] = {0, 0};
    method["fp"] = {0, 900};
    method["low"] = method["high"] = nullptr;
  }
  part["methods"][0]["histogram"]["attack"] = {0, 0, 0, 0};
  part["logs"][0]["attacks"] = json::array();
  part["logs"][0]["models"][0]["low"][1] = nullptr;
  write_text(run / "detector" / "pictures.json", one.dump());
  const std::string page = page_of({run});
  CHECK_THAT(page, Contains("Scores by class") && !Contains("ROC, test_01"));
  CHECK(count(page, "nan") == 0);
  for (const char* other :
       {"[]", "7", R"({"parts":[1]})", R"({"parts":{"a":1,"b":{"methods":7,"logs":{"x":1}}}})",
        R"({"parts":{"a":{"methods":[1,{"tp":"x","fp":[1]}],"logs":[{"models":[{"x":[1]}]}]}}})"}) {
    INFO(other);
    write_text(run / "detector" / "pictures.json", other);
    page_of({run});
  }
}

TEST_CASE("a report of a million windows is a few hundred kilobytes", "[report]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kId, {step_state("detector", "detector")});
  write_text(run / "detector" / "pictures.json", pictures(40, 150).dump());
  CHECK(page_of({run}).size() < 350'000);
}

TEST_CASE("classes that were confused stand in a table with their names", "[report]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kId, {step_state("probe", "finetune")});
  write_text(
      run / "probe" / "metrics.json",
      json{{"parts", {{"test", {{"f1", 0.875}, {"confusion", {{13, 3}, {1, 15}}}}}}}}.dump());
  json graphs;
  graphs["facts"]["spatial"]["classes"] = {"basket", "pyramidal"};
  json config;
  config["inputs"]["graphs"] = json::array({graphs});
  write_text(run / "probe" / "config.json", config.dump());
  const std::string page = page_of({run});
  CHECK_THAT(
      page, Contains("basket") && Contains("pyramidal") && Contains("rgba(11,102,176,0.41)\">13<"));
}
