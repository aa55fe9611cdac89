// What a report says of the figures by which runs are compared.
#include "pipeline/report/report_figures.h"

#include <catch2/catch.hpp>

#include "support/programs/command.h"
#include "support/runs/report_page.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json read_file(const fs::path& file) { return json::parse(read_text(file)); }

/// A student, its teacher, the same student without one, and the student on rewired graphs.
fs::path distilled_run(const fs::path& root) {
  const fs::path run =
      write_run(root, "set", kFirstRun,
                {step_state("big", "classifier"), step_state("small", "classifier"),
                 step_state("plain", "classifier"), step_state("evaluate", "evaluate")});
  for (const char* step : {"big", "small", "plain"}) {
    write_training(run / step, 4);
    json config = read_file(run / step / "config.json");
    config["options"]["use_kd"] = step == std::string("small");
    config["options"]["hidden"] = step == std::string("big") ? 48 : 24;
    if (config["options"]["use_kd"]) {
      config["inputs"]["teacher"] = {{{"name", "big"}, {"path", (run / "big").string()}}};
    }
    write_text(run / step / "config.json", config.dump());
  }
  write_evaluation(run / "evaluate", {"big", "small", "small rewired", "plain"});
  json metrics = read_file(run / "evaluate/metrics.json");
  metrics["test"]["big"]["test_01"]["core"]["f1"] = 0.75;
  metrics["test"]["small"]["test_01"]["core"]["f1"] = 0.7;
  metrics["test"]["small rewired"]["test_01"]["core"]["f1"] = 0.5;
  metrics["test"]["plain"]["test_01"]["core"]["f1"] = 0.625;
  write_judged(run / "evaluate", metrics);
  return run;
}

}  // namespace

TEST_CASE("a report draws the figures of each step, validation beside test", "[report]") {
  const ScratchFolder root;
  const std::string page = page_of({good_run(root.path())});
  CHECK_THAT(page, Contains("id=\"figures\"") && Contains("aria-label=\"gat\"") &&
                       Contains("F1 of gat, validation: 0.838") &&
                       Contains("F1 of gat, test_01: 0.726") && Contains(">validation</text>"));
  // The same as a table, with what is no share of one.
  CHECK_THAT(page, Contains("<td>F1</td><td class=\"n\">0.838</td><td class=\"n\">0.726</td>") &&
                       Contains("<td>loss</td><td class=\"n\">0.0425</td>"));
  CHECK_THAT(page, !Contains("id=\"deltas\""));
}

TEST_CASE("a run without figures has no chart of them", "[report]") {
  const ScratchFolder root;
  const fs::path run = write_run(root.path(), "set", kFirstRun, {step_state("gat", "classifier")});
  write_training(run / "gat", 4);
  fs::remove(run / "gat/metrics.json");
  CHECK_THAT(page_of({run}), !Contains("id=\"figures\"") && !Contains("id=\"deltas\""));
  // One of counts alone has a table.
  write_text(run / "gat/metrics.json", json{{"epochs", 4}, {"best_epoch", 3}}.dump());
  const std::string page = page_of({run});
  CHECK_THAT(page, Contains("id=\"figures\"") && !Contains("aria-label=\"gat\""));
}

TEST_CASE("a report says what a step gains over its teacher, ablations and baselines", "[report]") {
  const ScratchFolder root;
  const fs::path run = distilled_run(root.path());
  json pictures = pictures_of_logs(1, 3);
  pictures["parts"]["test_01"]["methods"][0]["name"] = "small";
  pictures["parts"]["test_01"]["methods"][1]["value"] = 0.5;
  write_text(run / "evaluate/pictures.json", pictures.dump());
  const std::string page = page_of({run});
  CHECK_THAT(page, Contains("small: difference in F1") && Contains("small: difference in AUC") &&
                       !Contains("big: difference") && !Contains("plain: difference"));
  CHECK_THAT(page, Contains("F1 against teacher big, test_01: 0.700 less 0.750") &&
                       Contains("F1 against no teacher: plain, test_01: 0.700 less 0.625") &&
                       Contains("F1 against small rewired, test_01: 0.700 less 0.500") &&
                       Contains("F1 against rule &lt;own&gt;, test_01: 0.981 less 0.500"));
  CHECK_THAT(page, Contains(">-0.050</text>") && Contains(">+0.075</text>") &&
                       Contains(">+0.481</span> (0.981 less 0.500)</td>"));
  // One that differs in more than having no teacher is no ablation of it.
  json config = read_file(run / "plain/config.json");
  config["options"]["hidden"] = 8;
  write_text(run / "plain/config.json", config.dump());
  CHECK_THAT(page_of({run}), !Contains("no teacher: plain"));
}

TEST_CASE("a teacher of another run is found where it was", "[report]") {
  const ScratchFolder root;
  const fs::path other =
      write_run(root.path(), "set", kFirstRun, {step_state("big", "classifier")});
  write_training(other / "big", 4);
  const fs::path run = good_run(root.path(), kSecondRun);
  json config = read_file(run / "gat/config.json");
  config["inputs"]["teacher"] = {{{"name", "big"}, {"path", (other / "big").string()}}};
  write_text(run / "gat/config.json", config.dump());
  CHECK_THAT(page_of({run}),
             Contains("AUC against teacher of 01JD…K7, validation: 0.991 less 0.955"));
  fs::remove_all(other);
  CHECK_THAT(page_of({run}), !Contains("against teacher"));
}

TEST_CASE("what was counted is written as an integer in a report", "[report]") {
  const ScratchFolder root;
  const fs::path run = good_run(root.path());
  write_training(run / "gat", 2);  // whose best epoch is the first
  write_text(run / "gat/step.json",
             json{{"result",
                   {{"table",
                     {{"columns", {"kind", "windows", "F1"}},
                      {"rows", {{"dos", 3.0, 1.0}, {"fuzzing", 12345.0, 0.0}}}}}}}}
                 .dump());
  fs::remove(run / "evaluate/step.json");
  const std::string page = page_of({run});
  CHECK_THAT(page, Contains("<td>best epoch</td><td class=\"n\"></td><td class=\"n\"></td>"
                            "<td class=\"n\">1</td>"));
  CHECK_THAT(page, Contains(">3</td><td class=\"n\">1.000</td>") &&
                       Contains(">12,345</td><td class=\"n\">0.000</td>"));
  CHECK_THAT(page_of({run, good_run(root.path(), kSecondRun)}),
             Contains("<td>best epoch</td><td class=\"n\">1</td><td class=\"n\">5</td>"));
}

TEST_CASE("columns over seeds are headed by what the runs are called", "[report][seeds]") {
  const ScratchFolder root;
  std::vector<ReportRun> runs;
  for (int i = 0; i < 4; ++i) {
    const std::string id = "01JDAAAAAAAAAAAAAAAAAAAAK" + std::to_string(i);
    const fs::path folder = good_run(root.path(), id, i < 2 ? 0.01 : 0.002);
    json config = read_file(folder / "gat/config.json");
    config["seed"] = i % 2;
    write_text(folder / "gat/config.json", config.dump());
    json metrics = read_file(folder / "evaluate/metrics.json");
    metrics["gat"]["core"]["f1"] = 0.5 + 0.125 * i;
    write_judged(folder / "evaluate", metrics);
    runs.push_back(read_report(folder, PluginCatalog()));
    runs.back().seed = i % 2;
    runs.back().name = i < 2 ? "the_usual_rate" : "a slow <one>";
  }
  const std::string page = page_of(runs);
  CHECK_THAT(page, Contains("<div class=\"name\">the_<wbr/>usual_<wbr/>rate, n=2</div>") &&
                       Contains("<div class=\"name\">a slow &lt;one&gt;, n=2</div>") &&
                       Contains("a slow &lt;one&gt; less the_<wbr/>usual_<wbr/>rate</div>") &&
                       Contains("the_usual_rate: A B; a slow &lt;one&gt;: C D."));
  for (ReportRun& run : runs) run.name = "same";
  CHECK_THAT(page_of(runs), Contains(">same (A B), n=2<") && Contains(">same (C D), n=2<"));
}
