#include <catch2/catch.hpp>
#include <fstream>

#include "support/programs/command.h"
#include "support/runs/fake_run.h"
#include "support/runs/report_page.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("a report shows what ran, why, and what came of it", "[report]") {
  const ScratchFolder root;
  const std::string page = page_of({good_run(root.path())});
  CHECK_THAT(page, Contains("kdgat run --preset smoke") && Contains(kFirstRun) &&
                       Contains("option changed: lr 0.1 -&gt; 0.01 (p.yaml:7)") &&
                       Contains("2026-03-01 18:04 UTC") && Contains("bench, cpu, 2 threads") &&
                       Contains("27.0 s") && Contains("100 MiB"));
  // Figures of the step, curves of training with the best epoch, both curves of detection, memory.
  CHECK(times_in(page, "<svg class=\"chart\"") == 1 + 2 + 2 * 2 + 1);
  CHECK_THAT(page, Contains("best: 5") && Contains("Learning rate 0.01 throughout.") &&
                       Contains("Memory over time") && Contains("planned peak"));
  // Decisions: 90 of 100 attacks, 10 false alarms of 900.
  CHECK_THAT(page, Contains("90 (90.0 %)") && Contains("10 (1.1 %)") && Contains(">0.838<") &&
                       Contains("recall 0.900, precision 0.900, false alarms 0.0111"));
  // Options that someone set, and nothing of the defaults but in the full list.
  CHECK_THAT(page, Contains("p.yaml:7</td>") && Contains("batch_size=64"));
  CHECK(times_in(page, "class=\"state failed\"") == 0);
  // Read aloud it is one main part, where each table says what it is and no heading is empty.
  CHECK(times_in(page, "<main>") == 1);
  CHECK(times_in(page, "<table>") > 4);
  CHECK(times_in(page, "<table>") == times_in(page, "<table><caption>"));
  CHECK(times_in(page, "\"></th>") == 0);
}

TEST_CASE("every text of a run is harmless in a report", "[report]") {
  const ScratchFolder root;
  const std::string evil = "<script>alert('1')</script>\"&\x1b[31m \xff";
  const std::string step = "<script>alert(1)<";
  const fs::path run =
      write_run(root.path(), "set", kFirstRun,
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
      write_run(root.path(), "set", kFirstRun,
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
  CHECK(times_in(page, "3 graphs have no label") == 1);
}

TEST_CASE("a run without any result is shown as far as it came", "[report]") {
  const ScratchFolder root;
  const fs::path run = write_run(
      root.path(), "set", kFirstRun,
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
             R"({"id":null,"steps":[1,{"step":null,"seconds":"x"}],"data":5,"threads":"2"})");
  CHECK_THAT(data_error([&] { read_report(run, PluginCatalog()); }),
             Contains("run.json: \"threads\" is not a number"));
  write_text(run / "run.json", "{");
  CHECK_THAT(data_error([&] { read_report(run, PluginCatalog()); }),
             Contains("run.json:1: not valid JSON"));
}

TEST_CASE("variants of a model stand below it", "[report]") {
  const ScratchFolder root;
  const fs::path run =
      write_run(root.path(), "set", kFirstRun,
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
  const fs::path second = write_run(root.path(), "set", kSecondRun,
                                    {{{"step", "gat"},
                                      {"stage", "classifier"},
                                      {"status", "kept"},
                                      {"run", kFirstRun},
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
  const fs::path a = good_run(root.path()), b = good_run(root.path(), kSecondRun, 0.002);
  write_training(b / "gat", 5, 0.002);
  json metrics = json::parse(read_text(b / "evaluate" / "metrics.json"));
  metrics["gat"]["core"]["f1"] = 0.912;
  write_judged(b / "evaluate", metrics);
  const std::string page = page_of({a, b});
  CHECK_THAT(page, Contains("2 runs compared") && Contains("id=\"A-steps\"") &&
                       Contains("id=\"B-options\"") && !Contains("id=\"B-memory\""));
  CHECK_THAT(page, Contains("lr</td><td class=\"n\">0.01</td><td class=\"n\">0.002</td>"));
  CHECK_THAT(page, Contains(">0.838</td><td class=\"n\"><b>0.912</b></td>"));
  CHECK_THAT(page, Contains("gat: val loss") && Contains("ROC, test_01"));
  CHECK_THAT(page, Contains("\"sections of 01JD…K7\"") && Contains("\"sections of 01JD…M2\""));
}

TEST_CASE("models and baselines are drawn on the same windows, and scores over time", "[report]") {
  const ScratchFolder root;
  const fs::path run =
      write_run(root.path(), "set", kFirstRun, {step_state("detector", "detector")});
  write_text(run / "detector" / "pictures.json", pictures_of_logs(2, 50).dump());
  const std::string page = page_of({run});
  CHECK_THAT(page, Contains("<h2>Models and baselines</h2>") && Contains("class=\"notice\"") &&
                       Contains("higher F1 than detector: &lt;rule&gt; 1.0"));
  CHECK_THAT(page, Contains("F1, test_01") && Contains("Scores by class, detector, test_01") &&
                       Contains("ROC, test_01") && Contains("Recall by false windows an hour"));
  // Differences, bars, one histogram, ROC, recall, and two logs of which one is folded.
  CHECK(times_in(page, "<svg class=\"chart\"") == 1 + 4 + 2);
  CHECK_THAT(page,
             Contains("Scores over time of 1 more log<") && Contains("2 more logs are not drawn"));
  CHECK(times_in(page, "class=\"tint f1\"") == 2 * (2 + 1));  // with the legends
  CHECK(times_in(page, "class=\"strip f3\"") == 2 * (1 + 1));
  CHECK_THAT(page, Contains("detector at its threshold: 0.950 of the attack windows, 3 false of "
                            "900 benign ones") &&
                       Contains("One false window would be 2 an hour"));
  CHECK(times_in(page, "rule &lt;own&gt;") >= 3);
}

TEST_CASE("a part of one class, and pictures of other types, are drawn as far as they go",
          "[report]") {
  const ScratchFolder root;
  const fs::path run =
      write_run(root.path(), "set", kFirstRun, {step_state("detector", "detector")});
  json one = pictures_of_logs(1, 3);
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
  CHECK(times_in(page, "nan") == 0);
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
  const fs::path run =
      write_run(root.path(), "set", kFirstRun, {step_state("detector", "detector")});
  write_text(run / "detector" / "pictures.json", pictures_of_logs(40, 150).dump());
  CHECK(page_of({run}).size() < 350'000);
}

TEST_CASE("classes that were confused stand in a table with their names", "[report]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kFirstRun, {step_state("probe", "finetune")});
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
